"""Purging: what was removed cannot be found in the database's files any more, nor in its log.

A row that was deleted stays in its page, in the log and in what the planner has noted until these are written anew.
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

LOCK = 0x70757267  # "purg": one at a time in a database
MAX_WAIT_S = 60.0
"""How long it waits for whoever still sees what was removed, or holds a table."""
POLL_S = 0.1
MAX_ROUNDS = 10
STATISTICS_TABLES = ("pg_statistic", "pg_statistic_ext_data")
"""Where the planner keeps samples of what is in the tables."""
MIN_CLEAR_STATS_VERSION = 180_000
"""The version of PostgreSQL from which on samples can be dropped; before, an empty table keeps its last ones."""
Report = Callable[[Progress], None]


async def purge(database: Database, files: BlobFiles, *, embedded: bool, report: Report) -> PurgeResult:
    """Write every table and index anew, and the log of an embedded server; others wait for a table at a time."""
    await UploadStore(database, Blobs(database, files, shared=not embedded), signature="").remove_stray_files()
    async with database.administrator() as admin:
        if await fetch_one(admin, "select pg_try_advisory_lock(%s)", (LOCK,)) != (True,):
            raise Conflict("somebody else is purging this library; wait until that is done")
        await admin.execute(sql.SQL("set lock_timeout = {}").format(sql.Literal(f"{MAX_WAIT_S:.0f}s")))
        before = await _size(admin)
        await _wait_for_old_transactions(admin)
        await _clear_statistics(admin)
        await admin.execute("delete from pincite.cached_answer")  # what it repeats may have been replaced since
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
    """Ours, the small ones first, and then the planner's."""
    found = await fetch_all(
        admin,
        "select relname from pg_class where relnamespace = 'pincite'::regnamespace and relkind = 'r'"
        " order by pg_total_relation_size(oid), relname",
    )
    own = [sql.Identifier("pincite", name) for (name,) in found]
    return [*own, *(sql.Identifier("pg_catalog", name) for name in STATISTICS_TABLES)]


async def _wait_for_old_transactions(admin: Connection) -> None:
    """Wait for those who began before: as long as they look, rows removed since are not let go of."""
    end = asyncio.get_running_loop().time() + MAX_WAIT_S
    row = await fetch_one(admin, "select clock_timestamp()")
    assert row is not None
    while await fetch_one(admin, _OLD_TRANSACTIONS, row) is not None:
        if asyncio.get_running_loop().time() > end:
            raise StoreDown(
                f"something else in the database has been at work for over {MAX_WAIT_S:.0f} s and still sees what was "
                "removed, a backup perhaps; purge again when it is done"
            )
        await asyncio.sleep(POLL_S)


async def _clear_statistics(admin: Connection) -> None:
    """Drop what the planner noted of our tables: analysing makes it anew, but not where a table is empty now."""
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
            f"{table.as_string(None)} is in use and could not be rewritten; what came before it is; purge again later"
        ) from error
    except psycopg.errors.DiskFull as error:
        raise DataFolderError("rewriting a table takes as much space again as it has, and the disk is full") from error


async def _renew_wal(admin: Connection, report: Report) -> None:
    """Go on in new files of the log until none is left that was there before.

    The server uses old ones again under new names, with the old bytes in them until they are written over. So it is
    told to throw them away instead, and walks through those it had laid by, which fills them with zeroes.
    """
    await admin.execute("alter system set wal_recycle = off")
    await admin.execute("select pg_reload_conf()")
    try:
        for number in range(MAX_ROUNDS):
            last = await _advance_wal(admin, report)
            await admin.execute("checkpoint")
            await admin.execute("checkpoint")  # old files stay until the one before is not needed either
            # The first round may have begun before the server had heard that it should throw them away.
            if number and await fetch_one(admin, _OLD_WAL, (last,)) is None:
                return
        raise StoreDown("the server keeps old files of its log; purge again when less is being written")
    finally:
        await admin.execute("alter system reset wal_recycle")
        await admin.execute("select pg_reload_conf()")


async def _advance_wal(admin: Connection, report: Report) -> str:
    """Write on behind the last file that is there now; the name of that one."""
    row = await fetch_one(admin, _WAL_FILES)
    assert row is not None
    last, ahead = row
    for number in range(ahead):
        report(Progress("renewing the log", number, ahead, 0.0, of="file"))
        await admin.execute("select pg_logical_emit_message(false, 'pincite', '')")  # an empty file is not left
        await admin.execute("select pg_switch_wal()")
    return str(last)


_OLD_TRANSACTIONS = """
    select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and xact_start < %s and (backend_xmin is not null or backend_xid is not null)
"""
# The last file that is there, and how many there are from the one being written on.
_WAL_FILES = """
    select max(name), count(*) filter (where name >= pg_walfile_name(pg_current_wal_insert_lsn()))::int
    from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'
"""
# One that was there before, or lies ahead again: its bytes may be old ones.
_OLD_WAL = """
    select 1 from pg_ls_waldir()
    where name ~ '^[0-9A-F]{24}$' and (name <= %s or name > pg_walfile_name(pg_current_wal_insert_lsn())) limit 1
"""
