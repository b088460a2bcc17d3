"""Searching the graph within the caller's scope: the subgraph around names and passages, and the facts of passages."""

from collections.abc import Sequence
from functools import lru_cache

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.graph import GraphFact, Subgraph
from pincite.core.protocols import Match, Vector
from pincite.core.query.question import Filters
from pincite.store.bound import half_vector
from pincite.store.database import Database
from pincite.store.search import scope_sql

MAX_PASSAGES_PER_NAME = 61
"""Passages of an entity that are read at most; an entity with so many is not followed."""
MAX_FAR_PASSAGES_PER_NAME = 8
"""Passages of an entity of the second hop that are read at most; those of documents that are called so come first."""
MAX_NAMES = 40
"""Entities of the second hop that are followed at most."""
MAX_LINKS = 6000
"""Links that are read at most, those of the best passages and of the first hop first."""
ABOUT_WEIGHT = 2.0
"""Weight of the link between an entity and the passages of a document that is called so; a mention has 1."""


class PostgresGraph:
    """The graph in PostgreSQL: every hop compares realm and edition, and row-level security enforces the realm."""

    def __init__(self, database: Database, model: int) -> None:
        self._database = database
        self._model = model

    async def subgraph(
        self, names: Sequence[int], chunks: Sequence[int], *, scope: Scope, filters: Filters
    ) -> Subgraph:
        """Return what is within two hops of these names and of the entities of these passages, in one statement."""
        if not scope.realms or not (names or chunks):
            return Subgraph((), {}, (), ())
        per_name = {"per_name": MAX_PASSAGES_PER_NAME, "per_far_name": MAX_FAR_PASSAGES_PER_NAME}
        limits = {**per_name, "most_names": MAX_NAMES, "most": MAX_LINKS}
        values = {**scope_sql.values(scope, filters), "names": list(names), "chunks": list(chunks), **limits}
        [found] = await self._database.run_batch(scope.person, _statement(scope_sql.shape(filters)), values=values)
        links = [(chunk, name, ABOUT_WEIGHT if about else 1.0) for what, chunk, name, about in found if what == "link"]
        same = [(one, other) for what, other, one, _ in found if what == "same"]
        reach = {name: count for what, count, name, _ in found if what == "reach"}
        return Subgraph(links, reach, same, tuple(names))

    async def facts_in(self, chunks: Sequence[int], *, scope: Scope) -> list[GraphFact]:
        """Return the facts that passages state; the caller may read the passages."""
        values = {"chunks": list(chunks), "realms": list(scope.realms)}
        [found] = await self._database.run_batch(scope.person, _FACTS, values=values)
        return [GraphFact(*row) for row in found]

    async def has_vectors(self, *, scope: Scope) -> bool:
        """Return whether any entity or fact in the scope has a vector of the index's model."""
        query = "select exists (select from graph_vector where model = %(model)s and realm = any(%(realms)s))"
        values = {"model": self._model, "realms": list(scope.realms)}
        [[(found,)]] = await self._database.run_batch(scope.person, query, values=values)
        return bool(found)

    async def nearest(
        self, vector: Vector, *, entities: bool, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]:
        """Return the passages of the facts, or of the entities, that are nearest to a vector."""
        if not scope.realms:
            return []
        query = sql.SQL(_NEAREST).format(
            admitted=scope_sql.serving(filters),
            library=scope_sql.library(filters),
            documents=scope_sql.documents(filters),
            about=sql.SQL("is not null" if entities else "is null"),
        )
        values = {
            **scope_sql.values(scope, filters),
            "vector": half_vector(vector),
            "model": self._model,
            "limit": limit,
        }
        [found] = await self._database.run_batch(scope.person, query, values=values)
        return [Match(chunk, cosine) for chunk, cosine in found]


