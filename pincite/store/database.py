"""The pool, and transactions with the caller's scope set."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Any, LiteralString, Self

import psycopg
from psycopg import AsyncClientCursor, AsyncConnection, sql
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from pincite.core.request_context import read_only
from pincite.errors import DataFolderError, PinciteError, SettingsError, StoreDown
from pincite.store.migrate import APP_ROLE, LOCK, first_line, migrate, vector_index

log = logging.getLogger(__name__)

WAIT_S = 15.0
TIMEOUTS: Mapping[str, str] = MappingProxyType({"lock_timeout": "15s", "statement_timeout": "60s"})
"""How long a statement may wait for others, and take altogether: a request never hangs on the database."""
LONG_WORK: Mapping[str, str] = MappingProxyType({"lock_timeout": "60s", "statement_timeout": "10min"})
"""The same where the work grows with a document or with the library, and nobody's question waits for it."""
REMEMBER: Mapping[str, str] = MappingProxyType({"pincite.remember": "on"})
"""What somebody may read is worked out once: for short transactions that read, not for those that change who may read."""
NOTHING: Mapping[str, str] = MappingProxyType({})
_LAX: Mapping[str, str] = MappingProxyType({"synchronous_commit": "off"})
Connection = AsyncConnection[TupleRow]
Revive = Callable[[], Awaitable[None]]
Parameters = Sequence[Any] | Mapping[str, Any]
Query = sql.Composed | LiteralString | bytes


class Database:
    """A pool of connections that work as the unprivileged role, each transaction for one person."""

    def __init__(self, pool: "AsyncConnectionPool[Connection]", url: str, revive: Revive | None) -> None:
        self._pool = pool
        self._url = url
        self._revive = revive
        self._reviving: asyncio.Task[None] | None = None
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, pool_size: int, revive: Revive | None = None) -> Self:
        """Connect, bring the schema up to date and fill the pool; `revive` is called when the server is gone."""
        async with administrator_of(url) as admin:
            await migrate(admin)
        pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url, min_size=2, max_size=pool_size, open=False, timeout=WAIT_S, configure=_become_app, name="pincite",
            kwargs={"autocommit": True},  # transactions are begun together with what they are begun for
        )  # fmt: skip
        try:
            await pool.open(wait=True, timeout=WAIT_S)
        except PoolTimeout as error:
            await pool.close()
            raise StoreDown(f"the database does not accept connections: {error}") from error
        return cls(pool, url, revive)

    async def close(self) -> None:
        """Give every connection back."""
        self._closed = True
        if self._reviving is not None:
            await asyncio.gather(self._reviving, return_exceptions=True)
        await self._pool.close(timeout=5)

    @asynccontextmanager
    async def transaction(
        self, person: str, *, durable: bool = True, local: Mapping[str, str] = NOTHING
    ) -> AsyncIterator[Connection]:
        """A transaction that sees what `person` may see; `local` are further settings for it alone.

        One that is not durable does not wait for the disk: a crash may undo it, but never without undoing
        everything after it. That is right for progress, leases, traces and passages nobody is served yet.
        """
        begin = sql.SQL("begin; ") + _set_local(_settings_for(person, durable, local))
        async with self._pooled() as connection:
            await connection.execute(begin, prepare=False)
            yield connection

    async def run_batch(
        self,
        person: str,
        *queries: Query,
        values: Mapping[str, Any],
        durable: bool = True,
        local: Mapping[str, str] = NOTHING,
    ) -> list[list[TupleRow]]:
        """The same for statements that are known beforehand: what each brings, after one round trip for all of it.

        Statements sent together are one transaction, so that who asks is set for it alone, as anywhere else. A question
        makes many small searches, and on a busy machine every round trip waits for its turn.
        """
        own = {**REMEMBER, **_settings_for(person, durable, local)}
        statements = [query.as_bytes(None) if isinstance(query, sql.Composed) else query for query in queries]
        together = [
            _settings_by_name(tuple(own)),
            *(one.encode() if isinstance(one, str) else one for one in statements),
        ]
        async with self._pooled() as connection:
            cursor = AsyncClientCursor(connection)
            await cursor.execute(b"; ".join(together), {**values, **own}, prepare=False)
            found = []
            while cursor.nextset():
                found.append(await cursor.fetchall() if cursor.description else [])
        return found

    @asynccontextmanager
    async def _pooled(self) -> AsyncIterator[Connection]:
        """A connection of the pool; what goes wrong with it is told in our words."""
        try:
            async with self._pool.connection() as connection:
                try:
                    yield connection
                except psycopg.OperationalError as error:
                    raise self._told(error, lost=connection.broken) from error
        except (PoolTimeout, PoolClosed, psycopg.OperationalError) as error:
            raise self._told(error, lost=True) from error

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection beside the pool for as long as it is needed, each statement for itself: to listen on."""
        async with administrator_of(self._url) as connection:
            await _become_app(connection)
            yield connection

    @asynccontextmanager
    async def administrator(self) -> AsyncIterator[Connection]:
        """A connection beside the pool with the rights of the schema's owner: for what is about all of a library."""
        async with administrator_of(self._url) as connection:
            try:
                yield connection
            except psycopg.OperationalError as error:
                raise self._told(error, lost=connection.broken) from error

    def _told(self, error: Exception, *, lost: bool) -> PinciteError:
        """What went wrong in words; a server that was lost is started again, once at a time, meanwhile callers know."""
        if isinstance(error, psycopg.errors.DiskFull):
            return DataFolderError("the database's disk is full: free some space; nothing was half-written")
        if isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure):
            return StoreDown("the database was asked for two things that clash; try again")
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return StoreDown("something else in the database holds what this needs; try again")
        if isinstance(error, psycopg.errors.QueryCanceled):
            return StoreDown("the database took too long and was stopped; try again")
        if lost and not self._closed and self._revive and (self._reviving is None or self._reviving.done()):
            self._reviving = asyncio.create_task(self._revived())
        return StoreDown(f"the database cannot be reached: {first_line(error)}")

    async def _revived(self) -> None:
        assert self._revive is not None
        try:
            await self._revive()
            await self._pool.check()
        except PinciteError as error:
            log.warning("the database could not be started again: %s", error)

    def connections(self) -> dict[str, float]:
        """How the pool is used: connections open, idle and allowed, and how many requests wait for one."""
        stats = self._pool.get_stats()
        names = {"open": "pool_size", "idle": "pool_available", "most": "pool_max", "waited_for": "requests_waiting"}
        return {state: float(stats.get(name, 0)) for state, name in names.items()}

    async def library_id(self) -> str:
        """Which library this database holds."""
        async with self.transaction("") as connection:
            row = await one(connection, "select id from library")
        assert row is not None
        return str(row[0])

    async def register_model(self, name: str, dimensions: int) -> int:
        """The id of an embedding model's vectors; its index is made the first time it is seen."""
        async with administrator_of(self._url) as admin, admin.transaction():
            await admin.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
            await admin.execute("set local search_path = pincite, public")
            known = await _known_model(admin, name, dimensions)
            if known is not None:
                return known
            row = await one(
                admin, "insert into embedding_model (name, dimensions) values (%s, %s) returning id", (name, dimensions)
            )
            assert row is not None
            await admin.execute(vector_index(int(row[0]), dimensions))
            return int(row[0])

    async def check_model(self, name: str, dimensions: int) -> None:
        """Raise what registering an embedding model would, and write nothing."""
        async with self.connection() as connection:
            await _known_model(connection, name, dimensions)


