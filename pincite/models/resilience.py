"""Retry, timeout and circuit breaker for calls of external services.

Each policy wraps a source, which opens a stream, and is itself a source, so policies can be nested:
`with_retries(with_breaker(with_timeout(call)))`. A call that returns one value is a stream of one item. After the first
item there are no retries, because the caller has already received it.
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
"""Maximum share added to a wait, so that calls that failed together are not retried together."""
RESERVED_SHARE = 0.1
"""Share of the remaining time of a question that no service may use; it is needed to answer without the service."""


class _End:
    """Marks the end of a stream."""


_END: Final = _End()


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, sleep and random numbers; tests replace them."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of a service for its first item and for all items; `setting` is the settings branch they come from."""

    first_s: float
    whole_s: float
    setting: str


class Breaker:
    """Circuit breaker: after several failures in a row no calls are made; after a while one call may try again."""

    def __init__(self, rules: Resilience, clock: Clock = Clock()) -> None:  # noqa: B008
        self._rules = rules
        self._clock = clock
        self._failures = 0
        self._opened_at = 0.0
        self._probing = False

    def admit(self, who: str) -> bool:
        """Admit a call, or raise if the breaker is open; returns True if the call is the probe."""
        if self._failures < self._rules.breaker_failures:
            return False
        left = self._opened_at + self._rules.breaker_s - self._clock.now()
        if left > 0 or self._probing:
            when = f"in {left:.0f} s" if left > 0 else "now"
            message = f"{who} failed {self._failures} times in a row; the next attempt is {when}"
            raise ProviderError(message, code="breaker_open")
        self._probing = True
        return True

    def answered(self) -> None:
        """Record a success."""
        self._failures = 0

    def failed(self) -> None:
        """Record a failure."""
        self._failures += 1
        self._opened_at = self._clock.now()

    def release(self) -> None:
        """End the probe, whatever its result."""
        self._probing = False


async def with_timeout(
    source: Source[T], who: str, timeouts: Timeouts, until: float | None = None
) -> AsyncGenerator[T, None]:
    """Stop a call that exceeds its timeouts or the deadline of the question; `until` is the end including retries.

    A call that sent nothing in time may be tried again; one that used up all its time may not.
    """
    left = _time_left()
    stop = min(time.monotonic() + min(timeouts.whole_s, left), float("inf") if until is None else until)
    limit = min(time.monotonic() + timeouts.first_s, stop)
    begun = False
    async with aclosing(source()) as items:
        while True:
            try:
                async with asyncio.timeout(max(0.0, limit - time.monotonic())):
                    item = await anext(items, _END)
            except TimeoutError as error:
                before_first = limit < stop
                message = _timeout_message(who, timeouts, before_first, left)
                if not begun and timeouts.setting == "llm":
                    message += _FOR_SLOW_MODELS
                raise (ProviderBusy if before_first else ProviderError)(message, code="timeout") from error
            if isinstance(item, _End):
                return
            yield item
            begun, limit = True, stop


_FOR_SLOW_MODELS = "; for a model that reads its prompt slowly, raise it"


def _timeout_message(who: str, timeouts: Timeouts, before_first: bool, left: float) -> str:
    if before_first:
        return f"{who} sent nothing within {timeouts.first_s:g} s ({timeouts.setting}.first_token_timeout_s)"
    if left < timeouts.whole_s:
        return f"{who} used up the time of the question (llm.question_timeout_s)"
    named = f" ({timeouts.setting}.timeout_s)" if timeouts.setting else ""
    return f"{who} took longer than {timeouts.whole_s:g} s{named}"


def _time_left() -> float:
    """Seconds that a service may use within the current question."""
    end = deadline.get()
    return float("inf") if end is None else max(0.0, (end - time.monotonic()) * (1 - RESERVED_SHARE))


async def with_breaker(source: Source[T], who: str, breaker: Breaker) -> AsyncGenerator[T, None]:
    """Record successes and failures, and make no call while the breaker is open.

    A refusal counts as success, since the service works; a cancelled call counts as neither.
    """
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


async def with_retries(
    source: Source[T],
    who: str,
    rules: Resilience,
    budget_s: float,
    clock: Clock = Clock(),  # noqa: B008
) -> AsyncGenerator[T, None]:
    """Retry temporary failures, as long as no item was received and time is left."""
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
            wait = _backoff(rules, attempt, error.retry_after_s, clock)
            late = clock.now() - started + wait >= budget_s or wait >= _time_left()
            if begun or attempt > rules.retries or late:
                raise _with_attempts(error, attempt) from error
            log.warning("%s; retrying in %.1f s", error, wait)
            count("retries")
            count("retry_wait_ms", round(wait * 1000))
            await clock.sleep(wait)


def _backoff(rules: Resilience, attempt: int, asked_s: float | None, clock: Clock) -> float:
    usual = rules.backoff_s * 2 ** (attempt - 1)
    wait = min(rules.backoff_cap_s, usual if asked_s is None else asked_s)
    return float(wait * (1 + JITTER * clock.chance()))


def _with_attempts(error: ProviderBusy, attempts: int) -> ProviderBusy:
    if attempts == 1:
        return error
    return ProviderBusy(f"{error}; tried {attempts} times", code=error.code, retry_after_s=error.retry_after_s)


class Policies:
    """The policies of one service, with the state of its circuit breaker."""

    def __init__(self, who: str, rules: Resilience, clock: Clock = Clock()) -> None:  # noqa: B008
        self._who = who
        self._rules = rules
        self._clock = clock
        self._breaker = Breaker(rules, clock)

    def stream(self, source: Source[T], timeouts: Timeouts) -> AsyncGenerator[T, None]:
        """Wrap a source with timeout, circuit breaker and retries."""
        until = time.monotonic() + timeouts.whole_s
        in_time: Source[T] = lambda: with_timeout(source, self._who, timeouts, until)  # noqa: E731
        unless_open: Source[T] = lambda: with_breaker(in_time, self._who, self._breaker)  # noqa: E731
        return with_retries(unless_open, self._who, self._rules, timeouts.whole_s, self._clock)

    async def call(self, call: Callable[[], Awaitable[T]], timeouts: Timeouts) -> T:
        """Make a call that returns one value, with the same policies."""

        async def source() -> AsyncGenerator[T, None]:
            yield await call()

        async with aclosing(self.stream(source, timeouts)) as items:
            [value] = [item async for item in items]  # read to the end, where the breaker records the success
            return value
