"""The results of a search: chunks, with the contributions to their scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pincite.core.documents.document import NO_HEADINGS
from pincite.core.engines import EngineName
from pincite.core.graph import GraphFact

Cause = (
    Literal["dense", "lexical", "language", "named", "near", "section", "document", "part", "query", "look"]
    | EngineName
)
"""What contributes to a score: the dense, the lexical or a further engine; what words
cannot add in another language (`language`); a named title; proximity of the question's words
(`near`); the chunk's section and document; a further passage of a section or document hit (`part`); its rank for one of
several queries; its rank in one of two search passes (`look`)."""


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """A chunk of a served version, as the store returns it; `place` describes its position in the file in words."""

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

    @property
    def section_path(self) -> tuple[str, ...]:
        """The headings above the chunk, without the title of its document."""
        return tuple(part for part in self.heading_path if part not in (self.title, NO_HEADINGS))


@dataclass(frozen=True, slots=True)
class Scale:
    """Converts a raw score into its share of the fused score: `weight` × (raw − `low`) / `span`."""

    weight: float
    low: float
    span: float

    def share(self, raw: float) -> float:
        """Return the share of a raw score."""
        return self.weight * (raw - self.low) / self.span


@dataclass(frozen=True, slots=True)
class ScoreContribution:
    """One contribution to a chunk's score, such as a search engine or a named title.

    `raw` and `rank` are the chunk's score and rank in the engine, or those of the passage that named the title. `rank`
    is None if the engine did not retrieve the chunk, or if the question itself named the title. For one of several
    queries, `raw` is the sum of the engines' shares for it, and `rank` the rank by that sum. `share` is the amount
    added to the fused score: computed with `scale` or, without one, from the rank and `weight`.
    """

    via: Cause
    query: int
    rank: int | None
    raw: float
    share: float
    scale: Scale | None = None
    weight: float = 1.0


def summands(contributions: Sequence[ScoreContribution]) -> tuple[ScoreContribution, ...]:
    """Return the contributions that add up to the score: with several queries, those per query, not per engine."""
    several = any(one.via == "query" for one in contributions)
    return tuple(one for one in contributions if not several or one.via not in ("dense", "lexical"))


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change of a score after fusion and reranking, from `before` to `score`.

    A penalty subtracts `amount` times the score's absolute value. Diversification (`mmr`) sets the score to the share
    by `scale` minus (1 − `scale.weight`) × `amount`; `amount` is the similarity to a higher-ranked passage.
    """

    stage: Literal["penalty", "mmr"]
    amount: float
    before: float
    score: float
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk with all its scores; `also_in` are its removed duplicates.

    `hybrid_score` is None for a passage that no search found. `ranked` is False for one that was added without a score
    of its own: then `score` only keeps it behind the others. `complete_table` means that the chunk's text begins with the header of a table and ends with its last row.
    """

    chunk: RetrievedChunk
    score: float
    similarity: float
    relevance: float
    hybrid_score: float | None
    placings: tuple[ScoreContribution, ...] = ()
    rerank_score: float | None = None
    adjustments: tuple[Adjustment, ...] = ()
    also_in: tuple[RetrievedChunk, ...] = ()
    complete_table: bool = False
    ranked: bool = True

    def with_relevance(self, relevance: float) -> "Hit":
        """Return the hit with its relevance; every result gets one, and `dataclasses.replace` takes twice as long."""
        return Hit(
            self.chunk,
            self.score,
            self.similarity,
            relevance,
            self.hybrid_score,
            self.placings,
            self.rerank_score,
            self.adjustments,
            self.also_in,
            self.complete_table,
            self.ranked,
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """The hits that an answer is based on, best first, their coverage of the question, and facts that they state.

    `missing` are the aspects of the question without evidence, `absent` those of them that no document has a word of.
    `elsewhere` are words of the question that some document has, looked up where the evidence lacks one.
    """

    hits: tuple[Hit, ...]
    coverage: float
    missing: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    elsewhere: frozenset[str] = frozenset()
    facts: tuple[GraphFact, ...] = ()
