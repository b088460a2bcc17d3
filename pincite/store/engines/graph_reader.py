"""Reading the graph for people: entities by name, the facts and places of one, and what joins two of them."""

from collections.abc import Mapping, Sequence
from typing import get_args

from pincite.core.accounts.access import Scope
from pincite.core.graph import EntityType, GraphNode, GraphPlace, StatedFact, entity_id
from pincite.errors import NotFound
from pincite.store.database import Database

MAX_FACTS, MAX_PLACES, MAX_NEIGHBOURS = 100, 50, 40
NEWEST_DOCUMENTS = 200
"""Documents whose entities are listed where no name is asked for."""
KINDS: tuple[EntityType, ...] = get_args(EntityType)

Names = Mapping[int, Sequence[tuple[EntityType, str, int]]]
"""Name → its types, each with the most frequent form and the number of passages."""


class GraphReader:
    """Reads what the caller may read; names that others know do not exist for the caller."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, scope: Scope, exact: int, text: str, limit: int) -> list[GraphNode]:
        """Return the entities with a name, or with a text in their name, most mentioned first."""
        escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values = {"realms": list(scope.realms), "exact": exact, "like": f"%{escaped}%", "limit": limit}
        [rows] = await self._database.run_batch(scope.person, _FIND, values=values)
        nodes = [node for name, forms in _grouped(rows).items() for node in _nodes(name, forms)]
        return sorted(nodes, key=lambda one: (-one.mentions, one.name, one.id))[:limit]

    async def newest_names(self, scope: Scope, limit: int) -> list[int]:
        """Return the names that the newest documents mention most."""
        values = {"realms": list(scope.realms), "documents": NEWEST_DOCUMENTS, "limit": limit}
        [rows] = await self._database.run_batch(scope.person, _NEWEST, values=values)
        return [int(name) for (name,) in rows]

    async def node(self, scope: Scope, wanted: str) -> tuple[GraphNode, list[int]]:
        """Return an entity by its id and the numbers of its names; `NotFound` if the caller may read no mention."""
        kind, _, number = wanted.rpartition("-")
        try:
            name = int(number, 16)
        except ValueError:
            raise NotFound(f"there is no entity '{wanted[:80]}'") from None
        for node in await self.nodes(scope, [name]) if kind in KINDS and 0 <= name < 2**63 else ():
            if node.id == wanted:
                [same] = await self._database.run_batch(scope.person, _SAME, values=self._values(scope, [name]))
                return node, list(dict.fromkeys([name, *(other for (other,) in same)]))
        raise NotFound(f"there is no entity '{wanted[:80]}'")

    async def nodes(self, scope: Scope, names: Sequence[int]) -> list[GraphNode]:
        """Return the entities of these names that the caller may read."""
        [rows] = await self._database.run_batch(scope.person, _NODES, values=self._values(scope, names))
        return [node for name, forms in _grouped(rows).items() for node in _nodes(name, forms)]

    async def places(self, scope: Scope, names: Sequence[int]) -> list[GraphPlace]:
        """Return where these names are mentioned, with the words there."""
        values = self._values(scope, names) | {"limit": MAX_PLACES}
        [rows] = await self._database.run_batch(scope.person, _PLACES, values=values)
        return [GraphPlace(*row) for row in rows]

    async def facts(self, scope: Scope, names: Sequence[int]) -> list[tuple[StatedFact, int, int | None]]:
        """Return the facts about these names, each with the numbers of its subject and object."""
        values = self._values(scope, names) | {"limit": MAX_FACTS}
        [rows] = await self._database.run_batch(scope.person, _FACTS, values=values)
        return [
            (StatedFact(subject, "", relation, target, None, GraphPlace(*place)), one, other)
            for subject, one, relation, target, other, *place in rows
        ]

    async def edges(self, scope: Scope, names: Sequence[int], limit: int) -> list[tuple[int, int, int]]:
        """Return the names that are mentioned or stated together with these: (name, neighbour, count)."""
        values = self._values(scope, names) | {"limit": limit}
        [rows] = await self._database.run_batch(scope.person, _EDGES, values=values)
        return [(one, other, int(count)) for one, other, count in rows]

    async def together(self, scope: Scope, one: int, other: int) -> GraphPlace | None:
        """Return a passage that mentions both names."""
        values = {"realms": list(scope.realms), "one": one, "other": other}
        [rows] = await self._database.run_batch(scope.person, _TOGETHER, values=values)
        return GraphPlace(*rows[0]) if rows else None

    @staticmethod
    def _values(scope: Scope, names: Sequence[int]) -> dict[str, object]:
        return {"realms": list(scope.realms), "names": list(names)}


def _grouped(rows: Sequence[Sequence[object]]) -> dict[int, list[tuple[EntityType, str, int]]]:
    found: dict[int, list[tuple[EntityType, str, int]]] = {}
    for name, kind, surface, count in rows:
        found.setdefault(int(str(name)), []).append((kind, str(surface), int(str(count))))  # type: ignore[arg-type]
    return found


def _nodes(name: int, forms: Sequence[tuple[EntityType, str, int]]) -> list[GraphNode]:
    """The entities of one name: one for each type; mentions without a type belong to the most frequent type."""
    ordered = sorted(forms, key=lambda one: (one[0] == "other", -one[2], one[0]))
    untyped = sum(count for kind, _, count in ordered if kind == "other")
    typed = [one for one in ordered if one[0] != "other"] or ordered
    extra = untyped if typed[0][0] != "other" else 0
    return [
        GraphNode(entity_id(kind, name), surface, kind, count + (extra if place == 0 else 0))
        for place, (kind, surface, count) in enumerate(typed)
    ]


_SERVED = "join edition e on e.key = m.edition and e.state = 'served' join document d on d.served = e.key"
_MINE = "m.realm = any ((select %(realms)s::int[])::int[])"
_GROUP = """
    select m.name, m.kind, mode() within group (order by m.surface), count(distinct m.chunk)
    from graph_mention m {served} where {mine} and {which} group by m.name, m.kind
