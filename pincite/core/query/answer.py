"""The words of the query pipeline, in the order they come to exist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pincite.config.settings import Rag
from pincite.core.query.pictures import Picture
from pincite.core.query.tools import Step, Tool, ToolCall

Via = Literal["dense", "lexical"]
Cause = Literal["dense", "lexical", "named", "near", "section", "document", "part", "query", "look"]
"""What can add to a score: an engine; a title that was named; the question's words, near to each other; the section and
the document it stands in; a further part of what it is; its place for one of several texts; its place in one of two looks."""
Strategy = Literal["hybrid", "dense_only", "lexical_only", "fusion", "two_stage", "hierarchical"]
EffortLevel = Literal["basic", "standard", "enhanced", "maximum"]
"""How much is done for an answer."""
ConfidenceLevel = Literal["high", "medium", "low"]
Intent = Literal["FACTUAL", "SUMMARY", "COMPARISON", "LIST", "ANALYTICAL"]
QuestionType = Literal["factual", "comparative", "procedural", "relational", "aggregative", "temporal"]
EntityKind = Literal["name", "quoted", "code", "date", "number"]
MatchedBy = Literal["number", "title", "contains", "similar", "code"]
Mode = Literal["chat", "general", "agent", "vision"]
"""From the documents; without them; looked up step by step; with pictures."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What part of the library a question is about, and as it was when; applied inside the search.

    A document must have all of the `tags`. `index` is the signature of one that stands beside the one searched.
    """

    folder: str | None = None
    document_ids: tuple[str, ...] | None = None
    as_of: datetime | None = None
    tags: tuple[str, ...] = ()
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model should write, where the caller has a wish."""

    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    system_prompt: str | None = None
    top_k: int | None = None
    thinking: int | None = None
    """Tokens to think with before the answer, where the model can; None asks for no thinking."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange of a conversation: what was asked, what that means on its own, and the answer's words.

    An answer that was cut, or whose documents were removed since, is empty: only the question is remembered.
    """

    question: str
    standalone: str
    answer: str


