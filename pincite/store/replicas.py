"""Reading from replicas: only from one that has replayed everything up to the moment at which the request began.

That moment is the primary's position in its log when the caller's rights were read (`Scope.position`). So nobody is
served stale data: neither what they wrote themselves, nor what they may no longer read.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Self

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from pincite.concurrency import cancel_and_wait
from pincite.store import bound
from pincite.store.connect import borrow, resilient

log = logging.getLogger(__name__)

CHECK_S = 0.5
"""Seconds between two checks of a replica."""
CHECK_TIMEOUT_S = 2.0
"""Seconds after which a replica that does not respond counts as gone."""
BORROW_TIMEOUT_S = 0.5
"""Seconds to wait for a connection to a replica; then the primary is used."""
_REACHED = b"select pg_last_wal_replay_lsn() >= %(position)s::pg_lsn"
_LAG = """
    select pg_is_in_recovery(), case when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
        else coalesce(extract(epoch from now() - pg_last_xact_replay_timestamp()), 0) end"""
_FAILURES = (psycopg.Error, PoolTimeout, PoolClosed, TimeoutError, OSError)


@dataclass(slots=True)
class Replica:
    """A replica with its pool of connections; `lag_s` is how far its data are behind the primary's, in seconds."""

    number: int
    pool: "AsyncConnectionPool[AsyncConnection[TupleRow]]"
    up: bool = False
    lag_s: float = 0.0


class Replicas:
    """The replicas of a database; each is checked twice a second, and one that is gone is left out."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._replicas = tuple(replicas)
        self._turn = count()
        self.reads = {"replica": 0, "behind": 0, "failed": 0}
        self._checking = asyncio.create_task(self._check_forever())

    @classmethod
    async def open(cls, urls: Sequence[str], pool_size: int) -> Self:
        """Open the pools without waiting for the replicas: a server starts also while one is gone."""
        replicas = []
        for number, url in enumerate(urls):
            pool: AsyncConnectionPool[AsyncConnection[TupleRow]] = AsyncConnectionPool(
                resilient(url, several=False),
                min_size=1,
                max_size=pool_size,
                open=False,
                timeout=BORROW_TIMEOUT_S,
                reconnect_timeout=CHECK_TIMEOUT_S,
                name=f"pincite-replica-{number}",
                kwargs={"autocommit": True, "prepare_threshold": None},
            )
            await pool.open(wait=False)
            replicas.append(Replica(number, pool))
        made = cls(replicas)
        await made.check()
        return made

    async def close(self) -> None:
        """Close every connection."""
        await cancel_and_wait(self._checking)
        for replica in self._replicas:
            await replica.pool.close(timeout=5)

    @property
    def missing(self) -> int:
        """The number of replicas that are gone."""
        return sum(not replica.up for replica in self._replicas)

    def numbers(self) -> dict[str, float]:
        """Return the replicas that are up and gone, the lag of the slowest, and the reads by what became of them."""
        up = [replica for replica in self._replicas if replica.up]
        lag = max((replica.lag_s for replica in up), default=0.0)
        reads = {f"reads_{name}": float(number) for name, number in self.reads.items()}
        return {"up": float(len(up)), "gone": float(self.missing), "lag_s": lag, **reads}

    async def run(
        self, position: str, settings: bound.Bound, statements: Sequence[bound.Bound]
    ) -> list[list[TupleRow]] | None:
        """Run statements on a replica that has reached a position; None where there is none, or it fails."""
        up = [replica for replica in self._replicas if replica.up]
        if not up:
            return None
        replica = up[next(self._turn) % len(up)]
        batch = [settings, bound.bind(_REACHED, {"position": position}), *statements]
        try:
            async with borrow(replica.pool) as connection:
                _, reached, *found = await bound.run(connection, batch)
        except _FAILURES as error:  # the primary is asked then, and tells an error of the statement itself
            log.debug("replica %s cannot be read: %s", replica.number, error)
            self.reads["failed"] += 1
            return None
        self.reads["replica" if reached == [(True,)] else "behind"] += 1
        return found if reached == [(True,)] else None

    async def check(self) -> None:
        """Check every replica once."""
        await asyncio.gather(*(self._check(replica) for replica in self._replicas))

    async def _check(self, replica: Replica) -> None:
        before = replica.up
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_S), borrow(replica.pool) as connection:
                row = await (await connection.execute(_LAG)).fetchone()
                replica.up, replica.lag_s = row is not None and bool(row[0]), float(row[1]) if row else 0.0
        except _FAILURES as error:
            replica.up = False
            if before:
                log.warning("replica %s is gone, and the primary is read instead: %s", replica.number, error)
                with suppress(*_FAILURES):
                    await replica.pool.check()

    async def _check_forever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_S)
            await self.check()
