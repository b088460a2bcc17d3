"""Quotas: leases of budgets in one process."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pincite.config.branches.server import Limits as Rules
from pincite.engine import quotas as limits_module
from pincite.engine.quotas import Quotas
from pincite.errors import OverBudget, StoreDown
from pincite.store.access.usage import Granted


class Counted:
    """A fake usage store that records its calls."""

    def __init__(self, *, most: int, left_s: float = 60.0, part: int = 10) -> None:
        self.most, self.left_s, self.part = most, left_s, part
        self.used, self.asked = 0, 0
        self.settled: list[int] = []
        self.down = False

    async def take(self, name: str, most: int, **_: Any) -> Granted:
        return await self._granted(self.part)

    async def reserve(self, person: str, name: str, amount: int, most: int) -> Granted:
        return await self._granted(amount, whole=True)

    async def settle(self, person: str, name: str, difference: int) -> None:
        if self.down:
            raise StoreDown("gone")
        self.settled.append(difference)

    async def _granted(self, wanted: int, *, whole: bool = False) -> Granted:
        self.asked += 1
        await asyncio.sleep(0)
        left = self.most - self.used
        amount = 0 if whole and left < wanted else min(wanted, left)
        granted = Granted(amount, self.used, self.most, self.left_s)
        self.used += granted.amount
        return granted


def limited(test: Callable[[Quotas, Counted], Any], **budget: Any) -> None:
    async def run() -> None:
        counted = Counted(**budget)
        await test(Quotas(counted, Rules), counted)  # type: ignore[arg-type]

    asyncio.run(run())


def test_one_query_serves_many_requests_and_a_used_up_budget_needs_none() -> None:
    async def test(limits: Quotas, counted: Counted) -> None:
        ended = await asyncio.gather(*(limits.request("bob") for _ in range(100)), return_exceptions=True)
        assert [isinstance(one, OverBudget) for one in ended].count(False) == 25
        assert counted.asked == 4  # 10, 10, 5 and none
        with pytest.raises(OverBudget, match=r"25 requests this minute, .*limits\.requests_per_minute") as refused:
            await limits.request("bob")
        assert refused.value.code == "too_many_requests"
        assert refused.value.retry_after_s is not None
        assert 0 < refused.value.retry_after_s <= 60
        with pytest.raises(OverBudget):
            limits.refuse_if_used_up("bob")
        assert counted.asked == 4
        limits.refuse_if_used_up("anna")
        limits.refuse_if_used_up("")

    limited(test, most=25)


def test_a_renewed_budget_is_leased_again() -> None:
    async def test(limits: Quotas, counted: Counted) -> None:
        await limits.question("bob")
        with pytest.raises(OverBudget):
            await limits.question("bob")
        counted.used = 0
        await asyncio.sleep(0.06)
        await limits.question("bob")

    limited(test, most=1, left_s=0.05)


def test_unlimited_users_are_never_refused_and_queried_once_a_minute() -> None:
    async def test(limits: Quotas, counted: Counted) -> None:
        for _ in range(100):
            await limits.anonymous_request("192.0.2.1")
        async with limits.answering("bob", 1000):
            pass
        async with limits.answering("bob", 1000) as bill:
            bill.tokens = 7
        assert counted.asked == 2
        assert counted.settled == [7]

    limited(test, most=0)


def test_reserved_tokens_are_corrected_however_an_answer_ends() -> None:
    async def test(limits: Quotas, counted: Counted) -> None:
        async with limits.answering("bob", 1000) as bill:
            bill.tokens = 400
        with pytest.raises(ZeroDivisionError):
            async with limits.answering("bob", 1000):
                raise ZeroDivisionError
        counted.down = True
        async with limits.answering("bob", 1000):
            pass  # not counted is no reason to fail
        assert counted.settled == [-600, -1000]
        with pytest.raises(OverBudget, match=r"3,000 of 3,500 tokens .* tomorrow") as refused:
            async with limits.answering("bob", 1000):
                pass
        assert refused.value.code == "quota_tokens"

    limited(test, most=3500)


def test_the_number_of_leases_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "MAX_LEASES", 10)

    async def test(limits: Quotas, counted: Counted) -> None:
        for number in range(50):
            await limits.anonymous_request(f"192.0.2.{number}")
        assert len(limits._leases) == 10
        assert not limits._renewing

    limited(test, most=10_000)
