"""Folders: their documents, system prompts and category labels."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from psycopg import errors as pg_errors

from pincite.core.accounts.access import Scope
from pincite.core.accounts.audit import AuditEntry
from pincite.core.documents.document import Folder
from pincite.errors import Conflict, NotFound
from pincite.store.access.audit_log import record
from pincite.store.access.permissions import assign_realms, documents_in_folder, lock_folder_readers, move_realms
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one
from pincite.store.documents.row import to_access
from pincite.store.search.corpus_stats import bump_revision

MAX_CACHE_AGE_S = 2.0
"""Seconds for which this process caches prompts and labels; its own changes clear the cache."""


class Folders:
    """The folders of one person at a time.

    A folder exists if it was created, or if it or a subfolder contains documents. Its system prompt and its label also
    apply to its subfolders, unless one of them has its own.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cached: dict[str, tuple[float, Mapping[str, Folder]]] = {}

    async def all(self, scope: Scope) -> list[Folder]:
        """Return every folder by its path, with the number of documents in it and its subfolders."""
        query = "select folder, count(*) from document where realm = any(%(realms)s) and folder <> '' group by folder"
        [counted] = await self._database.run_batch(scope.person, query, values={"realms": list(scope.realms)})
        stored = await self._read(scope.person)
        counts: dict[str, int] = {}
        for path, documents in counted:
            for above in path_prefixes(path):
                counts[above] = counts.get(above, 0) + documents
        for path in stored:
            for above in path_prefixes(path):
                counts.setdefault(above, 0)
        return [_with_count(stored.get(path), path, documents) for path, documents in sorted(counts.items())]

    async def get(self, scope: Scope, path: str) -> Folder:
        """Return one folder, or raise `NotFound`."""
        found = next((folder for folder in await self.all(scope) if folder.path == path), None)
        if found is None:
            raise NotFound(f"there is no folder '{path}'")
        return found

    async def make(self, scope: Scope, folder: Folder) -> None:
        """Create a folder with its prompt and label; `Conflict` if it was created before."""
        async with self._database.transaction(scope.person) as connection:
            made = await connection.execute(
                "insert into folder (owner, path, system_prompt, category_label) values (%s, %s, %s, %s)"
                " on conflict do nothing",
                (scope.person, folder.path, folder.system_prompt, folder.category_label),
            )
            if not made.rowcount:
                raise Conflict(f"the folder '{folder.path}' exists already; change it with PATCH")
        self._cached.pop(scope.person, None)

    async def update(self, scope: Scope, folder: Folder) -> None:
        """Set the prompt and the label of a folder."""
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "insert into folder (owner, path, system_prompt, category_label) values (%s, %s, %s, %s)"
                " on conflict (owner, path) do update set system_prompt = excluded.system_prompt,"
                " category_label = excluded.category_label, updated_at = now()",
                (scope.person, folder.path, folder.system_prompt, folder.category_label),
            )
        self._cached.pop(scope.person, None)

    async def move(self, scope: Scope, path: str, to: str) -> None:
        """Move a folder with its documents and subfolders to another path; documents keep their ids."""
        try:
            async with self._database.transaction(scope.person, local=LONG_TIMEOUTS) as connection:
                await lock_folder_readers(connection, scope.person, changing=True)
                await _move(connection, scope, path, to)
                moved = await assign_realms(
                    connection, scope.person, await documents_in_folder(connection, scope.person, to)
                )
                await move_realms(connection, moved)
                await record(connection, AuditEntry("folder.move", f"folder:{path}", details={"to": to}))
        except pg_errors.UniqueViolation:
            raise Conflict(
                f"'{to}' contains a document or a folder of the same name; remove or rename one of them first"
            ) from None
        finally:
            self._cached.pop(scope.person, None)

    def clear_cache(self, person: str) -> None:
        """Clear the cached prompts and labels of a person's folders."""
        self._cached.pop(person, None)

    async def own_documents(self, scope: Scope, path: str) -> list[str]:
        """Return the ids of this person's own documents in a folder and its subfolders."""
        query = (
            "select id from document where realm = any(%(realms)s) and owner = %(owner)s"
            " and (folder = %(folder)s or starts_with(folder, %(below)s)) order by folder, name"
        )
        values = {"realms": list(scope.realms), "owner": scope.person, **_path_values(path)}
        [found] = await self._database.run_batch(scope.person, query, values=values)
        return [document_id for (document_id,) in found]

    async def remove(self, scope: Scope, path: str) -> None:
        """Remove a folder and its subfolders with their prompts and labels; `Conflict` if they contain documents."""
        async with self._database.transaction(scope.person) as connection:
            await lock_folder_readers(connection, scope.person, changing=True)
            values = {"owner": scope.person, **_path_values(path)}
            counted = await fetch_one(
                connection,
                "select count(*) from document where owner = %(owner)s"
                " and (folder = %(folder)s or starts_with(folder, %(below)s))",
                values,
            )
            if counted and counted[0]:
                raise Conflict(
                    f"the folder '{path}' contains documents ({counted[0]}); send recursive=true to remove them too"
                )
            await connection.execute(
                "delete from folder where owner = %(owner)s and (path = %(folder)s or starts_with(path, %(below)s))",
                values,
            )
        self._cached.pop(scope.person, None)

    async def prompt(self, scope: Scope, path: str) -> str | None:
        """Return the system prompt of a folder: its own, or that of the nearest parent folder."""
        stored = await self._recent(scope.person)
        nearest_first = (stored[prefix] for prefix in reversed(path_prefixes(path)) if prefix in stored)
        return next((folder.system_prompt for folder in nearest_first if folder.system_prompt), None)

    async def labels(self, scope: Scope) -> dict[str, str]:
        """Return the category labels of folders by path."""
        stored = await self._recent(scope.person)
        return {path: folder.category_label for path, folder in stored.items() if folder.category_label}

    async def _recent(self, person: str) -> Mapping[str, Folder]:
        cached = self._cached.get(person)
        if cached is None or time.monotonic() - cached[0] > MAX_CACHE_AGE_S:
            return await self._read(person)
        return cached[1]

    async def _read(self, person: str) -> Mapping[str, Folder]:
        query = "select path, system_prompt, category_label, shown(readers) from folder where owner = %(person)s"
        [found] = await self._database.run_batch(person, query, values={"person": person})
        folders = {
            path: Folder(path, prompt, label, access=None if readers is None else to_access(person, readers))
            for path, prompt, label, readers in found
        }
        self._cached[person] = time.monotonic(), folders
        return folders