async def _known_model(connection: Connection, name: str, dimensions: int) -> int | None:
    found = await one(connection, "select id, dimensions from embedding_model where name = %s", (name,))
    if found is not None and found[1] != dimensions:
        raise SettingsError(
            f"the model '{name}' is known here with {found[1]} dimensions, not {dimensions}; "
            "correct embedding.dimensions, or give the other model another name"
        )
    return None if found is None else int(found[0])


async def one(connection: Connection, query: Query, parameters: Parameters = ()) -> TupleRow | None:
    """The first row, or None where there is none."""
    return await (await connection.execute(query, parameters)).fetchone()


async def rows(connection: Connection, query: Query, parameters: Parameters = ()) -> list[TupleRow]:
    """Every row."""
    return await (await connection.execute(query, parameters)).fetchall()


async def _become_app(connection: Connection) -> None:
    await connection.execute(sql.SQL("set role {}").format(sql.Identifier(APP_ROLE)))
    await connection.execute("set search_path = pincite, public")
    # A plan made without knowing the filter is ten times slower than making one anew.
    await connection.execute("set plan_cache_mode = force_custom_plan")
    for name, longest in TIMEOUTS.items():
        await connection.execute(sql.SQL("set {} = {}").format(sql.Identifier(name), sql.Literal(longest)))
    await connection.commit()


def _settings_for(person: str, durable: bool, local: Mapping[str, str]) -> dict[str, str]:
    """What holds for one transaction: whose it is, and nothing is written where somebody looks at another's things."""
    looks = {"transaction_read_only": "on"} if read_only.get() else {}
    return {"pincite.person": person, **({} if durable else _LAX), **looks, **local}


def _set_local(values: Mapping[str, str] | Mapping[str, sql.Placeholder]) -> sql.Composed:
    """Settings for one transaction, as a statement."""
    calls = [sql.SQL("set_config({}, {}, true)").format(name, value) for name, value in values.items()]
    return sql.SQL("select {}").format(sql.SQL(", ").join(calls))


@lru_cache(maxsize=64)
def _settings_by_name(names: tuple[str, ...]) -> bytes:
    """The same with a placeholder for every value."""
    return _set_local({name: sql.Placeholder(name) for name in names}).as_bytes(None)


@asynccontextmanager
async def administrator_of(url: str) -> AsyncIterator[Connection]:
    """A connection with all the rights that an address gives, each statement for itself."""
    try:
        connection = await AsyncConnection.connect(url, autocommit=True, connect_timeout=int(WAIT_S))
    except (psycopg.ProgrammingError, UnicodeError):  # their words would repeat the password
        form = "postgresql://user:password@host/name"
        raise SettingsError(f"the database's address cannot be understood; it should look like {form}") from None
    except psycopg.OperationalError as error:
        raise StoreDown(f"the database cannot be reached: {first_line(error)}") from error
    async with connection:
        yield connection


async def health(database: Database, person: str) -> dict[str, Any]:
    """What the database says about itself, for `doctor` and the health routes."""
    query = """
        select current_setting('server_version'), (select extversion from pg_extension where extname = 'vector'),
               (select max(number) from migration), current_user::text, pg_database_size(current_database())"""
    async with database.transaction(person) as connection:
        row = await one(connection, query)
    assert row is not None
    return dict(zip(("postgresql", "pgvector", "schema", "role", "bytes"), row, strict=True))
