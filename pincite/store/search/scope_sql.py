"""What a search may look into: the scope's predicate, made here and nowhere else."""

from datetime import datetime

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters

REALMS = "(select %(realms)s::int[])::int[]"
"""The scope where it is compared with an index or with few rows: as a subquery, for the planner would look every one of a
thousand realms up in its statistics, each time it is named. Where many rows are compared, a plain list is hashed."""
ASTRAY = "select key from edition where astray and realm <> all ((select own_realms())::int[])"
"""Editions of documents that have other readers now, which their rows have yet to follow: till then for their owner alone."""
HIDDEN = (
    "select key from edition where state in ('writing', 'retired', 'ready')"
    " union all select key from edition where astray and realm <> all ((select own_realms())::int[])"
)
"""Editions whose words and vectors lie among those that are searched and are not to be found; the indexes are for this."""


def narrowed(filters: Filters) -> bool:
    """Whether a filter leaves a part of what the scope admits, or asks for another time or another index."""
    return filters != Filters()


def shape(filters: Filters) -> Filters:
    """A filter without its values: whatever two of one shape admit, they are asked for in the same words."""
    return Filters(
        folder=None if filters.folder is None else "",
        document_ids=None if filters.document_ids is None else (),
        as_of=None if filters.as_of is None else datetime.min,
        tags=("",) if filters.tags else (),
        index=None if filters.index is None else "",
    )


def documents(filters: Filters) -> sql.Composed:
    """The documents a search may look into."""
    conditions = ["realm = any(%(realms)s)", "served is not null"]
    if filters.folder is not None:
        conditions.append("(folder = %(folder)s or starts_with(folder, %(below)s))")
    if filters.document_ids is not None:
        conditions.append("id = any(%(documents)s)")
    if filters.tags:
        conditions.append("tags @> %(tags)s::text[]")
    return sql.SQL(" and ").join(sql.SQL(condition) for condition in conditions)


def library(filters: Filters) -> sql.SQL:
    """The documents as a search takes them, each with the edition it is found in: today's, or that of another time.

    In an index beside the one that is searched, a document that has no part of it is found as it is today.
    """
    if filters.as_of is not None:
        return sql.SQL(_THEN)
    return sql.SQL("document" if filters.index is None else _BESIDE)


def postings(filters: Filters) -> sql.SQL:
    """Where the words lie; those of earlier versions lie apart."""
    return sql.SQL("posting" if filters.as_of is None else "(table posting union all table past_posting)")


def vectors(filters: Filters) -> sql.SQL:
    """Where the vectors lie."""
    return sql.SQL("vector" if filters.as_of is None else "(table vector union all table past_vector)")


def serving(filters: Filters) -> sql.Composed:
    """Whether edition `e` of document `d` is the one a search finds."""
    if filters.as_of is None and filters.index is None:
        return sql.SQL("e.state = {} and d.served = e.key").format("served")
    return editions("e.key", filters)


def editions(column: str, filters: Filters, *, listed: bool = False) -> sql.Composed:
    """Which editions a search may find in: those of the documents a filter names, else all that are served.

    An edition that is being written, or was replaced and not yet cleared, is nobody's to find; such are few, so
    they are named rather than the served ones. `listed` is the form that makes an exact scan go by the index.
    """
    if not narrowed(filters):
        return sql.SQL("{} <> all (array({}))").format(sql.SQL(column), sql.SQL(HIDDEN))
    form = (
        "{} = any (array(select served from {} as document where {}))"
        if listed or filters.as_of is not None
        else "{} in (select served from {} as document where {})"
    )
    return sql.SQL(form).format(sql.SQL(column), library(filters), documents(filters))


def values(scope: Scope, filters: Filters) -> dict[str, object]:
    """What the predicates compare with."""
    return {
        "realms": list(scope.realms),
        "folder": filters.folder,
        "below": f"{filters.folder}/",
        "documents": list(filters.document_ids or ()),
        "as_of": filters.as_of,
        "tags": list(filters.tags),
        "index": [filters.index, f"{filters.index}:wanting"],
    }


# Of each document the newest version that had come by then and was indexed, with the totals of its edition.
_THEN = """(
    select distinct on (d.id) d.id, d.realm, d.folder, d.name, d.called, d.tags, e.key as served, e.model, e.languages,
           e.chunks, e.words, e.vectors
    from document d join version v on v.document_id = d.id and v.created_at <= %(as_of)s
         join edition e on e.version = v.key and e.state in ('served', 'retired', 'kept') and e.model is not null
    where d.realm = any(%(realms)s)
    order by d.id, v.key desc, e.state = 'served' desc, e.key desc
)"""
_BESIDE = """(
    select distinct on (d.id) d.id, d.realm, d.folder, d.name, d.called, d.tags, e.key as served, e.model, e.languages,
           e.chunks, e.words, e.vectors
    from document d join edition s on s.key = d.served join edition e on e.version = s.version
         and (e.key = s.key or (e.state = 'ready' and e.signature = any(%(index)s)))
    where d.realm = any(%(realms)s)
    order by d.id, e.signature = any(%(index)s) desc, e.key desc
)"""