"""
_PLACE = """
    d.id, d.title, d.id || '.' || v.id || '.' || c.ordinal, c.page,
    c.start_line + (length(left(c.text, greatest(0, {start} - c.start_char)))
                    - length(replace(left(c.text, greatest(0, {start} - c.start_char)), chr(10), ''))),
    {start}, {end}, substr(v.text, {start} + 1, {end} - {start})
"""
_WHERE = "join chunk c on c.key = m.chunk join version v on v.key = e.version"
_FIND = (
    _GROUP.format(served=_SERVED, mine=_MINE, which="(m.name = %(exact)s or m.surface ilike %(like)s)")
    + " order by count(distinct m.chunk) desc, m.name limit 4 * %(limit)s"
)
_NEWEST = """
    select m.name from graph_mention m
    join (
        select served from document where realm = any ((select %(realms)s::int[])::int[]) and served is not null
        order by updated_at desc, id limit %(documents)s
    ) as newest on newest.served = m.edition
    where m.realm = any ((select %(realms)s::int[])::int[])
    group by m.name order by count(distinct m.chunk) desc, m.name limit %(limit)s
"""
_NODES = _GROUP.format(served=_SERVED, mine=_MINE, which="m.name = any(%(names)s::bigint[])")
_SAME = f"""
    select case when m.one = any(%(names)s::bigint[]) then m.other else m.one end from graph_same m {_SERVED}
    where {_MINE} and (m.one = any(%(names)s::bigint[]) or m.other = any(%(names)s::bigint[]))
"""  # noqa: S608 - constant parts
_PLACES = f"""
    select {_PLACE.format(start="m.spans[1]", end="m.spans[2]")}
    from graph_mention m {_SERVED} {_WHERE}
    where {_MINE} and m.name = any(%(names)s::bigint[]) and cardinality(m.spans) > 0
    order by d.title, d.id, c.ordinal limit %(limit)s
"""  # noqa: S608 - constant parts
_FACTS = f"""
    select m.subject, m.subject_name, m.relation, m.object, m.object_name,
           {_PLACE.format(start="m.start_char", end="m.end_char")}
    from graph_fact m {_SERVED} {_WHERE}
    where {_MINE} and (m.subject_name = any(%(names)s::bigint[]) or m.object_name = any(%(names)s::bigint[]))
    order by d.title, d.id, c.ordinal, m.start_char, m.subject, m.object limit %(limit)s
"""  # noqa: S608 - constant parts
_EDGES = f"""
    select one, other, sum(count) from (
        select m.one, m.other, m.count from graph_edge m {_SERVED} where {_MINE} and m.one = any(%(names)s::bigint[])
        union all
        select m.other, m.one, m.count from graph_edge m {_SERVED} where {_MINE} and m.other = any(%(names)s::bigint[])
        union all
        select m.subject_name, m.object_name, 1 from graph_fact m {_SERVED}
        where {_MINE} and m.subject_name = any(%(names)s::bigint[]) and m.object_name is not null
        union all
        select m.object_name, m.subject_name, 1 from graph_fact m {_SERVED}
        where {_MINE} and m.object_name = any(%(names)s::bigint[])
    ) joined group by one, other order by sum(count) desc, one, other limit %(limit)s
"""  # noqa: S608 - constant parts
_TOGETHER = f"""
    select {_PLACE.format(start="m.spans[1]", end="c.end_char")}
    from graph_mention m {_SERVED} {_WHERE} join graph_mention n on n.chunk = m.chunk and n.edition = m.edition
    where {_MINE} and m.name = %(one)s and n.name = %(other)s and cardinality(m.spans) > 0
    order by d.id, c.ordinal limit 1
"""  # noqa: S608 - constant parts