@dataclass(frozen=True, slots=True)
class Question:
    """What the caller asked: one text, or up to five to be searched together and fused by rank.

    `conversation` is what was said before, oldest first, where the caller keeps it; `session_id` names one kept here.
    `standalone` is what the text means without that conversation, where it cannot be understood alone; `corrected`
    is what is searched instead where words were misspelt; where either is `guessed`, the text is searched for as well.
    `levels` are those wanted: 0 documents, 1 sections, 2 passages. `retrieve` says whether to look into the documents,
    where the caller wishes to decide that. `changes` are settings by dotted key that this request has its own value for.
    `fresh` asks for an answer that is made now, whatever was answered before. `intelligence_level` is how much shall be
    done for the answer, where that is not as the settings say. `pictures` go with the mode `vision`.
    """

    text: str
    also: tuple[str, ...] = ()
    many: bool = False
    filters: Filters = Filters()
    top_k: int | None = None
    min_score: float | None = None
    strategy: Strategy | None = None
    alpha: float | None = None
    sampling: Sampling = Sampling()
    conversation: tuple[Exchange, ...] = ()
    session_id: str | None = None
    profile: str | None = None
    standalone: str | None = None
    guessed: bool = False
    corrected: str | None = None
    levels: tuple[int, ...] | None = None
    retrieve: bool | None = None
    changes: tuple[tuple[str, bool | int | float | str], ...] = ()
    fresh: bool = False
    intelligence_level: EffortLevel | None = None
    mode: Mode = "chat"
    pictures: tuple[Picture, ...] = ()

    @property
    def meant(self) -> str:
        """What is searched: the text, made whole and corrected where it had to be."""
        return self.corrected or self.standalone or self.text


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a question names outright."""

    text: str
    kind: EntityKind


@dataclass(frozen=True, slots=True)
class Hints:
    """What would serve a question of its kind: so many times the usual passages, diverse ones, reasoning, the graph."""

    breadth: float = 1.0
    mmr: bool = False
    chain_of_thought: bool = False
    graph: bool = False
    template: str = "factual"


@dataclass(frozen=True, slots=True)
class QuestionAnalysis:
    """What a question says about itself: the answer it wants, its type, each with a confidence, and whom it names.

    `levels` are those that would serve it best: 0 documents, 1 sections, 2 passages.
    """

    intent: Intent = "FACTUAL"
    intent_confidence: float = 0.0
    type: QuestionType = "factual"
    type_confidence: float = 0.0
    entities: tuple[Entity, ...] = ()
    is_multi_hop: bool = False
    levels: tuple[int, ...] = (2,)
    hints: Hints = Hints()


@dataclass(frozen=True, slots=True)
class Search:
    """One look-up to run: a text, the engine to run it with, and how much it counts."""

    text: str
    via: Via
    query: int = 0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What was decided to do about a question.

    `extra` are texts searched beside it: its parts, and what a model made of it. `levels` are those of the results; `reads`
    is the least a second stage looks at, `rerank_top` what a reranker sees where that is not as the settings say.
    `reasons` are in words, none of them the question's.
    """

    question: Question
    text: str
    strategy: Strategy
    searches: tuple[Search, ...]
    top_k: int
    candidates: int
    analysis: QuestionAnalysis = QuestionAnalysis()
    extra: tuple[str, ...] = ()
    levels: tuple[int, ...] = (2,)
    reads: int = 0
    rerank_top: int | None = None
    retrieves: bool = True
    reasons: tuple[str, ...] = ()

    @property
    def intent(self) -> Intent:
        """The kind of answer that is wanted."""
        return self.analysis.intent

    @property
    def queries(self) -> tuple[str, ...]:
        """What passages are judged by, the main text first."""
        return (self.text, *self.question.also)

    @property
    def searched(self) -> tuple[str, ...]:
        """The texts that are searched, by number; beside a guess also what was really asked."""
        asked = (self.question.text,) if self.question.guessed and self.text != self.question.text else ()
        return (*self.queries, *asked, *self.extra)

    @property
    def many(self) -> bool:
        """Whether the rankings of several texts are joined by rank."""
        return self.question.many or bool(self.question.also or self.extra)


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """A chunk of a served version as the store returns it; `place` is where it stands in its file, in words."""

    key: int
    id: str
    document_id: str
    document_name: str
    title: str
    version: str
    checksum: str
    folder: str
    category: str | None
    source_uri: str | None
    source_urls: tuple[str, ...]
    mime: str
    ordinal: int
    level: int
    text: str
    header: str
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    page: int | None
    heading_path: tuple[str, ...]
    content_type: str
    language: str
    vectorized_text: str | None
    page_starts: tuple[int, ...]
    created_at: datetime
    parent: int | None = None
    place: str | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """How a raw score becomes a share of the fused one: `weight` × (raw − `low`) / `span`."""

    weight: float
    low: float
    span: float

    def share(self, raw: float) -> float:
        """What a raw score adds."""
        return self.weight * (raw - self.low) / self.span


@dataclass(frozen=True, slots=True)
class ScoreContribution:
    """Something that gave a chunk its score: an engine that ranked it, or a title that was named.

    `raw` is the engine's score, or that of the passage that named the title; `rank` is the chunk's place there, or that
    passage's; it is None where the engine did not bring the chunk, or where the question named the title itself.
    For one of several texts, `raw` is the sum of what the engines say about it, and `rank` the place by that.
    `share` is what this adds to the fused score; by `scale`, or, where there is none, by rank and `weight`.
    """

    via: Cause
    query: int
    rank: int | None
    raw: float
    share: float
    scale: Scale | None = None
    weight: float = 1.0


