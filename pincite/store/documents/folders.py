"""Folders: where documents lie, what a folder says to the model, what it is called in answers."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from psycopg import errors as pg_errors

from pincite.core.accounts.access import Scope
from pincite.core.accounts.audit import AuditEntry
from pincite.core.documents.document import Folder
from pincite.errors import Conflict, NotFound
from pincite.store.access.audit_log import record
from pincite.store.access.permissions import hold_folders, inside, move_realms, refile
from pincite.store.database import LONG_WORK, Connection, Database, one, rows
from pincite.store.documents.row import access_of
from pincite.store.search.corpus_stats import changed

FRESH_S = 2.0
"""So long this process goes by the prompts and labels it read last; its own changes it knows at once."""


class Folders:
    """The folders of one person at a time.

    One exists where documents lie in it or below it, and where somebody made it. What it is furnished with, its prompt
    and its label, holds for the folders below it, too, unless a nearer one has its own.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._furnished: dict[str, tuple[float, Mapping[str, Folder]]] = {}

    async def all(self, scope: Scope) -> list[Folder]:
        """Every folder by its path, with the number of documents in it and below it."""
        query = "select folder, count(*) from document where realm = any(%(realms)s) and folder <> '' group by folder"
        [held] = await self._database.at_once(scope.person, query, values={"realms": list(scope.realms)})
        furnished = await self._read(scope.person)
        counts: dict[str, int] = {}
        for path, documents in held:
            for above in upwards(path):
                counts[above] = counts.get(above, 0) + documents
        for path in furnished:
            for above in upwards(path):
                counts.setdefault(above, 0)
        return [_with(furnished.get(path), path, documents) for path, documents in sorted(counts.items())]

    async def get(self, scope: Scope, path: str) -> Folder:
        """One folder."""
        found = next((folder for folder in await self.all(scope) if folder.path == path), None)
        if found is None:
            raise NotFound(f"there is no folder '{path}'")
        return found

    async def make(self, scope: Scope, folder: Folder) -> None:
        """Make a folder, or furnish one that documents lie in; `Conflict` where that was done before."""
        async with self._database.transaction(scope.person) as connection:
            made = await connection.execute(
                "insert into folder (owner, path, system_prompt, category_label) values (%s, %s, %s, %s)"
                " on conflict do nothing",
                (scope.person, folder.path, folder.system_prompt, folder.category_label),
            )
            if not made.rowcount:
                raise Conflict(f"the folder '{folder.path}' is there already; change it with PATCH")
        self._furnished.pop(scope.person, None)

    async def furnish(self, scope: Scope, folder: Folder) -> None:
        """Give a folder its prompt and its label, as they are here."""
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "insert into folder (owner, path, system_prompt, category_label) values (%s, %s, %s, %s)"
                " on conflict (owner, path) do update set system_prompt = excluded.system_prompt,"
                " category_label = excluded.category_label, updated_at = now()",
                (scope.person, folder.path, folder.system_prompt, folder.category_label),
            )
        self._furnished.pop(scope.person, None)

    async def move(self, scope: Scope, path: str, to: str) -> None:
        """Give a folder another path, with all that lies in it and below it: documents keep their ids."""
        try:
            async with self._database.transaction(scope.person, local=LONG_WORK) as connection:
                await hold_folders(connection, scope.person, changing=True)
                await _move(connection, scope, path, to)
                moved = await refile(connection, scope.person, await inside(connection, scope.person, to))
                await move_realms(connection, moved)
                await record(connection, AuditEntry("folder.move", f"folder:{path}", details={"to": to}))
        except pg_errors.UniqueViolation:
            raise Conflict(
                f"'{to}' holds a document or a folder of the same name; remove or rename one of them first"
            ) from None
        finally:
            self._furnished.pop(scope.person, None)

    def forget_furnished(self, person: str) -> None:
        """Somebody changed what a person's folders say."""
        self._furnished.pop(person, None)

    async def own_documents(self, scope: Scope, path: str) -> list[str]:
        """The ids of one's own documents in a folder and below it."""
        query = (
            "select id from document where realm = any(%(realms)s) and owner = %(owner)s"
            " and (folder = %(folder)s or starts_with(folder, %(below)s)) order by folder, name"
        )
        values = {"realms": list(scope.realms), "owner": scope.person, **_inside(path)}
        [found] = await self._database.at_once(scope.person, query, values=values)
        return [document_id for (document_id,) in found]

    async def forget(self, scope: Scope, path: str) -> None:
        """Forget what a folder and those below it were furnished with; `Conflict` where documents lie there."""
        async with self._database.transaction(scope.person) as connection:
            await hold_folders(connection, scope.person, changing=True)
            values = {"owner": scope.person, **_inside(path)}
            held = await one(
                connection,
                "select count(*) from document where owner = %(owner)s"
                " and (folder = %(folder)s or starts_with(folder, %(below)s))",
                values,
            )
            if held and held[0]:
                raise Conflict(
                    f"the folder '{path}' holds documents ({held[0]}); send recursive=true to remove them too"
                )
            await connection.execute(
                "delete from folder where owner = %(owner)s and (path = %(folder)s or starts_with(path, %(below)s))",
                values,
            )
        self._furnished.pop(scope.person, None)

    async def prompt(self, scope: Scope, path: str) -> str | None:
        """The prompt for questions about a folder: its own, or that of the nearest folder above."""
        furnished = await self._recent(scope.person)
        above = (furnished[one] for one in reversed(upwards(path)) if one in furnished)
        return next((folder.system_prompt for folder in above if folder.system_prompt), None)

    async def labels(self, scope: Scope) -> dict[str, str]:
        """What folders are called in answers, by path."""
        furnished = await self._recent(scope.person)
        return {path: folder.category_label for path, folder in furnished.items() if folder.category_label}

    async def _recent(self, person: str) -> Mapping[str, Folder]:
        read = self._furnished.get(person)
        if read is None or time.monotonic() - read[0] > FRESH_S:
            return await self._read(person)
        return read[1]

    async def _read(self, person: str) -> Mapping[str, Folder]:
        query = "select path, system_prompt, category_label, shown(readers) from folder where owner = %(person)s"
        [found] = await self._database.at_once(person, query, values={"person": person})
        furnished = {
            path: Folder(path, prompt, label, access=None if readers is None else access_of(person, readers))
            for path, prompt, label, readers in found
        }
        self._furnished[person] = time.monotonic(), furnished
        return furnished


