"""A fair queue: a fixed number of slots, one waiting line per user, served round-robin; excess is refused at once."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pincite.config.branches.server import Limits
from pincite.errors import OverBudget, Overloaded

RECENT_USER_S = 5.0
"""Seconds for which a user counts as active after a request; active users keep their share of the slots."""


class Slot:
    """A slot of the queue; releasing it twice has no effect."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release: Callable[[], None] | None = release

    def release(self) -> None:
        """Free the slot for the next request."""
        release, self._release = self._release, None
        if release:
            release()


class FairQueue:
    """Slots for `limits.at_once` × `factor` requests; with `unbounded`, any number of requests may wait.

    While several users are active, none holds more than an equal share of the slots, so that a user with two hundred
    requests slows others down as little as one with a few. A single active user may hold all slots.
    """

    def __init__(self, rules: Callable[[], Limits], *, factor: int = 1, unbounded: bool = False) -> None:
        self._rules = rules
        self._factor = factor
        self._unbounded = unbounded
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._running: Counter[str] = Counter()
        self._last_seen: dict[str, float] = {}

    @property
    def full(self) -> bool:
        """Whether all slots are taken and the waiting line is full."""
        return self._running.total() >= self._slots() and self._waiting_count() >= self._rules().waiting

    def check(self, person: str) -> None:
        """Raise `OverBudget` or `Overloaded` for a user who would have to wait and may not."""
        if self.full or self._waiting.get(person):
            self._check(person)

    def _slots(self) -> int:
        return self._rules().at_once * self._factor

    def _waiting_count(self) -> int:
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def slot(self, person: str) -> AsyncIterator[Slot]:
        """Wait for a slot; raise `OverBudget` or `Overloaded` when too many requests wait already."""
        await self._enter(person)
        slot = Slot(lambda: self._free(person))
        try:
            yield slot
        finally:
            slot.release()

    async def _enter(self, person: str) -> None:
        self._last_seen[person] = time.monotonic()
        if not self._waiting.get(person) and self._has_slot_for(person):
            self._running[person] += 1
            return
        self._check(person)
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(person, deque()).append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():  # admitted and cancelled at the same moment
                self._free(person)
            else:
                self._remove_waiter(person, waiter)
            raise

    def _check(self, person: str) -> None:
        if self._unbounded:
            return
        rules = self._rules()
        only_user = self._active_users() <= {person}
        if not only_user and len(self._waiting.get(person, ())) >= rules.waiting_per_user:
            raise OverBudget(
                f"{rules.waiting_per_user} of your requests are waiting already (limits.waiting_per_user); "
                "wait for their answers",
                code="too_many_waiting",
                retry_after_s=1,
            )
        if self._waiting_count() >= rules.waiting:
            raise Overloaded("the server is overloaded; try again shortly")

    def _has_slot_for(self, person: str) -> bool:
        slots = self._slots()
        if self._running.total() >= slots:
            return False
        return self._running[person] < -(-slots // len({person, *self._active_users()}))

    def _active_users(self) -> set[str]:
        """Users with running, waiting or recent requests."""
        oldest = time.monotonic() - RECENT_USER_S
        self._last_seen = {one: at for one, at in self._last_seen.items() if at > oldest}
        return {*self._last_seen, *(one for one, count in self._running.items() if count), *self._waiting}

    def _free(self, person: str) -> None:
        self._running[person] -= 1
        if not self._running[person]:
            del self._running[person]
        self._last_seen[person] = time.monotonic()
        self._admit_waiting()

    def _remove_waiter(self, person: str, waiter: asyncio.Future[None]) -> None:
        own = self._waiting.get(person)
        if own and waiter in own:
            own.remove(waiter)
            if not own:
                del self._waiting[person]

    def _admit_waiting(self) -> None:
        """Fill the free slots round-robin: the user at the front goes to the end after each admitted request."""
        while person := next((one for one in self._waiting if self._has_slot_for(one)), None):
            own = self._waiting.pop(person)
            waiter = own.popleft()
            if own:
                self._waiting[person] = own
            if not waiter.done():
                self._running[person] += 1
                waiter.set_result(None)
