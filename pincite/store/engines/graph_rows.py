"""Writing the graph of an edition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from pincite.core.engines import BuildTarget
from pincite.core.graph import Extracted
from pincite.store.database import Connection


@dataclass(frozen=True, slots=True)
class GraphVector:
    """The vector of an entity or, without a name, of a fact, and the passage it leads to."""

    chunk: int
    name: int | None
    vector: Sequence[float]


@dataclass(frozen=True, slots=True)
class GraphRows:
    """The entities and facts of an edition, and their vectors by a model."""

    extracted: Extracted
    model: int = 0
    vectors: Sequence[GraphVector] = ()

    async def write(self, connection: Connection, target: BuildTarget, realm: int) -> None:
        """Insert the rows of the edition."""
        own = (target.edition, realm)
        found = self.extracted
        rows: dict[LiteralString, list[tuple[object, ...]]] = {
            _MENTION: [
                (*own, one.chunk, one.name, one.kind, one.surface, [offset for span in one.spans for offset in span])
                for one in found.mentions
            ],
            _FACT: [
                (
                    *own,
                    one.chunk,
                    one.subject,
                    one.subject_name,
                    one.relation,
                    one.object,
                    one.object_name,
                    one.start,
                    one.end,
                )
                for one in found.facts
            ],
            _EDGE: [(*own, one.one, one.other, one.count) for one in found.edges],
            _SAME: [(*own, one, other) for one, other in found.same],
            _VECTOR: [(*own, one.chunk, one.name, self.model, list(map(float, one.vector))) for one in self.vectors],
        }
        async with connection.cursor() as cursor:
            for statement, values in rows.items():
                if values:
                    await cursor.executemany(statement, values)


_MENTION = (
    "insert into graph_mention (edition, realm, chunk, name, kind, surface, spans) values (%s, %s, %s, %s, %s, %s, %s)"
)
_FACT = (
    "insert into graph_fact (edition, realm, chunk, subject, subject_name, relation, object, object_name, start_char,"
    " end_char) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_EDGE = "insert into graph_edge (edition, realm, one, other, count) values (%s, %s, %s, %s, %s)"
_SAME = "insert into graph_same (edition, realm, one, other) values (%s, %s, %s, %s)"
_VECTOR = (
    "insert into graph_vector (edition, realm, chunk, name, model, embedding)"
    " values (%s, %s, %s, %s, %s, %s::real[]::halfvec)"
)
