"""Usage limits: counts requests, questions and tokens, with leases that save a database query per request."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pincite.config.branches.server import Limits
from pincite.core.accounts.access import LOCAL
from pincite.errors import OverBudget, Unavailable
from pincite.store.access.usage import LIMIT_NAMES, STORAGE_LIMITS, Granted, UsageStore, Used

log = logging.getLogger(__name__)

MAX_LEASES = 4096
"""Maximum leases in memory; expired leases are dropped first."""
REQUESTS, QUESTIONS, ANONYMOUS, TOKENS = (
    "requests_per_minute",
    "questions_per_minute",
    "anonymous_per_minute",
    "tokens_per_day",
)
_BUDGET_NOUNS = {REQUESTS: "requests", QUESTIONS: "questions", ANONYMOUS: "requests without a valid key or login"}


@dataclass(slots=True)
class _Lease:
    """A part of a budget that this process may spend without the database, until the budget is renewed."""

    granted: Granted
    left: int
    until: float

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.until

    @property
    def empty(self) -> bool:
        return self.granted.most > 0 and self.left <= 0

    @property
    def used_up(self) -> bool:
        """Whether the budget itself is used up, so that a new lease would be empty too."""
        return self.empty and self.granted.amount == 0


@dataclass(slots=True)
class Bill:
    """The tokens of an answer, once they are known."""

    tokens: int = 0


class Quotas:
    """Counts the usage of users and refuses requests over their limits; `rules` returns the current limits.

    All servers of a library share a budget. This process leases a twentieth of it at a time, so that most requests need
    no database query. A used-up budget is remembered until it is renewed.
    """

    def __init__(self, budgets: UsageStore, rules: Callable[[], Limits]) -> None:
        self._budgets = budgets
        self._rules = rules
        self._leases: dict[tuple[str, str], _Lease] = {}
        self._renewing: dict[tuple[str, str], asyncio.Lock] = {}

    async def request(self, person: str) -> None:
        """Count a request of a user; `OverBudget` if they reached their limit per minute."""
        await self._count(REQUESTS, person=person)

    async def question(self, person: str) -> None:
        """Count a question of a user; `OverBudget` if they reached their limit per minute."""
        await self._count(QUESTIONS, person=person)

    async def anonymous_request(self, address: str) -> None:
        """Count a request without valid credentials, by its client address."""
        await self._count(ANONYMOUS, address=address)

    def refuse_if_used_up(self, person: str) -> None:
        """Raise `OverBudget` early if the user's budget is known to be used up, before any costly work."""
        lease = self._leases.get((REQUESTS, f"user:{person}"))
        if lease and lease.used_up and not lease.over:
            raise _over_budget(REQUESTS, lease)

    async def _count(self, name: str, *, person: str = "", address: str = "") -> None:
        key = (name, f"user:{person}" if person else f"address:{address}")
        lease = self._leases.get(key)
        if lease is None or lease.over or lease.empty:
            lease = await self._renew_lease(key, person, address)
        if lease.empty:
            raise _over_budget(name, lease)
        lease.left -= 1

    async def _renew_lease(self, key: tuple[str, str], person: str, address: str) -> _Lease:
        """Return a new lease; of several waiting tasks only the first queries the database."""
        lock = self._renewing.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                lease = self._leases.get(key)
                if lease and not lease.over and (lease.used_up or not lease.empty):
                    return lease
                most = getattr(self._rules(), key[0])
                granted = await self._budgets.take(key[0], most, person=person, address=address)
                return self._keep(key, _Lease(granted, granted.amount, time.monotonic() + granted.left_s))
        finally:
            if not lock.locked():
                self._renewing.pop(key, None)

    def _keep(self, key: tuple[str, str], lease: _Lease) -> _Lease:
        if len(self._leases) >= MAX_LEASES:
            self._leases = {key: lease for key, lease in self._leases.items() if not lease.over}
        while len(self._leases) >= MAX_LEASES:
            del self._leases[next(iter(self._leases))]
        self._leases[key] = lease
        return lease

    @asynccontextmanager
    async def streaming(self, person: str, longest_s: float) -> AsyncIterator[None]:
        """Count an answer stream of a user in this block; `OverBudget` if they have too many open streams."""
        async with self._budgets.streaming(person, self._rules().streams, longest_s):
            yield

    @asynccontextmanager
    async def answering(self, person: str, longest: int) -> AsyncIterator[Bill]:
        """Reserve `longest` tokens for an answer of a user; `OverBudget` if they have too few left today.

        The tokens of the prompt are known only afterwards, so the last answers of a day may exceed the budget by them.
        """
        bill, granted = Bill(), await self._reserve(person, longest)
        if granted.most and not granted.amount:
            raise OverBudget(
                f"{granted.used:,} of {granted.most:,} tokens of today are used (limits.tokens_per_day), and an answer"
                f" may take {longest:,}; ask again tomorrow (UTC), or ask an administrator for more",
                code="quota_tokens",
                retry_after_s=granted.left_s,
            )
        try:
            yield bill
        finally:
            if bill.tokens != granted.amount:
                try:
                    await self._budgets.settle(person, TOKENS, bill.tokens - granted.amount)
                except Unavailable as error:  # the answer itself is complete
                    log.warning("the tokens of an answer were not counted: %s", error)

    async def _reserve(self, person: str, longest: int) -> Granted:
        """Reserve tokens; for users without a limit, the database is queried once a minute only."""
        key, most = (TOKENS, f"user:{person}"), self._rules().tokens_per_day
        unlimited = self._leases.get(key)
        if unlimited and not unlimited.over and not most:
            return unlimited.granted
        granted = await self._budgets.reserve(person, TOKENS, longest, most)
        if not granted.most:
            self._keep(key, _Lease(granted, 0, time.monotonic() + min(granted.left_s, 60.0)))
        return granted

    async def used(self, by: str, person: str) -> tuple[Used, Mapping[str, int]]:
        """Return the usage of a user, and the limits that apply to them."""
        used, rules = await self._budgets.used(by, person), self._rules()
        unlimited = STORAGE_LIMITS if person == LOCAL.person else ()
        limits = {name: 0 if name in unlimited else int(getattr(rules, name)) for name in LIMIT_NAMES}
        return used, limits | dict(used.own)


def _over_budget(name: str, lease: _Lease) -> OverBudget:
    left_s = max(0.0, lease.until - time.monotonic())
    return OverBudget(
        f"you made {lease.granted.most:,} {_BUDGET_NOUNS[name]} this minute, which is the limit (limits.{name});"
        f" try again in {math.ceil(left_s)} s",
        code=f"too_many_{name.removesuffix('_per_minute')}",
        retry_after_s=left_s,
    )
