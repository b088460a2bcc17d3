"""Retry, time-out and circuit breaker: policies around any call of an outside service.

Each policy takes a source, which opens a stream, and is a source itself, so that they can be put around one another:
`retried(guarded(timed(call)))`. A call that gives one value is a stream of one. Once the first item is out nothing is
tried again: what was read stays read.
"""

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, TypeVar

from pincite.config.branches.generation import Resilience
from pincite.core.request_context import deadline
from pincite.core.traces import count, span
from pincite.errors import ProviderBusy, ProviderError, ProviderRefused

log = logging.getLogger(__name__)
T = TypeVar("T")
Source = Callable[[], AsyncGenerator[T, None]]

JITTER = 0.25
"""Waits are up to so much longer, so that those who failed together do not come back together."""
KEPT_BACK = 0.1
"""Part of the time left for a question that no service may use: it is needed to answer without it."""


class _End:
    """The end of a stream, as a value."""


_END: Final = _End()


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, sleep and chance, which tests bring along themselves."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a service may take for its first item and for all of them; `setting` names the limits, if one does."""

    first_s: float
    whole_s: float
    setting: str


class Breaker:
    """Leaves a service alone that failed several times in a row; after a while one call may try it again."""

    def __init__(self, rules: Resilience, clock: Clock = Clock()) -> None:  # noqa: B008
        self._rules = rules
        self._clock = clock
        self._failures = 0
        self._opened_at = 0.0
        self._probing = False

    def admit(self, who: str) -> bool:
        """Let a call through, or raise; True where it is the one that tries."""
        if self._failures < self._rules.breaker_failures:
            return False
        left = self._opened_at + self._rules.breaker_s - self._clock.now()
        if left > 0 or self._probing:
            when = f"in {left:.0f} s" if left > 0 else "now"
            words = f"{who} failed {self._failures} times in a row and is left alone; it is tried again {when}"
            raise ProviderError(words, code="breaker_open")
        self._probing = True
        return True

    def answered(self) -> None:
        """The service works."""
        self._failures = 0

    def failed(self) -> None:
        """The service does not."""
        self._failures += 1
        self._opened_at = self._clock.now()

    def release(self) -> None:
        """The call that tried is over, however it went."""
        self._probing = False


async def timed(source: Source[T], who: str, patience: Patience, until: float | None = None) -> AsyncGenerator[T, None]:
    """Give up on a service that takes too long, or longer than the question has; earlier tries count up to `until`."""
    left = _time_left()
    stop = min(time.monotonic() + min(patience.whole_s, left), float("inf") if until is None else until)
    limit = min(time.monotonic() + patience.first_s, stop)
    async with aclosing(source()) as items:
        while True:
            try:
                async with asyncio.timeout(max(0.0, limit - time.monotonic())):
                    item = await anext(items, _END)
            except TimeoutError as error:
                raise ProviderError(_too_long(who, patience, limit < stop, left), code="timeout") from error
            if isinstance(item, _End):
                return
            yield item
            limit = stop


def _too_long(who: str, patience: Patience, before_first: bool, left: float) -> str:
    if before_first:
        return f"{who} did not begin within {patience.first_s:g} s ({patience.setting}.first_token_timeout_s)"
    if left < patience.whole_s:
        return f"{who} took all the time the question had (llm.question_timeout_s)"
    named = f" ({patience.setting}.timeout_s)" if patience.setting else ""
    return f"{who} took longer than {patience.whole_s:g} s{named}"


def _time_left() -> float:
    """Seconds a service may take within the question that is being answered."""
    end = deadline.get()
    return float("inf") if end is None else max(0.0, (end - time.monotonic()) * (1 - KEPT_BACK))


async def guarded(source: Source[T], who: str, breaker: Breaker) -> AsyncGenerator[T, None]:
    """Count how calls go, and make none while the breaker is open. A refusal is an answer; a caller who leaves is none."""
    probe = breaker.admit(who)
    try:
        async with aclosing(source()) as items:
            async for item in items:
                yield item
        breaker.answered()
    except ProviderRefused:
        breaker.answered()
        raise
    except ProviderError:
        breaker.failed()
        raise
    finally:
        if probe:
            breaker.release()


async def retried(
    source: Source[T],
    who: str,
    rules: Resilience,
    budget_s: float,
    clock: Clock = Clock(),  # noqa: B008
) -> AsyncGenerator[T, None]:
    """Try again what failed for the moment, as long as nothing has come and the time allows."""
    started, attempt = clock.now(), 0
    while True:
        attempt += 1
        begun = False
        try:
            async with aclosing(source()) as items:
                with span("provider_call", service=who, attempt=attempt):
                    first = await anext(items, _END)
                if isinstance(first, _End):
                    return
                begun = True
                yield first
                async for item in items:
                    yield item
            return
        except ProviderBusy as error:
            wait = _wait(rules, attempt, error.retry_after_s, clock)
            late = clock.now() - started + wait >= budget_s or wait >= _time_left()
            if begun or attempt > rules.retries or late:
                raise _after(error, attempt) from error
            log.warning("%s; trying again in %.1f s", error, wait)
            count("retries")
            count("retry_wait_ms", round(wait * 1000))
            await clock.sleep(wait)


def _wait(rules: Resilience, attempt: int, asked_s: float | None, clock: Clock) -> float:
    usual = rules.backoff_s * 2 ** (attempt - 1)
    wait = min(rules.backoff_cap_s, usual if asked_s is None else asked_s)
    return float(wait * (1 + JITTER * clock.chance()))


def _after(error: ProviderBusy, attempts: int) -> ProviderBusy:
    if attempts == 1:
        return error
    return ProviderBusy(f"{error}; tried {attempts} times", code=error.code, retry_after_s=error.retry_after_s)


class Policies:
    """The policies that are put around one service; its breaker remembers how the last calls went."""

    def __init__(self, who: str, rules: Resilience, clock: Clock = Clock()) -> None:  # noqa: B008
        self._who = who
        self._rules = rules
        self._clock = clock
        self._breaker = Breaker(rules, clock)

    def around(self, source: Source[T], patience: Patience) -> AsyncGenerator[T, None]:
        """The source with everything around it, outermost last."""
        until = time.monotonic() + patience.whole_s
        in_time: Source[T] = lambda: timed(source, self._who, patience, until)  # noqa: E731
        unless_open: Source[T] = lambda: guarded(in_time, self._who, self._breaker)  # noqa: E731
        return retried(unless_open, self._who, self._rules, patience.whole_s, self._clock)

    async def once(self, call: Callable[[], Awaitable[T]], patience: Patience) -> T:
        """The same for a call that gives one value."""

        async def source() -> AsyncGenerator[T, None]:
            yield await call()

        async with aclosing(self.around(source, patience)) as items:
            [value] = [item async for item in items]  # to its end: the breaker hears of it only there
            return value
