"""What a search may look into: the scope's predicate, made here and nowhere else."""

from psycopg import sql

from pincite.core.answers import Filters
from pincite.core.callers import Scope


def narrowed(filters: Filters) -> bool:
    """Whether a filter leaves a part of what the scope admits."""
    return filters.folder is not None or filters.document_ids is not None


def documents(filters: Filters) -> sql.Composed:
    """The documents a search may look into."""
    conditions = ["realm = any(%(realms)s)", "served is not null"]
    if filters.folder is not None:
        conditions.append("(folder = %(folder)s or starts_with(folder, %(below)s))")
    if filters.document_ids is not None:
        conditions.append("id = any(%(documents)s)")
    return sql.SQL(" and ").join(sql.SQL(condition) for condition in conditions)


def editions(column: str, filters: Filters, *, listed: bool = False) -> sql.Composed:
    """Which editions a search may find in: those of the documents a filter names, else all that are served.

    An edition that is being written, or was replaced and not yet cleared, is nobody's to find; such are few, so
    they are named rather than the served ones. `listed` is the form that makes an exact scan go by the index.
    """
    if not narrowed(filters):
        form = "{} <> all (array(select key from edition where state <> 'served'))"
        return sql.SQL(form).format(sql.SQL(column))
    form = (
        "{} = any (array(select served from document where {}))"
        if listed
        else "{} in (select served from document where {})"
    )
    return sql.SQL(form).format(sql.SQL(column), documents(filters))


def values(scope: Scope, filters: Filters) -> dict[str, object]:
    """What the predicates compare with."""
    return {
        "realms": list(scope.realms),
        "folder": filters.folder,
        "below": f"{filters.folder}/",
        "documents": list(filters.document_ids or ()),
    }
