"""Changing the title, tags, folder or name of a document; its id stays, and it is not reindexed."""

from dataclasses import asdict

from psycopg import errors as pg_errors
from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Scope
from pincite.core.accounts.audit import AuditEntry
from pincite.core.documents.document import DocumentChange
from pincite.errors import Conflict, NotFound
from pincite.store.access.audit_log import record
from pincite.store.access.permissions import assign_realms, lock_folder_readers, move_realms
from pincite.store.database import Database, fetch_one
from pincite.store.search.corpus_stats import bump_revision


class DocumentEditor:
    """Changes the title, tags, folder and name of documents, for one person at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def update(self, scope: Scope, document_id: str, wanted: DocumentChange) -> None:
        """Apply a change to a document; `Conflict` if another document has that name in that folder."""
        try:
            async with self._database.transaction(scope.person) as connection:
                if wanted.folder is not None:
                    await lock_folder_readers(connection, scope.person, changing=True)
                found = await fetch_one(
                    connection,
                    "select realm from document where id = %s and owner = %s for update",
                    (document_id, scope.person),
                )
                if found is None:
                    raise NotFound(f"there is no document '{document_id}'")
                given = {"title": wanted.title, "tags": None if wanted.tags is None else list(wanted.tags)}
                changed = {name: value for name, value in given.items() if value is not None}
                await connection.execute(_UPDATE, {"id": document_id, "given": Jsonb(changed), **_values(wanted)})
                moved = (
                    await assign_realms(connection, scope.person, [document_id]) if wanted.folder is not None else []
                )
                await move_realms(connection, moved)  # the folder determines the readers
                await bump_revision(connection, found[0])
                altered = [name for name, value in asdict(wanted).items() if value is not None]
                await record(
                    connection, AuditEntry("document.change", f"document:{document_id}", details={"changed": altered})
                )
        except pg_errors.UniqueViolation:
            raise Conflict(_name_conflict(wanted)) from None


def _values(wanted: DocumentChange) -> dict[str, object]:
    tags = None if wanted.tags is None else list(wanted.tags)
    return {"title": wanted.title, "tags": tags, "folder": wanted.folder, "name": wanted.name}


def _name_conflict(wanted: DocumentChange) -> str:
    where = f"in the folder '{wanted.folder}'" if wanted.folder else "in its folder"
    return f"there is another document of the same name {where}; remove or rename one of them first"


# A title that equals the file name changes with it.
_UPDATE = """
    update document set given = given || %(given)s, updated_at = now(),
           title = coalesce(%(title)s, case when title = name then %(name)s end, title),
           tags = coalesce(%(tags)s::text[], tags), folder = coalesce(%(folder)s, folder),
           name = coalesce(%(name)s, name)
    where id = %(id)s
"""
