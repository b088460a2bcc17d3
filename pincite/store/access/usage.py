"""Usage of each person: budgets per minute and per day, concurrent answers, and stored documents."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass

from psycopg.types.json import Jsonb

from pincite.core.accounts.audit import AuditEntry
from pincite.errors import Invalid, NotAllowed, NotFound, OverBudget, OverQuota, Unavailable
from pincite.store.access.audit_log import record
from pincite.store.database import Connection, Database, fetch_all, fetch_one

STORAGE_LIMITS = ("jobs", "documents", "storage_mb")
"""Limits of storage and queue, which do not apply to the owner of the data folder."""
LIMIT_NAMES = ("requests_per_minute", "questions_per_minute", "streams", "tokens_per_day", *STORAGE_LIMITS)
"""Limits that an administrator can set for one person; the settings have the defaults."""
MINUTE, DAY = 60, 86_400
MB = 2**20
QUEUE_RETRY_S = 10.0
"""Seconds after which to retry an upload that was refused because the queue is full."""


@dataclass(frozen=True, slots=True)
class Granted:
    """The granted amount of a budget that resets in `left_s` seconds; `most` is its limit, 0 for none."""

    amount: int
    used: int
    most: int
    left_s: float


@dataclass(frozen=True, slots=True)
class Quota:
    """The default limits of documents, storage and queued jobs of a person; 0 means no limit."""

    documents: int = 0
    storage_mb: int = 0
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class Used:
    """A person's documents, storage, queued jobs, running answers and tokens of today; `own` are personal limits."""

    documents: int
    storage_bytes: int
    jobs: int
    streams: int
    tokens_today: int
    own: Mapping[str, int]


class UsageStore:
    """Usage in the database, which all servers of a library share."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, name: str, most: int, *, person: str = "", address: str = "", share: int = 20) -> Granted:
        """Take a share of this minute's budget, for several requests, of a person or, without one, of an address."""
        values = {"address": address, "name": name, "seconds": MINUTE, "wanted": 1, "share": share, "most": most}
        return await self._spend(person, values)

    async def reserve(self, person: str, name: str, amount: int, most: int) -> Granted:
        """Reserve the whole amount from today's budget, or nothing."""
        values = {"address": "", "name": name, "seconds": DAY, "wanted": amount, "share": None, "most": most}
        return await self._spend(person, values)

    async def settle(self, person: str, name: str, difference: int) -> None:
        """Correct a reservation by the difference to the actual usage."""
        query = "select settle(%(name)s, %(day)s, %(difference)s)"
        values = {"name": name, "day": DAY, "difference": difference}
        await self._database.run_batch(person, query, values=values, durable=False)

    async def _spend(self, person: str, values: Mapping[str, object]) -> Granted:
        [[found]] = await self._database.run_batch(person, _SPEND, values=values, durable=False)
        return Granted(*found)

    @asynccontextmanager
    async def streaming(self, person: str, most: int, longest_s: float) -> AsyncIterator[None]:
        """Count one running answer of a person in this context; `OverBudget` if the person has too many."""
        which = secrets.token_hex(8)
        values = {"which": which, "seconds": longest_s, "most": most}
        query = "select * from begin_streaming(%(which)s, %(seconds)s, %(most)s)"
        [[(begun, used, allowed)]] = await self._database.run_batch(person, query, values=values, durable=False)
        if not begun:
            raise OverBudget(
                f"{used} of your answers are running, and {allowed} may run at once (limits.streams); wait for one,"
                " or cancel it",
                code="too_many_streams",
                retry_after_s=1,
            )
        try:
            yield
        finally:
            with suppress(Unavailable):  # the entry then expires after `longest_s`
                ended = "select end_streaming(%(which)s)"
                await self._database.run_batch(person, ended, values={"which": which}, durable=False)

    async def used(self, by: str, person: str) -> Used:
        """Return a person's usage, for that person or for an administrator."""
        queries = (
            "select * from usage_of(%(person)s)",
            "select name, most from allowance where person = %(person)s order by 1",
        )
        found, limits = await self._database.run_batch(by, *queries, values={"person": person})
        if not found:
            raise NotFound(f"there is no user '{person}'")
        documents, size, jobs, streams, tokens = found[0]
        own = {name: most for name, most in limits if name in LIMIT_NAMES}
        return Used(documents, size, jobs, streams, tokens, own)

    async def allow(self, by: str, person: str, limits: Mapping[str, int | None]) -> None:
        """Set a person's own limits; None removes one, and the limit of the settings applies again."""
        if unknown := [name for name in limits if name not in LIMIT_NAMES]:
            raise Invalid(f"there is no limit '{unknown[0]}'; choose one of {', '.join(LIMIT_NAMES)}")
        async with self._database.transaction(by) as connection:
            if (await fetch_all(connection, "select am_administrator()")) != [(True,)]:
                raise NotAllowed("only an administrator may set limits")
            for name, most in limits.items():
                await connection.execute("delete from allowance where person = %s and name = %s", (person, name))
                if most is not None:
                    await connection.execute("insert into allowance values (%s, %s, %s)", (person, name, most))
            await record(connection, AuditEntry("user.limit", f"user:{person}", details=dict(limits)))

    async def remove_expired(self) -> None:
        """Remove the usage of past minutes and days."""
        await self._database.run_batch("", "select forget_spent()", values={}, durable=False)


async def check_quota(connection: Connection, quota: Quota, *, documents: int, size: int, jobs: int) -> None:
    """Raise `OverQuota`, or `OverBudget` for the queue, if an upload exceeds a limit; the check holds until commit."""
    query = "select * from over_quota(%s, %s, %s, %s)"
    over = await fetch_one(connection, query, (documents, size, jobs, Jsonb(asdict(quota))))
    if over is None:
        return
    name, used, most = over
    if name == "jobs":
        raise OverBudget(
            f"{used:,} of your documents wait to be processed, and {most:,} may wait (limits.jobs); try again later",
            code="quota_jobs",
            retry_after_s=QUEUE_RETRY_S,
        )
    if name == "storage_mb":
        raise OverQuota(
            f"your files use {used / MB:,.1f} MB of {most:,} MB (limits.storage_mb), and this one does not fit;"
            " remove some, or ask an administrator for more",
            code="quota_storage",
        )
    raise OverQuota(
        f"you have {used:,} documents, and {most:,} is the limit (limits.documents);"
        " remove some, or ask an administrator",
        code="quota_documents",
    )


_SPEND = """
    select granted, used, most, left_s
    from spend(%(address)s, %(name)s, %(seconds)s, %(wanted)s, %(share)s, %(most)s)
"""
