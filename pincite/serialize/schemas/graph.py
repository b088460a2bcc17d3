"""The JSON of the knowledge graph and of other designs' paths, as types."""

from typing import Any

from pincite.core.graph import GraphPlace
from pincite.serialize.schemas.answers import JsonModel
from pincite.serialize.schemas.responses import UploadedJson


class EntityJson(JsonModel):
    """An entity of the knowledge graph."""

    id: str
    name: str
    type: str
    mentions: int


class EntitiesJson(JsonModel):
    """Entities, most mentioned first; `build` is the setting `graph.build`."""

    items: list[EntityJson]
    build: str


class FactJson(JsonModel):
    """A fact and the sentence that states it."""

    subject: str
    subject_id: str
    relation: str
    object: str
    object_id: str | None
    place: GraphPlace


class NeighbourJson(JsonModel):
    """An entity within two hops, and the one it was reached through."""

    entity: EntityJson
    hops: int
    count: int
    via: str


class EntityCardJson(EntityJson):
    """An entity with its facts, mentions and neighbours."""

    facts: list[FactJson]
    places: list[GraphPlace]
    neighbours: list[NeighbourJson]


class PathJson(JsonModel):
    """The steps between two entities: `{from, to, relation, place}`."""

    steps: list[dict[str, Any]]


class FiveStageAnswerJson(JsonModel):
    """An answer in the five-stage format."""

    answer: str
    sources: list[dict[str, Any]]
    relatedDocs: list[dict[str, Any]]
    citations: list[dict[str, Any]]
    confidence: dict[str, Any]
    metadata: dict[str, Any]


class ChatAnswerJson(JsonModel):
    """An answer with the keys of both chat designs."""

    message: str
    content: str
    sources: list[dict[str, Any]]
    searchResults: dict[str, Any]
    hasRelevantSources: bool
    graphEnriched: bool
    graphContext: str | None
    confidence_score: float
    confidence_level: str
    suggested_questions: list[str]
    context_sufficiency: dict[str, Any]


class StoredUploadJson(UploadedJson):
    """An uploaded document with the keys of a vector store."""

    docId: str
    version: str | None
    status: str
