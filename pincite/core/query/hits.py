"""What a search found: chunks with the contributions their scores are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Cause = Literal["dense", "lexical", "named", "near", "section", "document", "part", "query", "look"]
"""What can add to a score: an engine; a title that was named; the question's words, near to each other; the section and
the document it stands in; a further part of what it is; its place for one of several texts; its place in one of two looks."""


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
