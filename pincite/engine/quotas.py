"""How much each may use: what is left of everybody's budgets, asked of the database once for many requests."""

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
from pincite.store.access.usage import KEPT, NAMES, Granted, UsageStore, Used

log = logging.getLogger(__name__)

MAX_LEASES = 4096
"""Budgets that are remembered; what is over is forgotten first."""
REQUESTS, QUESTIONS, ANONYMOUS, TOKENS = (
    "requests_per_minute",
    "questions_per_minute",
    "anonymous_per_minute",
    "tokens_per_day",
)
_BUDGET_NOUNS = {REQUESTS: "requests", QUESTIONS: "questions", ANONYMOUS: "requests without a key or login that counts"}


@dataclass(slots=True)
class _Lease:
    """A part of a budget that this process may use by itself until the budget begins anew."""

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
        """Whether nothing is left of the budget itself, of which this was to be a part."""
        return self.empty and self.granted.amount == 0


@dataclass(slots=True)
class Bill:
    """What an answer cost, in tokens, once that is known."""

    tokens: int = 0


class Quotas:
    """Counts what people use, and refuses what is more than they may; `rules` are those in force.

    A budget is shared by all servers of a library. This one takes a twentieth of it at a time, so that a request costs no
    question to the database as a rule, and what is used up stays so, unasked, until the budget begins anew.
    """

    def __init__(self, budgets: UsageStore, rules: Callable[[], Limits]) -> None:
        self._budgets = budgets
        self._rules = rules
        self._leases: dict[tuple[str, str], _Lease] = {}
        self._asking: dict[tuple[str, str], asyncio.Lock] = {}

    async def request(self, person: str) -> None:
        """Count a request of somebody; `OverBudget` where they made as many as they may this minute."""
        await self._count(REQUESTS, person=person)

    async def question(self, person: str) -> None:
        """Count a question of somebody, likewise."""
        await self._count(QUESTIONS, person=person)

    async def stranger(self, address: str) -> None:
        """Count a request from somewhere that brought nothing to know its sender by."""
        await self._count(ANONYMOUS, address=address)

    def refuse_if_used_up(self, person: str) -> None:
        """Raise what `request` would, where that is known beforehand: whoever asks on and on costs next to nothing."""
        lease = self._leases.get((REQUESTS, f"user:{person}"))
        if lease and lease.used_up and not lease.over:
            raise _over_budget(REQUESTS, lease)

    async def _count(self, name: str, *, person: str = "", address: str = "") -> None:
        key = (name, f"user:{person}" if person else f"address:{address}")
        lease = self._leases.get(key)
        if lease is None or lease.over or lease.empty:
            lease = await self._renewed(key, person, address)
        if lease.empty:
            raise _over_budget(name, lease)
        lease.left -= 1

    async def _renewed(self, key: tuple[str, str], person: str, address: str) -> _Lease:
        """The lease as it is once whoever asked first has asked for all who wait."""
        lock = self._asking.setdefault(key, asyncio.Lock())
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
                self._asking.pop(key, None)

    def _keep(self, key: tuple[str, str], lease: _Lease) -> _Lease:
        if len(self._leases) >= MAX_LEASES:
            self._leases = {key: lease for key, lease in self._leases.items() if not lease.over}
        while len(self._leases) >= MAX_LEASES:
            del self._leases[next(iter(self._leases))]
        self._leases[key] = lease
        return lease

    @asynccontextmanager
    async def streaming(self, person: str, longest_s: float) -> AsyncIterator[None]:
        """One of somebody's answers is on its way meanwhile; `OverBudget` where they have as many as they may."""
        async with self._budgets.streaming(person, self._rules().streams, longest_s):
            yield

    @asynccontextmanager
    async def answering(self, person: str, longest: int) -> AsyncIterator[Bill]:
        """A model writes for somebody meanwhile, `longest` tokens at most; `OverBudget` where they have too few left today.

        What the prompt takes is known only afterwards: so much the last answers of a day may be over.
        """
        bill, granted = Bill(), await self._reserved(person, longest)
        if granted.most and not granted.amount:
            raise OverBudget(
                f"{granted.used:,} of {granted.most:,} tokens of today are used (limits.tokens_per_day), and an answer may"
                f" take {longest:,}; ask again tomorrow (UTC), or ask an administrator for more",
                code="quota_tokens",
                retry_after_s=granted.left_s,
            )
        try:
            yield bill
        finally:
            if bill.tokens != granted.amount:
                try:
                    await self._budgets.settle(person, TOKENS, bill.tokens - granted.amount)
                except Unavailable as error:  # the answer is there all the same
                    log.warning("the tokens of an answer were not counted: %s", error)

    async def _reserved(self, person: str, longest: int) -> Granted:
        """Who may spend as many as they like is asked about once a minute only."""
        key, most = (TOKENS, f"user:{person}"), self._rules().tokens_per_day
        free = self._leases.get(key)
        if free and not free.over and not most:
            return free.granted
        granted = await self._budgets.reserve(person, TOKENS, longest, most)
        if not granted.most:
            self._keep(key, _Lease(granted, 0, time.monotonic() + min(granted.left_s, 60.0)))
        return granted

    async def used(self, by: str, person: str) -> tuple[Used, Mapping[str, int]]:
        """What somebody uses, and the limits that hold for them."""
        used, rules = await self._budgets.used(by, person), self._rules()
        free = KEPT if person == LOCAL.person else ()
        limits = {name: 0 if name in free else int(getattr(rules, name)) for name in NAMES}
        return used, limits | dict(used.own)


def _over_budget(name: str, lease: _Lease) -> OverBudget:
    left_s = max(0.0, lease.until - time.monotonic())
    return OverBudget(
        f"you made {lease.granted.most:,} {_BUDGET_NOUNS[name]} this minute, and no more may be made (limits.{name});"
        f" try again in {math.ceil(left_s)} s",
        code=f"too_many_{name.removesuffix('_per_minute')}",
        retry_after_s=left_s,
    )
