"""Backup: one snapshot of the database and its files, written to one file while the library is in use."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from pathlib import Path
from typing import IO

import psycopg
from psycopg import sql

from pincite import __version__
from pincite.core.accounts.audit import AuditEntry
from pincite.core.documents.document import Progress
from pincite.core.operations import Backup, BackupManifest, BackupTable
from pincite.errors import DataFolderError, Invalid, NotAllowed
from pincite.store.access.audit_log import AuditLog
from pincite.store.access.users import LOCAL
from pincite.store.database import Connection, Database, fetch_all, fetch_one
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.operations.backup_file import Writer

PART_BYTES = 8 * 2**20
"""Bytes of a table that are buffered at a time; a longer row is buffered whole."""
EXCLUDED_TABLES = frozenset(
    {"migration", "reader", "login", "setup", "failed_login", "cached_answer", "query_vector", "spent", "streaming"}
)
"""Tables that are not backed up: derived or short-lived rows, login sessions and running requests."""
TRACE_TABLES = frozenset({"trace", "span"})
Report = Callable[[Progress], None]


async def back_up(database: Database, files: BlobFiles, target: Path, *, traces: bool, report: Report) -> Backup:
    """Write a backup to a file, which is complete or does not exist."""
    try:
        with _atomic_file(target) as file, Writer(file) as writer:
            async with (
                database.administrator() as admin,
                _snapshot_with_files(admin, files, writer, report) as (copied, missing),
            ):
                names = [table for table in await _tables(admin) if traces or table[0] not in TRACE_TABLES]
                tables = [await _write_table(admin, writer, *table, report) for table in names]
                manifest = await _manifest(admin, tables, missing)
                row = await fetch_one(admin, "select now()")  # the snapshot's time: what changes meanwhile is later
            await asyncio.to_thread(writer.seal, manifest)
    except psycopg.errors.InsufficientPrivilege as error:
        raise NotAllowed(
            "the database user may not read all rows; grant it BYPASSRLS, or use the backup of the database server"
        ) from error
    backup = Backup(target, os.stat(target).st_size, manifest.documents, copied, missing)
    async with database.administrator() as admin:
        await admin.execute(
            "insert into pincite.backup (made_at, documents, bytes, traces) values (%s, %s, %s, %s)",
            (row[0] if row else datetime.now(UTC), backup.documents, backup.bytes, traces),
        )
    details = {"documents": backup.documents, "bytes": backup.bytes, "traces": traces}
    await AuditLog(database).record(LOCAL, AuditEntry("library.backup", details=details))
    return backup


async def last_backup(database: Database) -> datetime | None:
    """Return the time of the last backup of the library, if any."""
    async with database.transaction("") as connection:
        row = await fetch_one(connection, "select max(made_at) from backup")
    return row[0] if row else None


async def documents_since(database: Database, moment: datetime) -> tuple[frozenset[str], frozenset[str]]:
    """Return the ids of all people's documents that were added or changed since, and of those that were removed.

    The audit log has them, also those that the local administrator may not read.
    """
    async with database.transaction(LOCAL) as connection:
        found = await fetch_all(connection, _DOCUMENT_EVENTS, (moment, moment))
    removed = frozenset(document for document, event in found if event == "document.remove")
    return frozenset(document for document, _ in found) - removed, removed


@contextmanager
def _atomic_file(target: Path) -> Iterator[IO[bytes]]:
    """Yield a temporary file that is renamed to the target once it is complete and on disk."""
    if target.exists():
        raise Invalid(f"{target} exists already; name another file, or remove it first")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        raise DataFolderError(f"the backup cannot be written to {target}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


@asynccontextmanager
async def _snapshot_with_files(
    admin: Connection, files: BlobFiles, writer: Writer, report: Report
) -> AsyncIterator[tuple[int, tuple[str, ...]]]:
    """Hold a snapshot of the database whose files are all in the backup; yield their number and the missing ones.

    A file may disappear while others are copied, because its document is removed. Then a new snapshot is taken, without
    that document: a file is missing only if it is missing in two snapshots.
    """
    copied: set[tuple[str, str]] = set()
    missing: set[tuple[str, str]] = set()
    while True:
        await _begin_snapshot(admin)
        versions = [(str(d), str(v)) for d, v in await fetch_all(admin, _ON_DISK)]
        absent = set()
        for number, (document_id, version_id) in enumerate(versions, start=1):
            if (document_id, version_id) in copied:
                continue
            name, path = f"files/{document_id}/{version_id}", files.path(document_id, version_id)
            try:
                await asyncio.to_thread(writer.add_file, name, path)
                copied.add((document_id, version_id))
            except FileNotFoundError:
                absent.add((document_id, version_id))
            report(Progress("copying files", number, len(versions), 0.0))
        if absent <= missing:
            break
        missing = absent
        await admin.execute("rollback")
    try:
        yield len(copied), tuple(sorted("/".join(version) for version in absent))
    finally:
        with suppress(psycopg.Error):
            await admin.execute("rollback")


async def _begin_snapshot(admin: Connection) -> None:
    """Begin a read-only snapshot of the whole database."""
    await admin.execute("begin isolation level repeatable read read only")
    await admin.execute("set local search_path = pincite, public")
    # Without it, rows hidden by row-level security would be left out silently; with it, they raise an error.
    await admin.execute("set local row_security = off")


async def _tables(admin: Connection) -> list[tuple[str, list[str]]]:
    """Return every table with its stored columns, each table after those it references."""
    columns = {str(name): [str(column) for column in names] for name, names in await fetch_all(admin, _COLUMNS)}
    refers: dict[str, set[str]] = {name: set() for name in columns}
    for name, to in await fetch_all(admin, _REFERENCES):
        refers[name].add(to)
    return [(name, columns[name]) for name in TopologicalSorter(refers).static_order() if name not in EXCLUDED_TABLES]


async def _write_table(
    admin: Connection, writer: Writer, name: str, columns: Sequence[str], report: Report
) -> BackupTable:
    copy_out = sql.SQL("copy (select {} from {}) to stdout (format binary)").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(name)
    )
    parts, buffer = 0, bytearray()

    async def write_part() -> None:
        nonlocal parts
        await asyncio.to_thread(writer.add, f"tables/{name}/{parts:06}", bytes(buffer))
        parts += 1
        buffer.clear()

    cursor = admin.cursor()
    async with cursor.copy(copy_out) as copy:
        async for piece in copy:
            buffer += piece
            if len(buffer) >= PART_BYTES:
                await write_part()
    await write_part()
    report(Progress(f"copying {name.replace('_', ' ')}", parts, parts, 0.0, of="part"))
    return BackupTable(name, tuple(columns), cursor.rowcount)


async def _manifest(admin: Connection, tables: Sequence[BackupTable], missing: Sequence[str]) -> BackupManifest:
    found = await fetch_one(
        admin,
        "select (select max(number) from migration), (select id from library), (select count(*) from document)",
    )
    assert found is not None
    counters = await fetch_all(admin, "select sequencename, last_value from pg_sequences where schemaname = 'pincite'")
    return BackupManifest(
        pincite=__version__,
        schema=found[0],
        library=found[1],
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        documents=found[2],
        tables=tuple(tables),
        sequences={name: last for name, last in counters if last is not None},
        missing=tuple(missing),
    )


# Versions whose file is on disk; files in the database are part of its tables.
_ON_DISK = """
    select document_id, id from version v where not exists (select from piece p where p.version = v.key) order by key
"""
# Without generated columns, which the database computes again.
_COLUMNS = """
    select c.relname::text, array_agg(a.attname::text order by a.attnum) from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'pincite'::regnamespace and c.relkind = 'r' group by c.relname order by c.relname
"""
_REFERENCES = """
    select distinct conrelid::regclass::text, confrelid::regclass::text from pg_constraint
    where contype = 'f' and connamespace = 'pincite'::regnamespace and conrelid <> confrelid
"""
_DOCUMENT_EVENTS = """
    select replace(subject, 'document:', ''), event from audit_event
    where at > %s and subject like 'document:%%' and event like 'document.%%'
    union
    select listed.id, a.event from audit_event a
    cross join lateral jsonb_array_elements_text(a.content::jsonb -> 'details' -> 'documents') as listed (id)
    where a.at > %s and a.event = 'document.add'
"""
