"""Connections to a database server: how a lost one is noticed, another one found, one borrowed, a pooler recognised."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from pincite.errors import SettingsError, StoreDown
from pincite.store.roles import first_line

CONNECT_TIMEOUT_S = 15.0
"""Seconds to wait for a connection, from the server or from the pool."""

LINK = {"keepalives_idle": "3", "keepalives_interval": "1", "keepalives_count": "3", "tcp_user_timeout": "5000"}
"""Options of a connection to another machine: one that is cut off is noticed within six seconds."""
SEVERAL = {"target_session_attrs": "read-write", "connect_timeout": "3"}
"""Options of an address with several hosts: the primary is used, and a host that does not answer is passed by."""


def resilient(url: str, *, several: bool = True) -> str:
    """Return an address with these options, as far as it does not set them itself; `several` hosts have a primary."""
    try:
        given = conninfo_to_dict(url)
    except (psycopg.ProgrammingError, UnicodeError):  # the text of these errors would repeat the password
        raise SettingsError(
            "the database's address is not valid; write it like postgresql://user:password@host/name"
        ) from None
    host = str(given.get("host") or "")
    added = {**({} if host.startswith("/") else LINK), **(SEVERAL if several and "," in host else {})}
    return make_conninfo(url, **{name: value for name, value in added.items() if name not in given})


@asynccontextmanager
async def administrator_of(url: str) -> AsyncIterator[AsyncConnection[TupleRow]]:
    """Open a connection with autocommit and all rights that the address gives."""
    try:
        timeout = conninfo_to_dict(resilient(url)).get("connect_timeout", int(CONNECT_TIMEOUT_S))
        connection = await AsyncConnection.connect(
            resilient(url), autocommit=True, prepare_threshold=None, connect_timeout=timeout
        )
    except psycopg.OperationalError as error:
        raise StoreDown(f"the database cannot be reached: {first_line(error)}") from error
    async with connection:
        yield connection


@asynccontextmanager
async def borrow(pool: "AsyncConnectionPool[AsyncConnection[TupleRow]]") -> AsyncIterator[AsyncConnection[TupleRow]]:
    """Yield a connection of a pool, and give it back even if the caller is cancelled meanwhile.

    A pool whose `putconn` is cancelled loses the connection, and forgets who was to have it next: they would wait in
    vain until their timeout, although other connections are idle. `getconn` may swallow a cancellation in Python 3.11,
    if a connection arrives at the same moment: it is raised here.
    """
    cancelled_before = _cancellations()
    connection = await pool.getconn()
    try:
        if _cancellations() > cancelled_before:
            raise asyncio.CancelledError
        async with connection:
            yield connection
    finally:
        await asyncio.shield(pool.putconn(connection))


def _cancellations() -> int:
    task = asyncio.current_task()
    return task.cancelling() if task else 0


async def check_pooler(url: str) -> bool:
    """Return whether a pooler such as pgbouncer is in between; refuse one that gives each statement a connection."""
    async with administrator_of(url) as connection:
        try:
            async with connection.transaction():
                row = await (await connection.execute("select pg_backend_pid()")).fetchone()
        except psycopg.errors.ProtocolViolation as error:
            raise SettingsError(
                f"the pooler gives each statement another connection ({first_line(error)}), and then neither "
                "transactions nor permissions hold; set pool_mode = transaction in pgbouncer"
            ) from error
        return row != (connection.info.backend_pid,)  # a pooler gives its clients numbers of its own
