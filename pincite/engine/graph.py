"""The knowledge graph for people: find entities, read one with its facts and places, and find what joins two."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from pincite.core.accounts.access import LOCAL, Caller, Scope
from pincite.core.graph import EntityCard, GraphNode, Neighbour, PathStep, StatedFact
from pincite.engine.wiring import Services
from pincite.errors import NotFound
from pincite.store.engines.graph_reader import MAX_NEIGHBOURS, GraphReader
from pincite.text.wording.entity_names import name_hash

MAX_PATH_HOPS = 4
MAX_FRONTIER = 400
"""Names that a search for a path follows from each hop."""


class KnowledgeGraph:
    """The graph of the documents that a caller may read."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def _reader(self) -> GraphReader:
        return GraphReader(self._services.database)

    async def find(self, text: str, *, limit: int = 20, caller: Caller = LOCAL) -> list[GraphNode]:
        """Return the entities whose name has a text in it, most mentioned first.

        Without a text: those of the newest documents.
        """
        scope, reader = await self._services.scope(caller), self._reader
        if text.strip():
            return await reader.find(scope, name_hash(text), text.strip(), limit)
        found = await reader.nodes(scope, await reader.newest_names(scope, limit))
        return sorted(found, key=lambda one: (-one.mentions, one.name, one.id))[:limit]

    async def entity(self, entity: str, *, caller: Caller = LOCAL) -> EntityCard:
        """Return an entity by its id, or by its name, with its facts, places and neighbours."""
        scope, reader = await self._services.scope(caller), self._reader
        node, names = await reader.node(scope, await self._id(scope, entity))
        facts = await reader.facts(scope, names)
        near = await reader.edges(scope, names, MAX_NEIGHBOURS)
        first = {other: count for _, other, count in reversed(near) if other not in names}
        far = await reader.edges(scope, list(first), 2 * MAX_NEIGHBOURS) if first else []
        second = {
            other: (one, count) for one, other, count in reversed(far) if other not in first and other not in names
        }
        known = {_name(one): one for one in await reader.nodes(scope, [*first, *second])}
        stated = {name: known[name].id for name in known} | dict.fromkeys(names, node.id)
        return EntityCard(
            node,
            tuple(_with_ids(fact, stated, one, other) for fact, one, other in facts),
            tuple(await reader.places(scope, names)),
            (
                *(Neighbour(known[name], 1, count, node.id) for name, count in first.items() if name in known),
                *(
                    Neighbour(known[name], 2, count, known[via].id)
                    for name, (via, count) in second.items()
                    if name in known and via in known
                ),
            ),
        )

    async def path(self, start: str, end: str, *, caller: Caller = LOCAL) -> list[PathStep]:
        """Return the shortest path between two entities, each step with what states it; `NotFound` without one."""
        scope, reader = await self._services.scope(caller), self._reader
        first, sources = await reader.node(scope, await self._id(scope, start))
        last, targets = await reader.node(scope, await self._id(scope, end))
        came: dict[int, int | None] = dict.fromkeys(sources)
        frontier = list(sources)
        for _ in range(MAX_PATH_HOPS):
            if not frontier or came.keys() & set(targets):
                break
            found = await reader.edges(scope, frontier, MAX_FRONTIER)
            frontier = [other for one, other, _ in found if other not in came and came.setdefault(other, one) == one]
        reached = next((name for name in targets if name in came), None)
        if reached is None:
            raise NotFound(f"no path of at most {MAX_PATH_HOPS} steps joins '{first.name}' and '{last.name}'")
        return await self._steps(scope, _walked(came, reached))

    async def _steps(self, scope: Scope, names: Sequence[int]) -> list[PathStep]:
        reader = self._reader
        known = {_name(one): one for one in await reader.nodes(scope, names)}
        steps = list[PathStep]()
        for one, other in pairwise(names):
            stated = [fact for fact, s, o in await reader.facts(scope, [one]) if {s, o} == {one, other}]
            place = stated[0].place if stated else await reader.together(scope, one, other)
            relation = stated[0].relation if stated else ""
            if one in known and other in known:
                steps.append(PathStep(known[one], known[other], relation, place))
        return steps

    async def _id(self, scope: Scope, entity: str) -> str:
        """The id of an entity that is given by id or by name."""
        if "-" in entity and len(entity.rpartition("-")[2]) == 16:
            return entity
        found = await self._reader.nodes(scope, [name_hash(entity)]) or await self._reader.find(
            scope, name_hash(entity), entity.strip(), 1
        )
        if not found:
            raise NotFound(f"there is no entity '{entity[:80]}'")
        return max(found, key=lambda one: one.mentions).id


def _name(node: GraphNode) -> int:
    return int(node.id.rpartition("-")[2], 16)


def _with_ids(fact: StatedFact, ids: dict[int, str], one: int, other: int | None) -> StatedFact:
    return replace(fact, subject_id=ids.get(one, ""), object_id=None if other is None else ids.get(other))


def _walked(came: dict[int, int | None], name: int) -> list[int]:
    walked = [name]
    while (before := came[walked[-1]]) is not None:
        walked.append(before)
    return walked[::-1]
