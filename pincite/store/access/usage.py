"""What people use up: budgets that begin anew every minute or day, answers on their way, and what they keep here."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass

from psycopg.types.json import Jsonb

from pincite.core.accounts.audit import AuditEntry
from pincite.errors import Invalid, NotAllowed, NotFound, OverBudget, OverQuota, Unavailable
from pincite.store.access.audit_log import record
from pincite.store.database import Connection, Database, one, rows

KEPT = ("jobs", "documents", "storage_mb")
"""What takes room, which is the business of whoever owns the data folder."""
NAMES = ("requests_per_minute", "questions_per_minute", "streams", "tokens_per_day", *KEPT)
"""What can be limited for one person; the settings say it for everybody."""
MINUTE, DAY = 60, 86_400
MB = 2**20
AGAIN_S = 10.0
"""When to try again what waits for documents to be processed."""


@dataclass(frozen=True, slots=True)
class Granted:
    """What may be used of a budget until it begins anew, which is in `left_s`; `most` 0 means as much as one likes."""

    amount: int
    used: int
    most: int
    left_s: float


@dataclass(frozen=True, slots=True)
class Quota:
    """How much somebody may keep here and have waiting, unless they have limits of their own; 0 is any number."""

    documents: int = 0
    storage_mb: int = 0
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class Used:
    """What somebody keeps here, and what they have under way and spent today; `own` are their own limits."""

    documents: int
    storage_bytes: int
    jobs: int
    streams: int
    tokens_today: int
    own: Mapping[str, int]


class UsageStore:
    """Budgets in the database, which all servers of a library share."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, name: str, most: int, *, person: str = "", address: str = "", share: int = 20) -> Granted:
        """Some of this minute's budget, of a person or, where nobody is known, of an address: a part of it that lasts a while."""
        values = {"address": address, "name": name, "seconds": MINUTE, "wanted": 1, "share": share, "most": most}
        return await self._spend(person, values)

    async def reserve(self, person: str, name: str, amount: int, most: int) -> Granted:
        """All of an amount of today's budget, or nothing."""
        values = {"address": "", "name": name, "seconds": DAY, "wanted": amount, "share": None, "most": most}
        return await self._spend(person, values)

    async def settle(self, person: str, name: str, difference: int) -> None:
        """Correct what was reserved by what it turned out to be."""
        query = "select settle(%(name)s, %(day)s, %(difference)s)"
        values = {"name": name, "day": DAY, "difference": difference}
        await self._database.run_batch(person, query, values=values, durable=False)

    async def _spend(self, person: str, values: Mapping[str, object]) -> Granted:
        [[found]] = await self._database.run_batch(person, _SPEND, values=values, durable=False)
        return Granted(*found)

    @asynccontextmanager
    async def streaming(self, person: str, most: int, longest_s: float) -> AsyncIterator[None]:
        """A place among somebody's answers on their way; `OverBudget` where they have as many as they may."""
        which = secrets.token_hex(8)
        values = {"which": which, "seconds": longest_s, "most": most}
        query = "select * from begin_streaming(%(which)s, %(seconds)s, %(most)s)"
        [[(begun, used, allowed)]] = await self._database.run_batch(person, query, values=values, durable=False)
        if not begun:
            raise OverBudget(
                f"{used} of your answers are on their way, and {allowed} may be at once (limits.streams); wait for one,"
                " or cancel it",
                code="too_many_streams",
                retry_after_s=1,
            )
        try:
            yield
        finally:
            with suppress(Unavailable):  # then it is over when it would have been at the latest
                ended = "select end_streaming(%(which)s)"
                await self._database.run_batch(person, ended, values={"which": which}, durable=False)

    async def used(self, by: str, person: str) -> Used:
        """What somebody uses, for themselves or for an administrator."""
        queries = (
            "select * from usage_of(%(person)s)",
            "select name, most from allowance where person = %(person)s order by 1",
        )
        found, limits = await self._database.run_batch(by, *queries, values={"person": person})
        if not found:
            raise NotFound(f"there is no user '{person}'")
        documents, size, jobs, streams, tokens = found[0]
        own = {name: most for name, most in limits if name in NAMES}
        return Used(documents, size, jobs, streams, tokens, own)

    async def allow(self, by: str, person: str, limits: Mapping[str, int | None]) -> None:
        """Give somebody limits of their own; None takes one back, and what the settings say holds for them again."""
        if unknown := [name for name in limits if name not in NAMES]:
            raise Invalid(f"there is no limit '{unknown[0]}'; there are {', '.join(NAMES)}")
        async with self._database.transaction(by) as connection:
            if (await rows(connection, "select am_administrator()")) != [(True,)]:
                raise NotAllowed("only an administrator may say what others may use")
            for name, most in limits.items():
                await connection.execute("delete from allowance where person = %s and name = %s", (person, name))
                if most is not None:
                    await connection.execute("insert into allowance values (%s, %s, %s)", (person, name, most))
            await record(connection, AuditEntry("user.limit", f"user:{person}", details=dict(limits)))

    async def forget(self) -> None:
        """Clear away what counts no more."""
        await self._database.run_batch("", "select forget_spent()", values={}, durable=False)


async def check_quota(connection: Connection, quota: Quota, *, documents: int, size: int, jobs: int) -> None:
    """Raise `OverQuota`, or `OverBudget` for the queue, unless there is room for so much more; it stays until the end."""
    query = "select * from over_quota(%s, %s, %s, %s)"
    over = await one(connection, query, (documents, size, jobs, Jsonb(asdict(quota))))
    if over is None:
        return
    name, used, most = over
    if name == "jobs":
        raise OverBudget(
            f"{used:,} of your documents wait to be processed, and {most:,} may (limits.jobs); try again later",
            code="quota_jobs",
            retry_after_s=AGAIN_S,
        )
    if name == "storage_mb":
        raise OverQuota(
            f"your files take {used / MB:,.1f} MB of {most:,} MB (limits.storage_mb), and this one does not fit; remove some,"
            " or ask an administrator for more",
            code="quota_storage",
        )
    raise OverQuota(
        f"you have {used:,} documents, and {most:,} is the most (limits.documents); remove some, or ask an administrator",
        code="quota_documents",
    )


_SPEND = """
    select granted, used, most, left_s
    from spend(%(address)s, %(name)s, %(seconds)s, %(wanted)s, %(share)s, %(most)s)
"""
