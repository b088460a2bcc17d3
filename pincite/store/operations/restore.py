"""Restore: loads a backup into an empty library, completely or not at all, with the schema of the backup."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import psycopg
from psycopg import sql

from pincite.core.accounts.audit import AuditEntry
from pincite.core.documents.document import Progress
from pincite.core.operations import BackupManifest, BackupTable
from pincite.errors import Conflict, DataFolderError, NotAllowed, StoreDown, Unreadable
from pincite.store.access.audit_log import record
from pincite.store.access.users import LOCAL
from pincite.store.connect import administrator_of
from pincite.store.database import Connection, fetch_all, fetch_one
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.migrate import MIGRATION_LOCK, index_vectors, migrate, migration_files
from pincite.store.operations import backup_file
from pincite.store.operations.backup_file import BLOCK_BYTES
from pincite.store.roles import APP_ROLE
from pincite.store.search.corpus_stats import NEXT_REVISION

Report = Callable[[Progress], None]
INITIAL_TABLES = frozenset(
    {
        "migration",
        "library",
        "person",
        "realm",
        "reader",
        "setup",
        "failed_login",
        "spent",
        "streaming",
        "embedding_model",
        "corpus",
        "generation",
        "backup",
        "audit_head",
    }
)
"""Tables that may have rows in a library without content."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The manifest of a restored backup, and the number of its files."""

    manifest: BackupManifest
    files: int


