"""The fair queue: order, shares and refusals."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pincite.api.admission import fair_queue as turns_module
from pincite.api.admission.fair_queue import FairQueue
from pincite.config.branches.server import Limits
from pincite.errors import OverBudget, Overloaded


class Room:
    """People who come in, stay until they are told to leave, and are written down in the order they got in."""

    def __init__(self, **rules: int) -> None:
        self.turns = FairQueue(lambda: Limits(**rules))
        self.inside: list[str] = []
        self._stay: dict[int, asyncio.Event] = {}
        self._who: list[tuple[str, asyncio.Task[None]]] = []

    async def come(self, *people: str) -> None:
        for person in people:
            number = len(self._who)
            self._stay[number] = asyncio.Event()
            self._who.append((person, asyncio.create_task(self._visit(person, number))))
        await self.settle()

    async def _visit(self, person: str, number: int) -> None:
        async with self.turns.slot(person):
            self.inside.append(person)
            try:
                await self._stay[number].wait()
            finally:
                self.inside.remove(person)

    async def enter(self, person: str) -> None:
        async with self.turns.slot(person):
            pass

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def leave(self, person: str) -> None:
        """The one of them who came first and is inside leaves."""
        number = next(n for n, (one, task) in enumerate(self._who) if one == person and not task.done())
        self._stay[number].set()
        await self.settle()

    def task(self, number: int) -> "asyncio.Task[None]":
        return self._who[number][1]


async def maybe(work: Coroutine[Any, Any, None] | None) -> None:
    if work is not None:
        await work


def in_a_room(visit: Callable[[Room], object], **rules: int) -> None:
    async def run() -> None:
        await visit(Room(**rules))  # type: ignore[misc]

    asyncio.run(run())


def test_a_single_user_may_hold_all_slots() -> None:
    async def visit(room: Room) -> None:
        await room.come(*["anna"] * 6)
        assert room.inside == ["anna"] * 4
        await room.leave("anna")
        assert room.inside == ["anna"] * 4

    in_a_room(visit, at_once=4)


def test_users_are_served_round_robin() -> None:
    async def visit(room: Room) -> None:
        await room.come("anna", *["anna"] * 20, "bob", "cleo")
        seen = list(room.inside)
        for _ in range(4):
            await room.leave(room.inside[0])
            seen += room.inside
        assert seen == ["anna", "anna", "bob", "cleo", "anna"]

    in_a_room(visit, at_once=1, waiting=100)


def test_active_users_hold_equal_shares() -> None:
    async def visit(room: Room) -> None:
        await room.come("bob")
        await room.leave("bob")
        await room.come(*["anna"] * 10)
        assert room.inside == ["anna"] * 2  # two of four: bob may come again any moment
        await room.come("bob")
        assert room.inside == ["anna", "anna", "bob"]

    in_a_room(visit, at_once=4)


def test_inactive_users_hold_no_share(monkeypatch: pytest.MonkeyPatch) -> None:
    async def visit(room: Room) -> None:
        await room.come("bob")
        await room.leave("bob")
        monkeypatch.setattr(turns_module, "RECENT_USER_S", -1.0)
        await room.come(*["anna"] * 10)
        assert room.inside == ["anna"] * 4

    in_a_room(visit, at_once=4)


def test_requests_above_the_waiting_limits_are_refused() -> None:
    async def visit(room: Room) -> None:
        await room.come("anna", "bob", "bob")
        for refuse in (room.turns.check, room.enter):
            with pytest.raises(OverBudget, match="2 of your requests are waiting") as mine:
                await maybe(refuse("bob"))
            assert (mine.value.code, mine.value.retry_after_s) == ("too_many_waiting", 1)
        room.turns.check("cleo")
        await room.come("cleo")
        for refuse in (room.turns.check, room.enter):
            for person in ("dora", ""):
                with pytest.raises(Overloaded):
                    await maybe(refuse(person))
        await room.leave("anna")
        room.turns.check("dora")

    in_a_room(visit, at_once=1, waiting=3, waiting_per_user=2)


def test_a_single_user_may_use_the_whole_waiting_line() -> None:
    async def visit(room: Room) -> None:
        await room.come(*["anna"] * 5)
        room.turns.check("anna")
        await room.come("anna")
        with pytest.raises(Overloaded):
            await room.enter("anna")

    in_a_room(visit, at_once=1, waiting=5, waiting_per_user=2)


def test_a_cancelled_waiter_holds_no_slot() -> None:
    async def visit(room: Room) -> None:
        await room.come("anna", "bob", "cleo")
        room.task(1).cancel()
        await room.settle()
        assert not room.turns._waiting.get("bob")
        room._stay[0].set()
        while not room.turns._running["cleo"]:
            await asyncio.sleep(0)
        assert "cleo" not in room.inside  # let in, and has not noticed yet
        room.task(2).cancel()
        await room.settle()
        await room.come("dora")
        assert room.inside == ["dora"]
        assert room.turns._running.total() == 1

    in_a_room(visit, at_once=1)


def test_a_slot_is_released_once() -> None:
    async def run() -> None:
        turns = FairQueue(lambda: Limits(at_once=2))
        async with turns.slot("anna") as turn, turns.slot("bob"):
            turn.release()
            turn.release()
            assert turns._running == {"bob": 1}
        assert not turns._running

    asyncio.run(run())


def test_an_unbounded_queue_lets_any_number_wait() -> None:
    async def visit(room: Room) -> None:
        room.turns = FairQueue(lambda: Limits(at_once=1, waiting=1, waiting_per_user=1), unbounded=True)
        await room.come("anna", *["bob"] * 20)
        room.turns.check("bob")
        assert (room.inside, room.turns._waiting_count()) == (["anna"], 20)

    in_a_room(visit)


def test_a_factor_multiplies_the_slots() -> None:
    async def visit(room: Room) -> None:
        room.turns = FairQueue(lambda: Limits(at_once=1), factor=3)
        await room.come(*["anna"] * 5)
        assert len(room.inside) == 3

    in_a_room(visit)
