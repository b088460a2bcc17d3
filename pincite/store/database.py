"""The connection pool, and transactions that run for one person."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, LiteralString, Self

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from pincite.core.accounts.access import Scope
from pincite.core.request_context import read_only
from pincite.errors import DataFolderError, PinciteError, SettingsError, StoreDown, StoreReadOnly
from pincite.store import bound
from pincite.store.connect import CONNECT_TIMEOUT_S, administrator_of, borrow, check_pooler, resilient
from pincite.store.local_settings import become, bound_settings, set_local
from pincite.store.migrate import INDEX_LOCK, MIGRATION_LOCK, index_vectors, migrate
from pincite.store.replicas import Replicas
from pincite.store.roles import APP_ROLE, first_line

log = logging.getLogger(__name__)
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # lost connections are replaced; the caller reports a failure

PREPARE_THRESHOLD = 5
"""Executions of a statement on one connection after which it is prepared."""
RECONNECT_S = 2.0
"""Seconds for which a lost connection is tried again; then the next request opens one, without a growing pause."""
RETRY_S = 0.3
"""Seconds between attempts to reach a lost server, the new primary after a failover."""
TIMEOUTS: Mapping[str, str] = MappingProxyType({"lock_timeout": "15s", "statement_timeout": "60s"})
"""Timeouts of a statement for locks and in total, so that no request hangs on the database."""
LONG_TIMEOUTS: Mapping[str, str] = MappingProxyType({"lock_timeout": "60s", "statement_timeout": "10min"})
"""Timeouts of statements whose duration grows with a document or the library, and for which no question waits."""
FIXED_PLAN: Mapping[str, str] = MappingProxyType({"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"})
"""Settings of statements that look rows up by key: they are planned once per connection, by their indexes."""
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
SESSION: Mapping[str, str] = MappingProxyType(
    # A generic plan, made without the values of the filter, is ten times slower than planning each time.
    {"search_path": "pincite, public", "plan_cache_mode": "force_custom_plan"}
)
"""Settings of every transaction besides role, timeouts and person: a pooler keeps nothing between transactions."""
_NOT_DURABLE: Mapping[str, str] = MappingProxyType({"synchronous_commit": "off"})
Connection = AsyncConnection[TupleRow]
Restart = Callable[[], Awaitable[None]]
Parameters = Sequence[Any] | Mapping[str, Any]
Query = sql.Composed | LiteralString | bytes


class Database:
    """A pool of connections; each transaction sets the unprivileged role and runs for one person.

    Behind a pooler such as pgbouncer, a connection has no state between transactions, and nothing is prepared.
    """

    def __init__(
        self,
        pool: "AsyncConnectionPool[Connection]",
        url: str,
        restart: Restart | None,
        direct_url: str | None,
        role: str,
        *,
        prepares: bool,
    ) -> None:
        self._pool = pool
        self._url = url
        self._direct_url = direct_url
        self._role = role
        self._restart = restart
        self._restarting: asyncio.Task[None] | None = None
        self._closed = False
        self._prepares = prepares
        self.replicas: Replicas | None = None

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        pool_size: int,
        restart: Restart | None = None,
        direct_url: str | None = None,
        role: str = APP_ROLE,
        read_urls: Sequence[str] = (),
    ) -> Self:
        """Connect, migrate the schema and fill the pool; `restart` is called when the server cannot be reached.

        `direct_url` is the address without a pooler, to listen for notifications and for work of the schema's owner.
        `read_urls` are addresses of replicas.
        """
        url, direct_url = resilient(url), resilient(direct_url) if direct_url else None
        behind_pooler = await check_pooler(url)
        async with administrator_of(direct_url or url) as admin:
            await migrate(admin, role=role)
        pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            min_size=2,
            max_size=pool_size,
            open=False,
            timeout=CONNECT_TIMEOUT_S,
            reconnect_timeout=RECONNECT_S,
            configure=None if behind_pooler else partial(become, role),
            name="pincite",
            # `begin` is sent together with the settings of the transaction. A prepared statement belongs to one
            # connection of the server, and a pooler may give each transaction another one.
            kwargs={"autocommit": True, "prepare_threshold": None if behind_pooler else PREPARE_THRESHOLD},
        )
        try:
            await pool.open(wait=True, timeout=CONNECT_TIMEOUT_S)
        except PoolTimeout as error:
            await pool.close()
            raise StoreDown(f"the database does not accept connections: {error}") from error
        made = cls(
            pool, url, restart, direct_url if behind_pooler else direct_url or url, role, prepares=not behind_pooler
        )
        made.replicas = await Replicas.open(read_urls, pool_size) if read_urls else None
        return made

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        if self._restarting is not None:
            if self._restart is None:
                self._restarting.cancel()
            await asyncio.gather(self._restarting, return_exceptions=True)
        if self.replicas is not None:
            await self.replicas.close()
        await self._pool.close(timeout=5)

    @asynccontextmanager
    async def transaction(
        self, person: str, *, durable: bool = True, local: Mapping[str, str] = NO_SETTINGS
    ) -> AsyncIterator[Connection]:
        """Begin a transaction that sees the rows of `person`; `local` are further PostgreSQL settings for it.

        A transaction that is not durable does not wait for the disk: a crash may undo it, but then also everything
        after it. That suits progress, leases, traces and editions that are not searched yet.
        """
        begin = sql.SQL("begin; ") + set_local(self._settings_for(person, durable, local))
        async with self._pooled() as connection:
            await connection.execute(begin, prepare=False)
            yield connection

    async def run_batch(
        self,
        person: str,
        *queries: Query,
        values: Mapping[str, Any],
        durable: bool = True,
        local: Mapping[str, str] = NO_SETTINGS,
        by_key: bool = False,
    ) -> list[list[TupleRow]]:
        """Run statements in one transaction and one round trip; return the rows of each.

        Statements that are sent together are one transaction, so the person is set for these only. A question makes
        many small searches, and on a busy machine every round trip costs waiting time. Statements that look rows up
        `by_key` are prepared and planned once per connection: planning takes longer than running them.
        """
        prepared = by_key and self._prepares
        statements = [bound.bind(_as_bytes(query), values, prepared=prepared) for query in queries]
        local = {**FIXED_PLAN, **local} if prepared else local
        return await self._send(self._settings_for(person, durable, local), statements, prepared=prepared)

    async def read_batch(
        self,
        scope: Scope,
        *queries: Query,
        values: Mapping[str, Any],
        local: Mapping[str, str] = NO_SETTINGS,
        by_key: bool = False,
    ) -> list[list[TupleRow]]:
        """Run statements that only read, as `run_batch` does: on a replica that has all that the scope saw, if any."""
        prepared = by_key and self._prepares
        statements = [bound.bind(_as_bytes(query), values, prepared=prepared) for query in queries]
        settings = self._settings_for(scope.person, True, {**FIXED_PLAN, **local} if prepared else local)
        if self.replicas is not None and scope.position:
            found = await self.replicas.run(scope.position, bound_settings(settings), statements)
            if found is not None:
                return found
        return await self._send(settings, statements, prepared=prepared)

    async def run_each(
        self, person: str, query: Query, values: Sequence[Mapping[str, Any]], *, durable: bool = True
    ) -> list[list[TupleRow]]:
        """Run a statement with each of several sets of values, in one transaction and one round trip; planned once."""
        statements = [bound.bind(_as_bytes(query), each, prepared=self._prepares) for each in values]
        local = FIXED_PLAN if self._prepares else NO_SETTINGS
        return await self._send(self._settings_for(person, durable, local), statements, prepared=self._prepares)

    async def _send(
        self, settings: Mapping[str, str], statements: Sequence[bound.Bound], *, prepared: bool = False
    ) -> list[list[TupleRow]]:
        async with self._pooled() as connection:
            _, *found = await bound.run(connection, [bound_settings(settings, prepared=prepared), *statements])
        return found

    @asynccontextmanager
    async def _pooled(self) -> AsyncIterator[Connection]:
        """Yield a connection of the pool; its errors are raised as errors of pincite."""
        try:
            async with borrow(self._pool) as connection:
                try:
                    yield connection
                except psycopg.OperationalError as error:
                    raise self._to_error(error, lost=connection.broken) from error
                except psycopg.errors.ReadOnlySqlTransaction as error:
                    if read_only.get():  # the administrator views another person's library, and that changes nothing
                        raise
                    await connection.close()  # the next one may lead to the new primary
                    raise StoreReadOnly("the database is read-only, as a replica is; nothing can be written") from error
        except (PoolTimeout, PoolClosed, psycopg.OperationalError) as error:
            raise self._to_error(error, lost=True) from error

    def _settings_for(self, person: str, durable: bool, local: Mapping[str, str]) -> dict[str, str]:
        """Return the settings of one transaction; it is read-only while an administrator views another's library."""
        own = {"role": self._role, **SESSION, **TIMEOUTS, "pincite.person": person}
        viewing = {"transaction_read_only": "on"} if read_only.get() else {}
        return {**own, **({} if durable else _NOT_DURABLE), **viewing, **local}

    @property
    def can_listen(self) -> bool:
        """Whether a direct connection exists, on which notifications arrive."""
        return self._direct_url is not None

    @asynccontextmanager
    async def listen(self, channel: str) -> AsyncIterator[Connection]:
        """Open a direct connection with the unprivileged role and autocommit that receives a channel's notifications."""
        assert self._direct_url is not None
        async with administrator_of(self._direct_url) as connection:
            await become(self._role, connection, SESSION["search_path"])
            await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
            yield connection

    @asynccontextmanager
    async def administrator(self) -> AsyncIterator[Connection]:
        """Open a direct connection with the rights of the schema's owner, for work on the whole library."""
        if self._direct_url is None:
            raise SettingsError(
                "this needs a connection without a pooler: set database.direct_url to the address of PostgreSQL itself"
            )
        async with administrator_of(self._direct_url) as connection:
            try:
                yield connection
            except psycopg.OperationalError as error:
                raise self._to_error(error, lost=connection.broken) from error

    def _to_error(self, error: Exception, *, lost: bool) -> PinciteError:
        """Return the error for the caller; one task at a time replaces what was lost, in the background."""
        if isinstance(error, psycopg.errors.DiskFull):
            return DataFolderError("the database's disk is full: free some space; the change was not written")
        if isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure):
            return StoreDown("the change conflicts with a concurrent one in the database; try again")
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return StoreDown("the database is locked by another operation; try again")
        if isinstance(error, psycopg.errors.QueryCanceled):
            return StoreDown("the database took too long and the statement was cancelled; try again")
        if lost and not self._closed and (self._restarting is None or self._restarting.done()):
            self._restarting = asyncio.create_task(self._recover())
        return StoreDown(f"the database cannot be reached: {first_line(error)}")

    async def _recover(self) -> None:
        """Restart an embedded server, and replace every connection that was lost with it."""
        try:
            if self._restart is not None:
                await self._restart()
            await self._wait_for_server()
            if not self._closed:
                await self._pool.check()
        except PinciteError as error:
            log.warning("the database could not be restarted: %s", error)

    async def _wait_for_server(self) -> None:
        while not self._closed:
            try:
                async with administrator_of(self._url):
                    return
            except StoreDown:
                await asyncio.sleep(RETRY_S)

    def connections(self) -> dict[str, float]:
        """Return the pool's open, idle and allowed connections, and the number of requests that wait for one."""
        stats = self._pool.get_stats()
        names = {"open": "pool_size", "idle": "pool_available", "most": "pool_max", "waited_for": "requests_waiting"}
        return {state: float(stats.get(name, 0)) for state, name in names.items()}

    async def library_id(self) -> str:
        """Return the id of the library in this database."""
        async with self.transaction("") as connection:
            row = await fetch_one(connection, "select id from library")
        assert row is not None
        return str(row[0])

    async def register_model(self, name: str, dimensions: int) -> int:
        """Return the id of an embedding model, also of a new one; `index_vectors` creates its index."""
        async with administrator_of(self._url) as admin, admin.transaction():
            await admin.execute("select pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            await admin.execute("set local search_path = pincite, public")
            known = await _known_model(admin, name, dimensions)
            if known is not None:
                return known
            row = await fetch_one(
                admin, "insert into embedding_model (name, dimensions) values (%s, %s) returning id", (name, dimensions)
            )
            assert row is not None
            return int(row[0])

    async def index_vectors(self, least: int) -> bool:
        """Create missing vector indexes if the library has at least so many vectors; return whether that was done.

        An index that is built at once takes a fraction of the time of one that grows vector by vector. Meanwhile
        searches compare all vectors, and changes of documents wait. After a failure the next call tries again.
        """
        [[(wanted,)]] = await self.run_batch("", _INDEX_WANTED, values={"least": least})
        if not wanted:
            return False
        try:
            async with administrator_of(self._url) as admin, admin.transaction():
                await admin.execute("select pg_advisory_xact_lock(%s)", (INDEX_LOCK,))
                await admin.execute("set local search_path = pincite, public")
                await admin.execute("set local maintenance_work_mem = '128MB'")
                # Parallel workers would need as much shared memory, which containers seldom have.
                await admin.execute("set local max_parallel_maintenance_workers = 0")
                await index_vectors(admin)
        except psycopg.OperationalError as error:
            raise self._to_error(error, lost=False) from error
        return True

    async def check_model(self, name: str, dimensions: int) -> None:
        """Raise the error that registering an embedding model would raise, without registering it."""
        async with self.transaction("") as connection:
            await _known_model(connection, name, dimensions)


_INDEX_WANTED = """
    select exists (select from embedding_model where to_regclass('pincite.vector_near_' || id) is null)
       and all_vectors() >= %(least)s
"""


async def _known_model(connection: Connection, name: str, dimensions: int) -> int | None:
    found = await fetch_one(connection, "select id, dimensions from embedding_model where name = %s", (name,))
    if found is not None and found[1] != dimensions:
        raise SettingsError(
            f"the model '{name}' is registered with {found[1]} dimensions, not {dimensions}; "
            "correct embedding.dimensions, or give the other model another name"
        )
    return None if found is None else int(found[0])


async def fetch_one(connection: Connection, query: Query, parameters: Parameters = ()) -> TupleRow | None:
    """Return the first row of a query, or None."""
    return await (await connection.execute(query, parameters)).fetchone()


async def fetch_all(connection: Connection, query: Query, parameters: Parameters = ()) -> list[TupleRow]:
    """Return all rows of a query."""
    return await (await connection.execute(query, parameters)).fetchall()


def _as_bytes(query: Query) -> bytes:
    if isinstance(query, sql.Composed):
        return query.as_bytes(None)
    return query.encode() if isinstance(query, str) else query


async def health(database: Database, person: str) -> dict[str, Any]:
    """Return the versions, role and size of the database, for `doctor` and the health routes."""
    query = """
        select current_setting('server_version'), (select extversion from pg_extension where extname = 'vector'),
               (select max(number) from migration), current_user::text, pg_database_size(current_database()),
               pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool"""
    async with database.transaction(person) as connection:
        row = await fetch_one(connection, query)
    assert row is not None
    return dict(zip(("postgresql", "pgvector", "schema", "role", "bytes", "read_only"), row, strict=True))


Columns = Mapping[str, LiteralString]
"""The name of each value → its SQL expression, in the order of the `select` list."""


def select_list(columns: Columns) -> LiteralString:
    """Return the expressions of the columns as a `select` list."""
    return ", ".join(columns.values())


def by_name(columns: Columns, row: Sequence[Any]) -> dict[str, Any]:
    """Return the values of a row by the names of its columns; values after the last column are ignored."""
    return dict(zip(columns, row, strict=False))
