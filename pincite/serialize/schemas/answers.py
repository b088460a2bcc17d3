"""The documented JSON of answers and searches as types.

Each mirrors a function of this package: `answer_json`, `search_json`, `plan_json`. A test compares their fields.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pincite.core.query.answer import (
    Citation,
    Confidence,
    Degraded,
    Groundedness,
    Related,
    Source,
    Sufficiency,
)
from pincite.core.query.plan import Entity
from pincite.core.query.prompt import Usage
from pincite.core.query.tools import Step


class JsonModel(BaseModel):
    """A JSON object of a response; it may get further fields in later versions."""

    model_config = ConfigDict(frozen=True, extra="allow")


class SearchEntry(JsonModel):
    """One search of a plan."""

    text: str
    engine: str


class PlanJson(JsonModel):
    """How a question is searched."""

    question: str
    corrected_query: str | None
    intent: str
    intent_confidence: float
    question_type: str
    question_type_confidence: float
    entities: list[Entity]
    is_multi_hop: bool
    hints: dict[str, Any]
    strategy: str
    retrieves: bool
    levels: list[int]
    searches: list[SearchEntry]
    top_k: int
    reasons: list[str]


class GraphJson(JsonModel):
    """What a knowledge graph added to the answer."""

    enriched: bool
    context: Any = None


class MetadataJson(JsonModel):
    """How the answer was made."""

    chunks_retrieved: int
    model: str | None
    finish_reason: str | None
    usage: Usage | None
    cached: bool
    trace_id: str
    durations_ms: Mapping[str, float]
    rewritten_query: str | None
    corrected_query: str | None
    plan: list[str]
    replaced_model: str | None = None
    steps: list[Step] = Field(default=[])


class AnswerJson(JsonModel):
    """An answer with its sources, citations and measures of its reliability."""

    id: str
    session_id: str | None
    stream_id: str | None
    answer: str
    mode: str
    strategy: str
    intent: str | None
    question_type: str | None
    intelligence_level: str
    sources: list[Source]
    citations: list[Citation]
    related_documents: list[Related]
    confidence: Confidence
    groundedness: Groundedness
    context_sufficiency: Sufficiency
    graph: GraphJson
    has_relevant_sources: bool
    suggested_questions: list[str]
    warnings: list[str]
    degraded: list[Degraded]
    metadata: MetadataJson


class PassageMetadata(JsonModel):
    """Where a found passage stands."""

    document_id: str
    document_name: str
    title: str
    version: str
    source_uri: str | None
    heading_path: list[str]
    start_line: int
    end_line: int
    start_char: int
    end_char: int
    page: int | None
    place: str | None
    folder: str
    level: int
    content_type: str
    language: str
    checksum: str
    mime: str
    created_at: str
    chunk_variant: str
    vectorized_text: str | None = None


class SearchHit(JsonModel):
    """A found passage and its scores."""

    id: str
    text: str
    score: float
    similarity_score: float
    hybrid_score: float | None
    relevance: float
    metadata: PassageMetadata


class SearchJson(JsonModel):
    """The result of a search, the best passage first."""

    results: list[SearchHit]
    strategy: str
    corrected_query: str | None
    plan: PlanJson | None
    degraded: list[Degraded]
    trace_id: str
