"""The knowledge graph: entities, their mentions, and facts, each with the sentence that states it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

EntityType = Literal["person", "organization", "project", "place", "product", "event", "law", "other"]


def entity_id(kind: EntityType, name: int) -> str:
    """The public id of an entity; it is made of its type and name alone, whoever mentions it."""
    return f"{kind}-{name:016x}"


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity in a passage: its spans in the text of the version; none if the document is only called so."""

    chunk: int
    name: int
    kind: EntityType
    surface: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class GraphFact:
    """What a sentence states about two entities; `start` and `end` are the sentence in the text of the version.

    `object_name` is None where the object is a value and no entity.
    """

    chunk: int
    subject: str
    subject_name: int
    relation: str
    object: str
    object_name: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """Two entities that are mentioned in the same sentences, and the number of these sentences."""

    one: int
    other: int
    count: int


@dataclass(frozen=True, slots=True)
class Extracted:
    """The part of the graph that one document states; `same` are pairs of names for one entity."""

    mentions: tuple[Mention, ...]
    facts: tuple[GraphFact, ...]
    edges: tuple[GraphEdge, ...]
    same: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity as the caller sees it: its most frequent name, and how many readable passages mention it."""

    id: str
    name: str
    kind: EntityType
    mentions: int


@dataclass(frozen=True, slots=True)
class GraphPlace:
    """A mention with its place: document, passage, span and sentence."""

    document_id: str
    title: str
    chunk_id: str
    page: int | None
    line: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact with the passage and the sentence that state it."""

    subject: str
    subject_id: str
    relation: str
    object: str
    object_id: str | None
    place: GraphPlace


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity in the neighbourhood, the number of hops to it, and how often it is mentioned with the nearer one."""

    node: GraphNode
    hops: int
    count: int
    via: str


@dataclass(frozen=True, slots=True)
class EntityCard:
    """All that the caller may know of an entity."""

    node: GraphNode
    facts: tuple[StatedFact, ...]
    places: tuple[GraphPlace, ...]
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Passages and the entities that they mention, within two hops of the seeds.

    `links` are (chunk, entity, weight); `reach` is the number of readable passages that mention an entity, counted up
    to a limit; `same` are pairs of entities that are one.
    """

    links: Sequence[tuple[int, int, float]]
    reach: Mapping[int, int]
    same: Sequence[tuple[int, int]]
    seeds: Sequence[int]


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of a path: two entities, the relation if a fact states one, and the place that mentions both."""

    start: GraphNode
    end: GraphNode
    relation: str
    place: GraphPlace | None
