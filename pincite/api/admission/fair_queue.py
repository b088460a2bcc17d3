"""Fair turns: so many at once, the others wait, each person's next one in turn; what cannot wait is refused at once."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pincite.config.branches.server import Limits
from pincite.errors import OverBudget, Overloaded

RECENT_USER_S = 5.0
"""Who came lately is expected again: those who ask without pause leave room for them."""


class Slot:
    """A place that somebody works in; left once, however often that is said."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave: Callable[[], None] | None = leave

    def leave(self) -> None:
        """Let the next one in."""
        leave, self._leave = self._leave, None
        if leave:
            leave()


class FairQueue:
    """Places for so many, as the rules in force have it, or for so many `times` as many; with `patient`, any number may wait.

    While others come and go, nobody has more places than their share, so that one with two hundred requests slows others
    down as little as one with a few. Who is alone has all of them.
    """

    def __init__(self, rules: Callable[[], Limits], *, times: int = 1, patient: bool = False) -> None:
        self._rules = rules
        self._times = times
        self._patient = patient
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._working: Counter[str] = Counter()
        self._lately: dict[str, float] = {}

    @property
    def full(self) -> bool:
        """Whether nobody more may wait."""
        return self._working.total() >= self._places() and self._waiters() >= self._rules().waiting

    def check(self, person: str) -> None:
        """Raise what entering would, for somebody who would have to wait and may not."""
        if self.full or self._waiting.get(person):
            self._check(person)

    def _places(self) -> int:
        return self._rules().at_once * self._times

    def _waiters(self) -> int:
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def of(self, person: str) -> AsyncIterator[Slot]:
        """A place for somebody, once it is their turn; `OverBudget` or `Overloaded` where too many wait already."""
        await self._enter(person)
        turn = Slot(lambda: self._left(person))
        try:
            yield turn
        finally:
            turn.leave()

    async def _enter(self, person: str) -> None:
        self._lately[person] = time.monotonic()
        if not self._waiting.get(person) and self._room_for(person):
            self._working[person] += 1
            return
        self._check(person)
        coming: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(person, deque()).append(coming)
        try:
            await coming
        except asyncio.CancelledError:
            if coming.done() and not coming.cancelled():  # let in, and gone at the same moment
                self._left(person)
            else:
                self._gone(person, coming)
            raise

    def _check(self, person: str) -> None:
        if self._patient:
            return
        rules = self._rules()
        alone = self._about() <= {person}
        if not alone and len(self._waiting.get(person, ())) >= rules.waiting_per_user:
            raise OverBudget(
                f"{rules.waiting_per_user} of your requests wait already (limits.waiting_per_user); wait for their answers",
                code="too_many_waiting",
                retry_after_s=1,
            )
        if self._waiters() >= rules.waiting:
            raise Overloaded("the server has more to do than it can; try again shortly")

    def _room_for(self, person: str) -> bool:
        places = self._places()
        if self._working.total() >= places:
            return False
        return self._working[person] < -(-places // len({person, *self._about()}))

    def _about(self) -> set[str]:
        """Who works, waits or came lately."""
        long_ago = time.monotonic() - RECENT_USER_S
        self._lately = {one: at for one, at in self._lately.items() if at > long_ago}
        return {*self._lately, *(one for one, count in self._working.items() if count), *self._waiting}

    def _left(self, person: str) -> None:
        self._working[person] -= 1
        if not self._working[person]:
            del self._working[person]
        self._lately[person] = time.monotonic()
        self._let_in()

    def _gone(self, person: str, coming: asyncio.Future[None]) -> None:
        own = self._waiting.get(person)
        if own and coming in own:
            own.remove(coming)
            if not own:
                del self._waiting[person]

    def _let_in(self) -> None:
        """Fill the places that are free, whoever waits longest for their turn first; each goes to the end of the line."""
        while person := next((one for one in self._waiting if self._room_for(one)), None):
            own = self._waiting.pop(person)
            coming = own.popleft()
            if own:
                self._waiting[person] = own
            if not coming.done():
                self._working[person] += 1
                coming.set_result(None)
