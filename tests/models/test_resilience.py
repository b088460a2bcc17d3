import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from pincite.config.branches.generation import Resilience
from pincite.core.request_context import deadline
from pincite.core.traces import recording
from pincite.errors import ProviderBusy, ProviderError, ProviderRefused
from pincite.models import resilience
from pincite.models.resilience import Breaker, Clock, Policies, Timeouts, with_breaker, with_retries, with_timeout

RULES = Resilience()
LONG = Timeouts(60, 120, "llm")
BUSY = ProviderBusy("busy")

Script = Sequence[Any]


class Time:
    """A clock that passes only while somebody sleeps, and a chance that is always the same."""

    def __init__(self, chance: float = 0.0) -> None:
        self.now = 1000.0
        self.waits: list[float] = []
        self.clock = Clock(lambda: self.now, self._sleep, lambda: chance)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


class Service:
    """Streams one script a call: items are given, errors raised, numbers of seconds waited."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.calls = 0
        self.closed = 0

    async def __call__(self) -> AsyncGenerator[str, None]:
        script = self.scripts[min(self.calls, len(self.scripts) - 1)]
        self.calls += 1
        try:
            for item in script:
                if isinstance(item, BaseException):
                    raise item
                if isinstance(item, float):
                    await asyncio.sleep(item)
                else:
                    yield item
        finally:
            self.closed += 1


def read(source: Callable[[], AsyncGenerator[str, None]]) -> list[str]:
    async def go() -> list[str]:
        async with aclosing(source()) as items:
            return [item async for item in items]

    return asyncio.run(go())


def test_a_temporary_failure_is_retried_three_times_with_backoff() -> None:
    service, t = Service([BUSY]), Time()
    with pytest.raises(ProviderBusy, match="busy; tried 4 times"):
        read(lambda: with_retries(service, "it", RULES, 120, t.clock))
    assert (service.calls, t.waits) == (4, [1.0, 2.0, 4.0])


def test_waits_are_capped_and_up_to_a_quarter_longer() -> None:
    service, t = Service([BUSY]), Time(chance=1.0)
    with pytest.raises(ProviderBusy):
        read(lambda: with_retries(service, "it", Resilience(retries=5), 120, t.clock))
    assert t.waits == [1.25, 2.5, 5.0, 10.0, 12.5]


def test_the_second_try_may_work() -> None:
    service, t = Service([BUSY], ["a", "b"]), Time()
    with recording() as kept:
        assert read(lambda: with_retries(service, "it", RULES, 120, t.clock)) == ["a", "b"]
    assert [(one.attributes["attempt"], one.error is None) for one in kept.spans] == [(1, False), (2, True)]


@pytest.mark.parametrize(("asked", "waited"), [(3.0, 3.0), (0.0, 0.0), (60.0, 10.0)])
def test_retry_after_is_respected_up_to_the_cap(asked: float, waited: float) -> None:
    service, t = Service([ProviderBusy("busy", retry_after_s=asked)], ["a"]), Time()
    assert read(lambda: with_retries(service, "it", RULES, 120, t.clock)) == ["a"]
    assert t.waits == [waited]


@pytest.mark.parametrize("error", [ProviderRefused("wrong key"), ProviderError("rubbish")])
def test_a_permanent_failure_is_not_retried(error: ProviderError) -> None:
    service, t = Service([error]), Time()
    with pytest.raises(ProviderError, match=f"^{error}$"):
        read(lambda: with_retries(service, "it", RULES, 120, t.clock))
    assert (service.calls, t.waits) == (1, [])


def test_there_is_no_retry_after_the_first_item() -> None:
    service, t = Service(["a", BUSY]), Time()

    seen: list[str] = []

    async def go() -> None:
        async for item in with_retries(service, "it", RULES, 120, t.clock):
            seen.append(item)

    with pytest.raises(ProviderBusy):
        asyncio.run(go())
    assert (seen, service.calls) == (["a"], 1)


def test_no_wait_goes_past_the_time_there_is() -> None:
    service, t = Service([BUSY]), Time()
    with pytest.raises(ProviderBusy):
        read(lambda: with_retries(service, "it", RULES, 2.5, t.clock))
    assert (service.calls, t.waits) == (2, [1.0])


def test_no_wait_goes_past_the_questions_deadline() -> None:
    service, t = Service([BUSY]), Time()
    deadline.set(time.monotonic() + 1.0)
    try:
        with pytest.raises(ProviderBusy):
            read(lambda: with_retries(service, "it", RULES, 120, t.clock))
    finally:
        deadline.set(None)
    assert (service.calls, t.waits) == (1, [])


@pytest.mark.parametrize(
    ("script", "timeouts", "words"),
    [
        ([30.0, "a"], Timeouts(0.02, 60, "llm"), r"sent nothing within 0\.02 s \(llm\.first_token_timeout_s\)"),
        (["a", 30.0, "b"], Timeouts(0.02, 0.1, "llm"), r"took longer than 0\.1 s \(llm\.timeout_s\)"),
    ],
)
def test_a_timeout_closes_the_call(script: Script, timeouts: Timeouts, words: str) -> None:
    service = Service(script)
    with pytest.raises(ProviderError, match=words) as raised:
        read(lambda: with_timeout(service, "it", timeouts))
    assert isinstance(raised.value, ProviderBusy) == ("sent nothing" in words)  # another try may help
    assert service.closed == 1


def test_a_model_that_sent_no_token_names_the_setting_to_raise_and_is_asked_once() -> None:
    slow, paused = Service([30.0, "a"]), Service(["a", 30.0, "b"])
    with pytest.raises(
        ProviderError, match=r"\(llm\.timeout_s\); for a model that reads .* slowly, raise it$"
    ) as raised:
        read(lambda: Policies("it", Resilience()).stream(slow, Timeouts(0.05, 0.05, "llm")))
    assert not isinstance(raised.value, ProviderBusy)  # a second call would read the whole prompt again
    assert slow.closed == 1
    with pytest.raises(ProviderError, match=r"\(llm\.timeout_s\)$"):
        read(lambda: with_timeout(paused, "it", Timeouts(60, 0.1, "llm")))


def test_a_service_that_sends_nothing_is_tried_again_while_there_is_time() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    clock = Clock(sleep=sleep, chance=lambda: 0.0)
    silent = Service([30.0, "a"], [30.0, "a"], [30.0, "a"])
    policies = Policies("it", Resilience(retries=2), clock)
    with pytest.raises(ProviderError, match=r"sent nothing within 0\.02 s .*; tried 3 times"):
        read(lambda: policies.stream(silent, Timeouts(0.02, 60, "llm")))
    assert (silent.closed, waits) == (3, [1.0, 2.0])
    once = Service([30.0, "a"], ["b"])
    assert read(lambda: Policies("it", Resilience(), clock).stream(once, Timeouts(0.02, 60, "llm"))) == ["b"]
    late = Service([30.0, "a"], ["b"])
    with pytest.raises(ProviderError, match="sent nothing"):  # waiting a second would use up the time of the call
        read(lambda: Policies("it", Resilience(), clock).stream(late, Timeouts(0.02, 0.5, "llm")))
    assert late.closed == 1


def test_a_service_never_takes_all_the_time_a_question_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resilience.RESERVED_SHARE > 0
    monkeypatch.setattr(resilience, "RESERVED_SHARE", 0.95)  # a wide margin, for machines that have much else to do
    service = Service([30.0])
    end = time.monotonic() + 2.0
    deadline.set(end)
    try:
        with pytest.raises(ProviderError, match=r"llm\.question_timeout_s"):
            read(lambda: with_timeout(service, "it", LONG))
        assert time.monotonic() < end
    finally:
        deadline.set(None)


def call(breaker: Breaker, service: Service) -> list[str]:
    return read(lambda: with_breaker(service, "it", breaker))


def opened(t: Time, service: Service) -> Breaker:
    breaker = Breaker(RULES, t.clock)
    for _ in range(RULES.breaker_failures):
        with pytest.raises(ProviderError, match="busy"):
            call(breaker, service)
    return breaker


def test_five_failures_in_a_row_open_the_breaker_for_thirty_seconds() -> None:
    service, t = Service([BUSY]), Time()
    breaker = opened(t, service)
    t.now += 29
    with pytest.raises(ProviderError, match="failed 5 times in a row; the next attempt is in 1 s"):
        call(breaker, service)
    assert service.calls == 5


def test_only_one_probe_is_admitted_by_an_open_breaker() -> None:
    service, t = Service(*[[BUSY]] * 5, [0.05, "a"]), Time()
    breaker = opened(t, service)
    t.now += 31

    async def go() -> None:
        async def one() -> list[str]:
            return [item async for item in with_breaker(service, "it", breaker)]

        results = await asyncio.gather(*(one() for _ in range(4)), return_exceptions=True)
        assert results[0] == ["a"]
        assert all(isinstance(result, ProviderError) for result in results[1:])

    asyncio.run(go())
    assert service.calls == 6
    assert call(breaker, Service(["b"])) == ["b"]


def test_a_failed_probe_keeps_the_breaker_open() -> None:
    service, t = Service([BUSY]), Time()
    breaker = opened(t, service)
    t.now += 31
    with pytest.raises(ProviderError, match=r"^busy"):
        call(breaker, service)
    with pytest.raises(ProviderError, match="times in a row"):
        call(breaker, service)
    assert service.calls == 6


def test_a_cancelled_probe_admits_the_next_one() -> None:
    service, t = Service(*[[BUSY]] * 5, [30.0], ["a"]), Time()
    breaker = opened(t, service)
    t.now += 31

    async def cancelled() -> None:
        async with asyncio.timeout(0.02):
            async for _ in with_breaker(service, "it", breaker):
                pass

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    assert call(breaker, service) == ["a"]


def test_a_success_in_between_and_a_refusal_do_not_count_as_failures() -> None:
    service = Service(*[[BUSY]] * 4, ["a"], *[[BUSY]] * 4, [ProviderRefused("no")], *[[BUSY]] * 4, ["b"])
    breaker = Breaker(RULES, Time().clock)
    for script in service.scripts[:-1]:
        if script == ["a"]:
            assert call(breaker, service) == ["a"]
            continue
        with pytest.raises(ProviderError, match=r"^(busy|no)$"):
            call(breaker, service)
    assert call(breaker, service) == ["b"]


def test_an_answer_that_breaks_off_is_a_failure_and_no_success() -> None:
    service = Service(["half", ProviderError("cut")])
    breaker = Breaker(RULES, Time().clock)
    for _ in range(5):
        with pytest.raises(ProviderError, match="cut"):
            call(breaker, service)
    with pytest.raises(ProviderError, match="times in a row"):
        call(breaker, service)


def test_with_all_policies_a_failing_service_gets_five_calls() -> None:
    service, t = Service([BUSY]), Time()
    policies = Policies("it", RULES, t.clock)
    for _ in range(3):
        with pytest.raises(ProviderError):
            read(lambda: policies.stream(service, LONG))
    assert service.calls == 5
    assert t.waits == [1.0, 2.0, 4.0, 1.0]


def test_a_call_with_one_value_has_the_same_policies() -> None:
    t, calls = Time(), []

    async def once() -> int:
        calls.append(1)
        if len(calls) == 1:
            raise BUSY
        return 7

    assert asyncio.run(Policies("it", RULES, t.clock).call(once, LONG)) == 7
    assert t.waits == [1.0]


def test_a_cancelled_consumer_closes_the_source() -> None:
    service = Service(["a", "b", "c"])

    async def go() -> None:
        async with aclosing(Policies("it", RULES).stream(service, LONG)) as items:
            assert await anext(items) == "a"
        assert service.closed == 1

    asyncio.run(go())


def test_retries_share_the_timeout() -> None:
    tries = 0

    async def service() -> AsyncGenerator[str, None]:
        nonlocal tries
        tries += 1
        await asyncio.sleep(0.3)
        if tries == 1:
            raise BUSY
        yield "late"

    stream = Policies("it", Resilience(backoff_s=0), Time().clock).stream
    with pytest.raises(ProviderError, match=r"took longer than 0.4 s$"):
        read(lambda: stream(service, Timeouts(0.4, 0.4, setting="")))
    assert tries == 2