def path_prefixes(path: str) -> Sequence[str]:
    """Return a folder and its parent folders, the outermost first: `a/b` → `a`, `a/b`."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _with_count(stored: Folder | None, path: str, documents: int) -> Folder:
    return replace(stored or Folder(path), documents=documents)


async def _move(connection: Connection, scope: Scope, path: str, to: str) -> None:
    values = {"owner": scope.person, "to": to, "kept": len(path) + 1, **_path_values(path)}
    await connection.execute(  # in the order of ids, as everywhere where several documents are locked
        "select from document where owner = %(owner)s and (folder = %(folder)s or starts_with(folder, %(below)s))"
        " order by id for update",
        values,
    )
    moved = await fetch_all(
        connection,
        "update document set folder = %(to)s || substr(folder, %(kept)s), updated_at = now()"
        " where owner = %(owner)s and (folder = %(folder)s or starts_with(folder, %(below)s)) returning realm",
        values,
    )
    folders = await connection.execute(
        "update folder set path = %(to)s || substr(path, %(kept)s), updated_at = now()"
        " where owner = %(owner)s and (path = %(folder)s or starts_with(path, %(below)s))",
        values,
    )
    if not moved and not folders.rowcount:
        raise NotFound(f"there is no folder '{path}'")
    for realm in sorted({realm for (realm,) in moved}):
        await bump_revision(connection, realm)


def _path_values(path: str) -> dict[str, object]:
    return {"folder": path, "below": f"{path}/"}