# `m.realm = any(...)` and the served edition are compared at every hop. All mentions of a passage are of one edition, so
# `among` need not compare it again. `near` is materialized first: the planner would begin with all editions.
_HOP = """
    select m.chunk, m.name, cardinality(m.spans) = 0 as about
    from graph_mention m join edition e on e.key = m.edition {document}
    where m.realm = any ({realms}) and {serving} and {filtered} and {on}
"""
# A name of many passages joins nothing. So many of them are read that this is known, which takes no sorting.
_RARE = """
    select chunk, name, about from (
        select read.*, count(*) over () as many from ({by_name} limit %(per_name)s) read) counted
    where many < %(per_name)s
"""
_SUBGRAPH = """
    with asked as materialized (
        select unnest(%(names)s::bigint[]) as name
    ), alike as materialized (
        select s.one, s.other from graph_same s join edition e on e.key = s.edition {document}
        where s.realm = any ({realms}) and {serving} and {filtered}
          and (s.one = any(%(names)s::bigint[]) or s.other = any(%(names)s::bigint[]))
    ), found as materialized (
        select m.chunk, m.name, m.edition, cardinality(m.spans) = 0 as about from graph_mention m
        where m.chunk = any(%(chunks)s) and m.realm = any ({realms})
    ), near as materialized (
        select chunk, name, about from found where edition in (
            select e.key from edition e {document}
            where e.key = any (array(select edition from found)) and {serving} and {filtered})
    ), first as materialized (
        select name from asked union select one from alike union select other from alike union select name from near
    ), hop1 as materialized (
        select h.* from first f cross join lateral (
            {rare}) h
    ), among as materialized (
        select m.chunk, m.name, cardinality(m.spans) = 0 as about from graph_mention m
        where m.realm = any ({realms}) and m.chunk = any (array(select chunk from hop1))
    ), second as materialized (
        select name from among where name not in (select name from first)
        group by name order by count(*) desc, name limit %(most_names)s
    ), hop2 as materialized (
        select h.* from second f cross join lateral (
            {rare} order by about desc, chunk limit %(per_far_name)s) h
    ), links as materialized (
        select chunk, name, about, min(hop) as hop from (
            select *, 1 as hop from near union all select *, 1 from hop1
            union all select *, 2 from among where name = any (array(select name from second))
            union all select *, 2 from hop2
        ) every group by chunk, name, about
    )
    (select 'link', chunk::bigint, name, about from links order by hop, chunk, name limit %(most)s)
    union all select 'same', other, one, false from alike
    union all select 'reach', count(*), name, false from links group by name
"""
_FACTS = """
    select chunk, subject, subject_name, relation, object, object_name, start_char, end_char from graph_fact
    where chunk = any(%(chunks)s) and realm = any ((select %(realms)s::int[])::int[])
    order by chunk, start_char, subject, object
"""
_NEAREST = """
    select v.chunk, max(-(v.embedding <#> %(vector)s::halfvec))::float8 as cosine
    from graph_vector v join edition e on e.key = v.edition join document d on d.id = e.document_id
    where v.model = %(model)s and v.realm = any(%(realms)s) and v.name {about} and {admitted}
      and d.id in (select id from {library} as document where {documents})
    group by v.chunk order by cosine desc, v.chunk limit %(limit)s
"""


@lru_cache(maxsize=32)
def _statement(filters: Filters) -> bytes:
    """Return the statement for filters of this shape; without filters, the state of the edition says that it is served."""
    parts: dict[str, sql.Composable] = {
        "realms": sql.SQL(scope_sql.REALMS),
        "document": sql.SQL(""),
        "serving": sql.SQL("e.state = 'served'"),
        "filtered": sql.SQL("true"),
    }
    if scope_sql.is_filtered(filters):
        parts["document"] = sql.SQL("join document d on d.id = e.document_id")
        parts["serving"] = scope_sql.serving(filters)
        parts["filtered"] = sql.SQL("d.id in (select id from {} as document where {})").format(
            scope_sql.library(filters), scope_sql.documents(filters)
        )
    rare = sql.SQL(_RARE).format(by_name=sql.SQL(_HOP).format(**parts, on=sql.SQL("m.name = f.name")))
    return sql.SQL(_SUBGRAPH).format(**parts, rare=rare).as_bytes(None)
