"""The SQL of a search's scope and filters: the only place where these predicates are made."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters

REALMS = "(select %(realms)s::int[])::int[]"
"""The realms of the scope as a subquery, for comparisons with an index or with few rows.

With a plain list, the planner looks each realm up in its statistics, which is slow for a thousand realms. Where many
rows are compared, a plain list is better: PostgreSQL hashes it."""
MISPLACED_EDITIONS = "select key from edition where astray and realm <> all ((select own_realms())::int[])"
"""Editions whose document moved to another realm while their rows have not yet: only their owner sees them."""
# The position is read after the snapshot was taken: the log up to there holds all that the snapshot shows.
SCOPE = """
    select own.realms, own.revisions, case when pg_is_in_recovery() then '' else pg_current_wal_lsn()::text end,
           (select id from generation where state = 'serving'),
           array(select wanted from unnest(array['graph', 'tree', 'late']) wanted where exists (
                select from engine_edition b
                where b.engine = wanted and b.signature is not null and b.realm = any(own.realms)))
    from (select coalesce(array_agg(r order by r), '{}') as realms,
                 coalesce(array_agg(coalesce(c.revision, 0) order by r), '{}') as revisions
          from unnest(readable()) r left join corpus c on c.realm = r where %(looks)s or not (select shut_out())) own
"""
"""The realms that a person may read now, with their revisions, the searched index and the engines with data."""
HIDDEN_EDITIONS = (
    "select key from edition where state in ('writing', 'retired', 'ready')"
    " union all select key from edition where astray and realm <> all ((select own_realms())::int[])"
)
"""Editions in the searched tables that must not be found; partial indexes cover this query."""


def scope_of(person: str, row: Sequence[Any]) -> tuple[Scope, int]:
    """Return the scope of a person and the id of the searched index, 0 before the first, from a row of `SCOPE`."""
    realms, revisions, position, index, built = row
    return Scope(person, tuple(realms), tuple(revisions), position, frozenset(built)), index or 0


def is_filtered(filters: Filters) -> bool:
    """Whether the filters restrict the scope, or select another time or another index."""
    return filters != Filters()


def shape(filters: Filters) -> Filters:
    """Return the filters without their values: filters of the same shape share the same SQL statement."""
    return Filters(
        folder=None if filters.folder is None else "",
        document_ids=None if filters.document_ids is None else (),
        as_of=None if filters.as_of is None else datetime.min,
        tags=("",) if filters.tags else (),
        index=None if filters.index is None else "",
    )


def documents(filters: Filters) -> sql.Composed:
    """Return the condition on the documents that a search may read."""
    conditions = ["realm = any(%(realms)s)", "served is not null"]
    if filters.folder is not None:
        conditions.append("(folder = %(folder)s or starts_with(folder, %(below)s))")
    if filters.document_ids is not None:
        conditions.append("id = any(%(documents)s)")
    if filters.tags:
        conditions.append("tags @> %(tags)s::text[]")
    return sql.SQL(" and ").join(sql.SQL(condition) for condition in conditions)


def library(filters: Filters) -> sql.SQL:
    """Return the documents with the edition to search: the current one, or that of another time or another index.

    In another index, a document without an edition there is searched in its current edition.
    """
    if filters.as_of is not None:
        return sql.SQL(_AS_OF)
    return sql.SQL("document" if filters.index is None else _OTHER_INDEX)


def postings(filters: Filters) -> sql.SQL:
    """Return the table of postings; those of earlier versions are in a separate table."""
    return sql.SQL("posting" if filters.as_of is None else "(table posting union all table past_posting)")


def vectors(filters: Filters) -> sql.SQL:
    """Return the table of vectors; those of earlier versions are in a separate table."""
    return sql.SQL("vector" if filters.as_of is None else "(table vector union all table past_vector)")


def serving(filters: Filters) -> sql.Composed:
    """Return the condition that edition `e` of document `d` is the one to search."""
    if filters.as_of is None and filters.index is None:
        return sql.SQL("e.state = {} and d.served = e.key").format("served")
    return editions("e.key", filters)


def editions(column: str, filters: Filters, *, listed: bool = False) -> sql.Composed:
    """Return the condition on the editions to search: those of the filtered documents, else all served editions.

    Without a filter, the hidden editions (being written, or replaced and not yet removed) are excluded, because they
    are far fewer than the served ones. `listed` is the form that makes an exact scan use the index.
    """
    if not is_filtered(filters):
        return sql.SQL("{} <> all (array({}))").format(sql.SQL(column), sql.SQL(HIDDEN_EDITIONS))
    form = (
        "{} = any (array(select served from {} as document where {}))"
        if listed or filters.as_of is not None
        else "{} in (select served from {} as document where {})"
    )
    return sql.SQL(form).format(sql.SQL(column), library(filters), documents(filters))


def values(scope: Scope, filters: Filters) -> dict[str, object]:
    """Return the parameters of the predicates."""
    return {
        "realms": list(scope.realms),
        "folder": filters.folder,
        "below": f"{filters.folder}/",
        "documents": list(filters.document_ids or ()),
        "as_of": filters.as_of,
        "tags": list(filters.tags),
        "index": [filters.index, f"{filters.index}:wanting"],
    }


# For each document, the newest indexed version that existed at that time, with the totals of its edition.
_AS_OF = """(
    select distinct on (d.id) d.id, d.realm, d.folder, d.name, d.called, d.tags, e.key as served, e.model, e.languages,
           e.chunks, e.words, e.vectors
    from document d join version v on v.document_id = d.id and v.created_at <= %(as_of)s
         join edition e on e.version = v.key and e.state in ('served', 'retired', 'kept') and e.model is not null
    where d.realm = any(%(realms)s)
    order by d.id, v.key desc, e.state = 'served' desc, e.key desc
)"""
_OTHER_INDEX = """(
    select distinct on (d.id) d.id, d.realm, d.folder, d.name, d.called, d.tags, e.key as served, e.model, e.languages,
           e.chunks, e.words, e.vectors
    from document d join edition s on s.key = d.served join edition e on e.version = s.version
         and (e.key = s.key or (e.state = 'ready' and e.signature = any(%(index)s)))
    where d.realm = any(%(realms)s)
    order by d.id, e.signature = any(%(index)s) desc, e.key desc
)"""
