import asyncio
from collections.abc import Sequence

import pytest

from pincite.errors import StoreDown
from pincite.together import Together


class Doubling:
    """Doubles numbers, all that it is given at once; `wrong` fails, and `spoilt` fails for all in the same call."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, numbers: Sequence[int]) -> list[int | Exception]:
        self.calls.append(list(numbers))
        await self.gate.wait()
        if 13 in numbers:
            raise ValueError("spoilt")
        if 7 in numbers:
            raise StoreDown("gone")
        return [KeyError("wrong") if number == 0 else 2 * number for number in numbers]


def test_one_alone_is_answered_at_once() -> None:
    async def go() -> tuple[int, list[list[int]]]:
        call = Doubling()
        return await Together(call)(4), call.calls

    assert asyncio.run(go()) == (8, [[4]])


def test_what_comes_while_a_call_is_under_way_is_the_next_call() -> None:
    async def go() -> tuple[list[int], list[list[int]]]:
        call = Doubling()
        call.gate.clear()
        together = Together(call, most=3)
        first = asyncio.create_task(together(1))
        await asyncio.sleep(0.01)
        rest = [asyncio.create_task(together(number)) for number in (2, 3, 4, 5)]
        await asyncio.sleep(0.01)
        call.gate.set()
        return await asyncio.gather(first, *rest), call.calls

    assert asyncio.run(go()) == ([2, 4, 6, 8, 10], [[1], [2, 3, 4], [5]])


def test_an_error_is_raised_where_it_was_asked_for() -> None:
    async def go() -> list[object]:
        together = Together(Doubling())
        return await asyncio.gather(*map(together, (1, 0, 2)), return_exceptions=True)

    one, wrong, two = asyncio.run(go())
    assert (one, two, type(wrong)) == (2, 4, KeyError)


def test_a_call_that_fails_for_all_is_made_for_each() -> None:
    async def go() -> tuple[list[object], list[list[int]]]:
        call = Doubling()
        together = Together(call)
        return await asyncio.gather(*map(together, (1, 13, 2)), return_exceptions=True), call.calls

    (one, spoilt, two), calls = asyncio.run(go())
    assert (one, two, str(spoilt)) == (2, 4, "spoilt")
    assert calls == [[1, 13, 2], [1], [13], [2]]


def test_a_part_that_is_down_is_down_for_all_and_not_asked_again() -> None:
    async def go() -> tuple[list[object], list[list[int]]]:
        call = Doubling()
        together = Together(call)
        return await asyncio.gather(*map(together, (1, 7)), return_exceptions=True), call.calls

    errors, calls = asyncio.run(go())
    assert [type(error) for error in errors] == [StoreDown, StoreDown]
    assert calls == [[1, 7]]


def test_who_left_is_not_asked_for_and_does_not_keep_the_others() -> None:
    async def go() -> tuple[int, list[list[int]]]:
        call = Doubling()
        call.gate.clear()
        together = Together(call)
        first = asyncio.create_task(together(1))
        await asyncio.sleep(0.01)
        left, stays = asyncio.create_task(together(2)), asyncio.create_task(together(3))
        await asyncio.sleep(0.01)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        call.gate.set()
        await first
        return await stays, call.calls

    assert asyncio.run(go()) == (6, [[1], [3]])