def summands(placings: Sequence[ScoreContribution]) -> tuple[ScoreContribution, ...]:
    """The placings that add up to the score: where several texts were searched, the places for each, not what made these."""
    several = any(placing.via == "query" for placing in placings)
    return tuple(placing for placing in placings if not several or placing.via not in ("dense", "lexical"))


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What moved a score after fusion and reranking: from `before` to `score`.

    A penalty takes `amount` of the score's size from it. Spreading (`mmr`) makes it `scale`'s share of it less
    (1 − `scale.weight`) × `amount`, which is the likeness to a passage that stands above.
    """

    stage: Literal["penalty", "mmr"]
    amount: float
    before: float
    score: float
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found, with every score that led to it; `also_in` are chunks that say the same."""

    chunk: RetrievedChunk
    score: float
    similarity: float
    relevance: float
    hybrid_score: float
    placings: tuple[ScoreContribution, ...] = ()
    rerank_score: float | None = None
    adjustments: tuple[Adjustment, ...] = ()
    also_in: tuple[RetrievedChunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The hits an answer will stand on, best first, and how well they cover the question."""

    hits: tuple[Hit, ...]
    coverage: float
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; an assistant's may call tools, and a tool's answers the call of that id."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: ToolCall | None = None
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """Exactly what the model is shown; source N of the text is `sources[N - 1]`. `tools` are those it may call.

    `reordered` are the same messages with the passages in other orders, for further drafts.
    """

    question: str
    messages: tuple[Message, ...]
    sources: tuple[Hit, ...]
    tokens: int
    sampling: Sampling = Sampling()
    reordered: tuple[tuple[Message, ...], ...] = ()
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a model counted."""

    prompt_tokens: int
    completion_tokens: int

    def __add__(self, other: "Usage") -> "Usage":
        """What both cost."""
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage an answerer chose itself: source number, offsets in that chunk's text, and its mark in the draft."""

    source: int
    start: int
    end: int
    mark_start: int = 0
    mark_end: int = 0


@dataclass(frozen=True, slots=True)
class StreamPart:
    """A part of what a model writes: text, and at the end why it stopped, who it was and what it cost.

    `note` is what the reader should know about how it came to be written, such as that another model stepped in.
    `thought` is what it says to itself before it answers, which is no part of the answer.
    `calls` are the tools it wants to be called, whole.
    """

    text: str = ""
    quote: Quote | None = None
    finish_reason: str | None = None
    model: str | None = None
    usage: Usage | None = None
    note: str | None = None
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What the model wrote, before anyone checked it; `warnings` say what of it was held back.

    `agreement` is the share of its statements that other drafts of the same answer make as well, where there were any.
    """

    text: str
    model: str | None
    finish_reason: str | None
    usage: Usage | None = None
    quotes: tuple[Quote, ...] = ()
    suggested_questions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    agreement: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A passage the answer may cite, by its number."""

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
    score: float
    relevance: float
    similarity_score: float
    hybrid_score: float
    urls: tuple[str, ...]
    cited: bool
    place: str | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark in the answer and the exact passage behind it.

    `start` and `end` are offsets in the answer; `quote` is literally the text between its offsets in
    that version's normalised text, empty where nothing was matched. `place` is where that stands in the file, in words;
    `rects` are its lines on the page: left, top, right, bottom in points from the upper left corner. Where a model left a
    claim uncited and code found what supports it, `text` is empty and stands at the claim's end. `reason` says why a
    passage does not support what it is cited for.
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


@dataclass(frozen=True, slots=True)
class Confidence:
    """How far the answer can be relied on, and why, in words."""

    score: float
    level: ConfidenceLevel
    reason: str


@dataclass(frozen=True, slots=True)
class GroundedSentence:
    """A sentence of the answer and how well a source supports it."""

    start: int
    end: int
    support: float
    source: int | None


@dataclass(frozen=True, slots=True)
class Groundedness:
    """How much of the answer stands on its sources."""

    score: float
    sentences: tuple[GroundedSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """What one source says, word for word, and when that version of it was taken in; offsets are the document's."""

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
    """Statements about one subject that cannot all be true."""

    subject: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Whether the evidence covers the question."""

    is_sufficient: bool
    coverage_score: float
    missing_aspects: tuple[str, ...] = ()
    has_conflicts: bool = False
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Related:
    """A document that was found for the question, cited or not."""

    document_id: str
    title: str
    category: str | None


@dataclass(frozen=True, slots=True)
class Degraded:
    """A part that was missing, and why."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerMetadata:
    """How the answer came to be."""

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


@dataclass(frozen=True, slots=True)
class Answer:
    """What the caller gets."""

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


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search returns; `rag` are the settings it searched by, which explain its scores."""

    hits: tuple[Hit, ...]
    strategy: str
    degraded: tuple[Degraded, ...]
    trace_id: str
    rag: Rag = field(default_factory=Rag)
    plan: Plan | None = None
