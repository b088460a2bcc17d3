"""Purge: erases removed data from the files of the database and from its write-ahead log (WAL).

A deleted row stays in its page, in the WAL and in the planner's statistics until these are rewritten.
"""

import asyncio
from collections.abc import Callable

import psycopg
from psycopg import sql

from pincite.core.accounts.audit import AuditEntry
from pincite.core.documents.document import Progress
from pincite.core.operations import PurgeResult
from pincite.errors import Conflict, DataFolderError, StoreDown
from pincite.store.access.audit_log import AuditLog
from pincite.store.access.users import LOCAL
from pincite.store.database import Connection, Database, fetch_all, fetch_one
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.documents.blobs import Blobs
from pincite.store.indexing.uploads import UploadStore

LOCK = 0x70757267  # "purg": advisory lock; one purge at a time in a database
MAX_WAIT_S = 60.0
"""Seconds to wait for transactions that still see removed rows, or that lock a table."""
POLL_S = 0.1
"""Seconds between two checks for such transactions."""
MAX_ROUNDS = 10
"""Attempts to replace the files of the WAL at most."""
STATISTICS_TABLES = ("pg_statistic", "pg_statistic_ext_data")
"""Tables in which the planner stores samples of other tables."""
MIN_CLEAR_STATS_VERSION = 180_000
"""The PostgreSQL version that can clear statistics; in earlier ones an empty table keeps its last samples."""
Report = Callable[[Progress], None]


async def purge(database: Database, files: BlobFiles, *, embedded: bool, report: Report) -> PurgeResult:
    """Rewrite every table and index, and the WAL of an embedded server; other requests wait for one table at a time."""
    await UploadStore(database, Blobs(database, files, shared=not embedded), signature="").remove_stray_files()
    async with database.administrator() as admin:
        if await fetch_one(admin, "select pg_try_advisory_lock(%s)", (LOCK,)) != (True,):
            raise Conflict("another purge of this library is running; wait until it is done")
        await admin.execute(sql.SQL("set lock_timeout = {}").format(sql.Literal(f"{MAX_WAIT_S:.0f}s")))
        before = await _size(admin)
        await _wait_for_old_transactions(admin)
        await _clear_statistics(admin)
        await admin.execute("delete from pincite.cached_answer")  # it may quote versions that were replaced
        tables = await _tables(admin)
        for number, table in enumerate(tables):
            report(Progress("rewriting", number, len(tables), 0.0, of="table"))
            await _rewrite(admin, table)
        report(Progress("rewriting", len(tables), len(tables), 0.0, of="table"))
        if embedded:
            await _renew_wal(admin, report)
        purged = PurgeResult(len(tables), before, await _size(admin), log=embedded)
    await AuditLog(database).record(LOCAL, AuditEntry("library.purge", details={"log": embedded}))
    return purged


async def _size(admin: Connection) -> int:
    row = await fetch_one(admin, "select pg_database_size(current_database())")
    assert row is not None
    return int(row[0])


async def _tables(admin: Connection) -> list[sql.Identifier]:
    """Return the tables of pincite, the small ones first, then those of the planner's statistics."""
    found = await fetch_all(
        admin,
        "select relname from pg_class where relnamespace = 'pincite'::regnamespace and relkind = 'r'"
        " order by pg_total_relation_size(oid), relname",
    )
    own = [sql.Identifier("pincite", name) for (name,) in found]
    return [*own, *(sql.Identifier("pg_catalog", name) for name in STATISTICS_TABLES)]


async def _wait_for_old_transactions(admin: Connection) -> None:
    """Wait for transactions that began earlier: rows that they can still see are not erased."""
    end = asyncio.get_running_loop().time() + MAX_WAIT_S
    row = await fetch_one(admin, "select clock_timestamp()")
    assert row is not None
    while await fetch_one(admin, _OLD_TRANSACTIONS, row) is not None:
        if asyncio.get_running_loop().time() > end:
            raise StoreDown(
                f"another transaction, such as a backup, has been running for over {MAX_WAIT_S:.0f} s and still sees "
                "removed rows; purge again when it is done"
            )
        await asyncio.sleep(POLL_S)


async def _clear_statistics(admin: Connection) -> None:
    """Clear the planner's statistics of our tables: `analyze` replaces them, but not those of an empty table."""
    if admin.info.server_version < MIN_CLEAR_STATS_VERSION:
        return
    await admin.execute(
        "select pg_clear_attribute_stats(schemaname, tablename, attname, inherited) from pg_stats"
        " where schemaname = 'pincite'"
    )


async def _rewrite(admin: Connection, table: sql.Identifier) -> None:
    try:
        await admin.execute(sql.SQL("vacuum (full, analyze) {}").format(table))
    except psycopg.errors.LockNotAvailable as error:
        raise StoreDown(
            f"{table.as_string(None)} is locked by another transaction and was not rewritten; the purge is not complete: run it again later"
        ) from error
    except psycopg.errors.DiskFull as error:
        raise DataFolderError(
            "the disk is full: rewriting a table needs as much free space as the table has; free some space"
        ) from error


async def _renew_wal(admin: Connection, report: Report) -> None:
    """Advance to new WAL files until no earlier one is left.

    The server normally recycles old files under new names, with the old bytes until they are overwritten. So recycling
    is switched off, and the files that were already recycled are advanced through, which fills them with zeroes.
    """
    await admin.execute("alter system set wal_recycle = off")
    await admin.execute("select pg_reload_conf()")
    try:
        for number in range(MAX_ROUNDS):
            last = await _advance_wal(admin, report)
            await admin.execute("checkpoint")
            await admin.execute("checkpoint")  # files stay until the previous checkpoint does not need them either
            # The first round may have begun before the server had read that recycling is off.
            if number and await fetch_one(admin, _OLD_WAL, (last,)) is None:
                return
        raise StoreDown("the server still has old WAL files; purge again when less is being written")
    finally:
        await admin.execute("alter system reset wal_recycle")
        await admin.execute("select pg_reload_conf()")


async def _advance_wal(admin: Connection, report: Report) -> str:
    """Advance the WAL beyond the last existing file; return that file's name."""
    row = await fetch_one(admin, _WAL_FILES)
    assert row is not None
    last, ahead = row
    for number in range(ahead):
        report(Progress("renewing the log", number, ahead, 0.0, of="file"))
        await admin.execute("select pg_logical_emit_message(false, 'pincite', '')")  # an empty WAL file is not switched
        await admin.execute("select pg_switch_wal()")
    return str(last)


_OLD_TRANSACTIONS = """
    select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and xact_start < %s and (backend_xmin is not null or backend_xid is not null)
"""
# The last existing file, and the number of files from the current one on.
_WAL_FILES = """
    select max(name), count(*) filter (where name >= pg_walfile_name(pg_current_wal_insert_lsn()))::int
    from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'
"""
# A file that existed before, or was recycled for later use: its bytes may be old.
_OLD_WAL = """
    select 1 from pg_ls_waldir()
    where name ~ '^[0-9A-F]{24}$' and (name <= %s or name > pg_walfile_name(pg_current_wal_insert_lsn())) limit 1
"""
