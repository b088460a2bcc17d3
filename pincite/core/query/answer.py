"""The answer: text, sources, citations, and measures of its reliability."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Usage
from pincite.core.query.question import EffortLevel
from pincite.core.query.tools import Step

ConfidenceLevel = Literal["high", "medium", "low"]
MatchedBy = Literal["number", "title", "contains", "similar", "code", "computed", "document_name"]
"""How a mark was matched to its source: by what the model wrote, by code that chose or found the passage, or by code that
computed a value from the rows of a table."""


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that the answer may cite by its number.

    `score` and `hybrid_score` are None where nothing computed them: for a passage that was not found by a search.
    """

    number: int
    document_id: str
    document_name: str
    title: str
    chunk_id: str
    version: str
    checksum: str
    page: int | None
    start_line: int
    end_line: int
    start_char: int
    end_char: int
    heading_path: tuple[str, ...]
    snippet: str
    score: float | None
    relevance: float
    similarity_score: float
    hybrid_score: float | None
    urls: tuple[str, ...]
    cited: bool
    place: str | None = None
    owner: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation mark in the answer and the exact passage it refers to.

    `start` and `end` are offsets in the answer. `quote` is the text between its offsets in the version's normalised
    text; empty if nothing was matched. `place` describes its position in the file in words; `rects` are its lines on
    the page as left, top, right, bottom, in points from the upper left corner. When the model left a claim uncited and
    code found its support, `text` is empty and `start` is the end of the claim. `reason` says why a passage does not
    support the claim it is cited for, or that no source has the cited section. `title` and `section` are those of the
    source; of an unmatched mark, those that it names. `section` is None if there is none, or if no source has it.
    `document_id` and `version` are those of the source.
    """

    text: str
    start: int
    end: int
    matched: bool
    matched_by: MatchedBy | None
    source: int | None
    quote: str
    quote_start_char: int | None
    quote_end_char: int | None
    quote_start_line: int | None
    quote_end_line: int | None
    page: int | None
    support: float
    rects: tuple[tuple[float, float, float, float], ...] = ()
    place: str | None = None
    reason: str | None = None
    title: str = ""
    section: str | None = None
    document_id: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class OpenedPassage:
    """A cited or found passage in its document: its own text, the lines around it, and its place in words.

    `text` is whole lines, `start_line` to `end_line`; `quote` is the passage itself.
    """

    document_id: str
    document_name: str
    title: str
    version: str
    quote: str
    text: str
    start_line: int
    end_line: int
    place: str


@dataclass(frozen=True, slots=True)
class Confidence:
    """The confidence in the answer, and the reason in words."""

    score: float
    level: ConfidenceLevel
    reason: str


@dataclass(frozen=True, slots=True)
class GroundedSentence:
    """A sentence of the answer, and its support by a source."""

    start: int
    end: int
    support: float
    source: int | None


@dataclass(frozen=True, slots=True)
class Groundedness:
    """The share of the answer that its sources support."""

    score: float
    sentences: tuple[GroundedSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A literal quote of one source and the date its version was uploaded; offsets refer to the document."""

    source: int
    document_id: str
    title: str
    version: str
    date: str
    quote: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Contradictory statements about one subject."""

    subject: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Whether the retrieved passages cover the question."""

    is_sufficient: bool
    coverage_score: float
    missing_aspects: tuple[str, ...] = ()
    has_conflicts: bool = False
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Related:
    """A document with retrieved passages, cited or not."""

    document_id: str
    title: str
    category: str | None


PROFILE_STAGE = "profile"
"""Name in `degraded` for what a profile is made for and this library does not have."""


@dataclass(frozen=True, slots=True)
class Degraded:
    """A stage that was skipped or replaced, and the reason."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerFact:
    """A fact of the knowledge graph in the context of an answer, and the source that states it."""

    subject: str
    relation: str
    object: str
    source: int
    document_id: str


@dataclass(frozen=True, slots=True)
class AnswerGraph:
    """What the knowledge graph added: whether it found passages or facts, and the facts in the context."""

    enriched: bool = False
    facts: tuple[AnswerFact, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerMetadata:
    """How the answer was made: model, token usage, durations, plan and steps.

    `replaced_model` is the model whose unsupported answer this one replaces.
    """

    chunks_retrieved: int
    model: str | None
    finish_reason: str | None
    trace_id: str
    usage: Usage | None = None
    cached: bool = False
    durations_ms: Mapping[str, float] = field(default_factory=dict)
    rewritten_query: str | None = None
    corrected_query: str | None = None
    plan: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    replaced_model: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, as the caller gets it."""

    id: str
    text: str
    strategy: str
    sources: tuple[Source, ...]
    citations: tuple[Citation, ...]
    related_documents: tuple[Related, ...]
    confidence: Confidence
    groundedness: Groundedness
    context_sufficiency: Sufficiency
    has_relevant_sources: bool
    metadata: AnswerMetadata
    warnings: tuple[str, ...] = ()
    degraded: tuple[Degraded, ...] = ()
    suggested_questions: tuple[str, ...] = ()
    session_id: str | None = None
    stream_id: str | None = None
    mode: str = "chat"
    intent: str | None = None
    question_type: str | None = None
    intelligence_level: EffortLevel = "standard"
    graph: AnswerGraph = AnswerGraph()


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """The settings that explain the scores of a search."""

    fusion: str
    alpha: float
    rrf_k: int
    multi_query_rrf_k: int
    reranker: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search."""

    hits: tuple[Hit, ...]
    strategy: str
    degraded: tuple[Degraded, ...]
    trace_id: str
    fusion: FusionSettings
    plan: Plan | None = None