def read_backup(path: Path, report: Report) -> BackupManifest:
    """Verify a whole backup and return its manifest, before anything is changed."""
    if not path.is_file():
        raise Unreadable(f"there is no backup {path}")
    manifest = backup_file.check(
        path,
        lambda done, whole: report(
            Progress("checking the backup", done // BLOCK_BYTES, whole // BLOCK_BYTES, 0.0, of="block")
        ),
    )
    if manifest.schema > migration_files()[-1][0]:
        raise DataFolderError(
            f"{path} was made by a newer pincite ({manifest.pincite}, schema {manifest.schema}, "
            f"this version has {migration_files()[-1][0]}); install the newer version to restore it"
        )
    return manifest


async def restore(
    url: str, data: Path, path: Path, manifest: BackupManifest, report: Report, *, role: str = APP_ROLE
) -> Restored:
    """Load a verified backup into an empty database, and its files into the data folder."""
    async with administrator_of(url) as admin:
        await admin.execute("select pg_advisory_lock(%s)", (MIGRATION_LOCK,))  # no process opens it meanwhile
        await _drop_empty_library(admin)
        place = data / "files" / manifest.library
        if place.exists():
            if any(place.glob("*/*")):
                raise Conflict(f"{place} contains files already; choose an empty folder with --data")
            shutil.rmtree(place)
        aside = place.with_name(f"{manifest.library}.restoring")
        shutil.rmtree(aside, ignore_errors=True)
        files = BlobFiles(data, aside.name)
        await migrate(admin, upto=manifest.schema, role=role)
        try:
            async with admin.transaction():
                await admin.execute("set local search_path = pincite, public")
                count = await _load(admin, files, path, manifest, report)
                await _settle(admin, files, manifest)
                report(Progress("indexing vectors", 0, 1, 0.0, of="step"))
                await index_vectors(admin)
                await asyncio.to_thread(aside.rename, place)
        except psycopg.errors.InsufficientPrivilege as error:
            raise NotAllowed(
                "the database user may not write all rows; grant it BYPASSRLS during the restore"
            ) from error
        except psycopg.OperationalError as error:
            raise StoreDown(f"the connection was lost, and the database is still empty; try again: {error}") from error
        except psycopg.DataError as error:
            raise Unreadable(f"{path} cannot be restored: {str(error).splitlines()[0]}") from error
        finally:
            await asyncio.to_thread(shutil.rmtree, aside, ignore_errors=True)
        await migrate(admin, role=role)
        async with admin.transaction():
            await admin.execute("set local search_path = pincite, public")
            await admin.execute("select set_config('pincite.person', %s, true)", (LOCAL,))
            await record(admin, AuditEntry("library.restore", details={"made_at": manifest.made_at}))
    return Restored(manifest, count)


async def _drop_empty_library(admin: Connection) -> None:
    """Drop the schema of an empty library, because the backup has its own; refuse a library with content."""
    if await fetch_one(admin, "select 1 where to_regclass('pincite.migration') is not null") is None:
        return
    await admin.execute("set row_security = off")
    for (name,) in await fetch_all(admin, "select tablename from pg_tables where schemaname = 'pincite' order by 1"):
        found = sql.SQL("select 1 from pincite.{} limit 1").format(sql.Identifier(name))
        if name not in INITIAL_TABLES and await fetch_one(admin, found) is not None:
            raise Conflict(
                f"the library is not empty (the table '{name}' has rows); a backup is restored into an empty one: "
                "choose another folder with --data, or another database"
            )
    await admin.execute("drop schema pincite cascade")


async def _load(admin: Connection, files: BlobFiles, path: Path, manifest: BackupManifest, report: Report) -> int:
    """Load the files and the rows of a backup; return the number of files."""
    await _truncate(admin, manifest)
    tables = {table.name: table for table in manifest.tables}
    count, done = 0, 0
    for name, members in _group_by_table(path):
        if name is None:
            for found, read in members:
                data = await asyncio.to_thread(read)
                await asyncio.to_thread(files.write, found["document"], found["version"], data)
                count, done = count + 1, done + 1
                report(Progress("restoring", done, manifest.members, 0.0, of="part"))
        else:
            parts = (read for _, read in members)
            done += await _fill(admin, tables[name], parts)
            report(Progress("restoring", done, manifest.members, 0.0, of="part"))
    known = {(str(d), str(v)) for d, v in await fetch_all(admin, "select document_id, id from version")}
    for document_id, version_id in await asyncio.to_thread(files.stray, known, older_than=float("inf")):
        files.remove(document_id, version_id)  # its document was removed during the backup
        count -= 1
    return count


def _group_by_table(path: Path) -> Iterator[tuple[str | None, Iterator[backup_file.Member]]]:
    yield from groupby(backup_file.members(path), key=lambda member: member[0]["table"])


async def _truncate(admin: Connection, manifest: BackupManifest) -> None:
    """Empty all tables, also of rows that migrations wrote: the backup has these, too."""
    known = {
        str(name) for (name,) in await fetch_all(admin, "select tablename from pg_tables where schemaname = 'pincite'")
    }
    if strange := {table.name for table in manifest.tables} - known:
        raise Unreadable(f"the backup has tables that its schema does not: {', '.join(sorted(strange))}")
    tables = sql.SQL(", ").join(sql.Identifier(name) for name in sorted(known - {"migration"}))
    await admin.execute(sql.SQL("truncate {}").format(tables))


async def _fill(admin: Connection, table: BackupTable, parts: Iterator[Callable[[], bytes]]) -> int:
    statement = sql.SQL("copy {} ({}) from stdin (format binary)").format(
        sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, table.columns))
    )
    cursor, count = admin.cursor(), 0
    async with cursor.copy(statement) as copy:
        for read in parts:
            await copy.write(await asyncio.to_thread(read))
            count += 1
    if cursor.rowcount != table.rows:
        raise Unreadable(f"the backup has {cursor.rowcount} rows of {table.name}, and its manifest says {table.rows}")
    return count


async def _settle(admin: Connection, files: BlobFiles, manifest: BackupManifest) -> None:
    """Set the sequences to their last values, and assign jobs and watched files to this data folder.

    The revisions become ones that the empty library never had: a process that has it open may remember those.
    """
    known = {
        str(name)
        for (name,) in await fetch_all(admin, "select sequencename from pg_sequences where schemaname = 'pincite'")
    }
    for name, last in manifest.sequences.items():
        if name in known:
            await admin.execute("select setval(%s::regclass, %s)", (f"pincite.{name}", last))
    await admin.execute(sql.SQL("update corpus set revision = {}").format(NEXT_REVISION))
    for (name,) in await fetch_all(admin, _TABLES_WITH_PLACE):
        here = sql.SQL("update {} set place = %s where place <> ''").format(sql.Identifier(name))
        await admin.execute(here, (files.place,))


_TABLES_WITH_PLACE = (
    "select table_name from information_schema.columns where table_schema = 'pincite' and column_name = 'place'"
)