def upwards(path: str) -> Sequence[str]:
    """A folder and those above it, the outermost first: `a/b` → `a`, `a/b`."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _with(furnished: Folder | None, path: str, documents: int) -> Folder:
    known = furnished or Folder(path)
    return replace(known, documents=documents)


async def _move(connection: Connection, scope: Scope, path: str, to: str) -> None:
    values = {"owner": scope.person, "to": to, "kept": len(path) + 1, **_inside(path)}
    await connection.execute(  # least first, as everywhere where several are changed at once
        "select from document where owner = %(owner)s and (folder = %(folder)s or starts_with(folder, %(below)s))"
        " order by id for update",
        values,
    )
    moved = await rows(
        connection,
        "update document set folder = %(to)s || substr(folder, %(kept)s), updated_at = now()"
        " where owner = %(owner)s and (folder = %(folder)s or starts_with(folder, %(below)s)) returning realm",
        values,
    )
    furnished = await connection.execute(
        "update folder set path = %(to)s || substr(path, %(kept)s), updated_at = now()"
        " where owner = %(owner)s and (path = %(folder)s or starts_with(path, %(below)s))",
        values,
    )
    if not moved and not furnished.rowcount:
        raise NotFound(f"there is no folder '{path}'")
    for realm in sorted({realm for (realm,) in moved}):
        await changed(connection, realm)


def _inside(path: str) -> dict[str, object]:
    return {"folder": path, "below": f"{path}/"}
