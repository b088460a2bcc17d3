"""Checks the filters of a question: an unknown folder is an error, other values that match nothing are warnings."""

from collections.abc import Sequence
from datetime import UTC, datetime

from pincite.config.messages import closest
from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.errors import NotFound
from pincite.store.database import Connection, Database, fetch_all, fetch_one

MAX_NAMED = 3
"""Unknown document ids, and known folders, that a message lists by name; further ones are counted."""
MAX_COMPARED_FOLDERS = 1000
"""Folders that are compared with an unknown folder to suggest a similar one."""


async def check_filters(database: Database, scope: Scope, filters: Filters) -> list[str]:
    """Return a warning for each document id, tag and time that matches nothing; `NotFound` for an unknown folder.

    What this person may not read is unknown to this person.
    """
    if filters == Filters():
        return []
    async with database.transaction(scope.person) as connection:
        if filters.folder is not None:
            await _check_folder(connection, scope, filters.folder)
        warnings = await _unknown_documents(connection, scope, filters.document_ids or ())
        for tag in filters.tags:
            tagged = "select from document where realm = any(%s) and %s = any(tags) limit 1"
            if await fetch_one(connection, tagged, (list(scope.realms), tag)) is None:
                warnings.append(f"no document has the tag '{tag}'")
        if filters.as_of is not None:
            warnings.extend(await _too_early(connection, scope, filters, filters.as_of))
    return warnings


async def _check_folder(connection: Connection, scope: Scope, wanted: str) -> None:
    """Raise `NotFound` with the nearest known folders, unless the folder was created or contains documents."""
    values = {"realms": list(scope.realms), "person": scope.person, "path": wanted, "below": f"{wanted}/"}
    exists = (
        "select where exists (select from document where realm = any(%(realms)s)"
        " and (folder = %(path)s or starts_with(folder, %(below)s))) or exists (select from folder"
        " where owner = %(person)s and (path = %(path)s or starts_with(path, %(below)s)))"
    )
    if wanted == "" or await fetch_one(connection, exists, values) is not None:
        return
    known = (
        "select folder from document where realm = any(%(realms)s) and folder <> ''"
        " union select path from folder where owner = %(person)s limit %(limit)s"
    )
    folders = await fetch_all(connection, known, {**values, "limit": MAX_COMPARED_FOLDERS})
    raise NotFound(_unknown_folder(wanted, [path for (path,) in folders]))


def _unknown_folder(wanted: str, folders: Sequence[str]) -> str:
    """Return the message for an unknown folder, with a similar one by path or by last part, or with some that exist."""
    paths = [folder.split("/") for folder in folders]
    known = sorted({"/".join(path[:depth]) for path in paths for depth in range(1, len(path) + 1)})
    last_parts = {name.rpartition("/")[2]: name for name in reversed(known)}
    close = closest(wanted, known) or last_parts.get(closest(wanted.rpartition("/")[2], last_parts) or "")
    if close:
        return f"there is no folder '{wanted}'; did you mean '{close}'?"
    if not known:
        return f"there is no folder '{wanted}'; no document is in a folder"
    return f"there is no folder '{wanted}'; choose one of {_named(known)}"


async def _unknown_documents(connection: Connection, scope: Scope, document_ids: Sequence[str]) -> list[str]:
    asked = list(dict.fromkeys(document_ids))
    if not asked:
        return []
    query = "select id from document where id = any(%s) and realm = any(%s)"
    existing = {found for (found,) in await fetch_all(connection, query, (asked, list(scope.realms)))}
    missing = [one for one in asked if one not in existing]
    return [f"there is no document {_named(missing)}"] if missing else []


async def _too_early(connection: Connection, scope: Scope, filters: Filters, as_of: datetime) -> list[str]:
    """Return a warning if no version of the documents that the filters select is as old as `as_of`."""
    query = (
        "select min(v.created_at) from document d join version v on v.document_id = d.id"
        " where d.realm = any(%(realms)s) and (%(ids)s::text[] is null or d.id = any(%(ids)s)) and d.tags @> %(tags)s"
        " and (%(folder)s::text is null or d.folder = %(folder)s or starts_with(d.folder, %(folder)s || '/'))"
    )
    values = {
        "realms": list(scope.realms),
        "ids": None if filters.document_ids is None else list(filters.document_ids),
        "tags": list(filters.tags),
        "folder": filters.folder or None,
    }
    row = await fetch_one(connection, query, values)
    first: datetime | None = row[0] if row else None
    if first is None or first <= as_of:
        return []
    return [f"no document is as old as {_minute(as_of)}; the first version was added at {_minute(first)}"]


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _named(values: Sequence[str]) -> str:
    more = f" and {len(values) - MAX_NAMED} more" if len(values) > MAX_NAMED else ""
    return ", ".join(f"'{one}'" for one in values[:MAX_NAMED]) + more
