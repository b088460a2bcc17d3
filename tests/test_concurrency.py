import asyncio
import gc
import weakref
from collections.abc import Sequence
from contextlib import suppress

import pytest

from pincite.concurrency import Batcher, cancel_and_wait
from pincite.errors import StoreDown


def test_a_task_that_swallows_a_cancellation_is_cancelled_again() -> None:
    swallowed = 0

    async def stubborn() -> None:
        nonlocal swallowed
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        swallowed += 1
        await asyncio.sleep(3600)

    async def go() -> bool:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        await asyncio.wait_for(cancel_and_wait(task), 10)
        return task.cancelled()

    assert asyncio.run(go())
    assert swallowed == 1


def test_the_error_of_a_cancelled_task_is_not_raised() -> None:
    async def failing() -> None:
        raise ValueError

    async def go() -> bool:
        task = asyncio.create_task(failing())
        await asyncio.sleep(0)
        await cancel_and_wait(task)
        return task.done()

    assert asyncio.run(go())


def test_objects_of_an_ended_task_are_released() -> None:
    class Held:
        """An object that is garbage-collected when no reference is left."""

    async def holding(seen: list[weakref.ref[Held]]) -> None:
        held = Held()
        seen.append(weakref.ref(held))
        await asyncio.sleep(3600)
        del held

    async def go() -> tuple[object, object]:
        seen: list[weakref.ref[Held]] = []
        task = asyncio.create_task(holding(seen))
        await asyncio.sleep(0)
        await cancel_and_wait(task)
        return seen[0](), task

    gc.disable()  # at once, not when somebody sweeps
    try:
        held, _task = asyncio.run(go())
    finally:
        gc.enable()
    assert held is None


class Doubling:
    """Doubles a batch of numbers; `wrong` fails by itself, and `spoilt` fails the whole call."""

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


def test_a_single_item_is_processed_at_once() -> None:
    async def go() -> tuple[int, list[list[int]]]:
        call = Doubling()
        return await Batcher(call)(4), call.calls

    assert asyncio.run(go()) == (8, [[4]])


def test_items_that_arrive_during_a_call_form_the_next_call() -> None:
    async def go() -> tuple[list[int], list[list[int]]]:
        call = Doubling()
        call.gate.clear()
        together = Batcher(call, max_batch=3)
        first = asyncio.create_task(together(1))
        await asyncio.sleep(0.01)
        rest = [asyncio.create_task(together(number)) for number in (2, 3, 4, 5)]
        await asyncio.sleep(0.01)
        call.gate.set()
        return await asyncio.gather(first, *rest), call.calls

    assert asyncio.run(go()) == ([2, 4, 6, 8, 10], [[1], [2, 3, 4], [5]])


def test_a_call_may_wait_for_more_items() -> None:
    async def go() -> tuple[list[int], list[list[int]]]:
        call = Doubling()
        together = Batcher(call, max_batch=3, pause_s=0.2)
        first = asyncio.create_task(together(1))
        await asyncio.sleep(0)
        return await asyncio.gather(first, together(2), together(3), together(4)), call.calls

    assert asyncio.run(go()) == ([2, 4, 6, 8], [[1, 2, 3], [4]])


def test_an_error_is_raised_to_the_caller_of_its_item() -> None:
    async def go() -> list[object]:
        together = Batcher(Doubling())
        return await asyncio.gather(*map(together, (1, 0, 2)), return_exceptions=True)

    one, wrong, two = asyncio.run(go())
    assert (one, two, type(wrong)) == (2, 4, KeyError)


def test_a_failed_batch_is_retried_item_by_item() -> None:
    async def go() -> tuple[list[object], list[list[int]]]:
        call = Doubling()
        together = Batcher(call)
        return await asyncio.gather(*map(together, (1, 13, 2)), return_exceptions=True), call.calls

    (one, spoilt, two), calls = asyncio.run(go())
    assert (one, two, str(spoilt)) == (2, 4, "spoilt")
    assert calls == [[1, 13, 2], [1], [13], [2]]


def test_unavailable_fails_the_whole_batch_without_a_retry() -> None:
    async def go() -> tuple[list[object], list[list[int]]]:
        call = Doubling()
        together = Batcher(call)
        return await asyncio.gather(*map(together, (1, 7)), return_exceptions=True), call.calls

    errors, calls = asyncio.run(go())
    assert [type(error) for error in errors] == [StoreDown, StoreDown]
    assert calls == [[1, 7]]


def test_a_cancelled_caller_is_dropped_from_its_batch() -> None:
    async def go() -> tuple[int, list[list[int]]]:
        call = Doubling()
        call.gate.clear()
        together = Batcher(call)
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


def test_a_pause_lets_items_arrive_and_ends_when_hurried_or_when_a_batch_is_full() -> None:
    async def go() -> tuple[list[list[int]], bool]:
        call = Doubling()
        together = Batcher(call, max_batch=3, pause_s=3600)
        first = [asyncio.create_task(together(number)) for number in (1, 2)]
        await asyncio.sleep(0.01)
        waited = not call.calls
        together.hurry()
        await asyncio.gather(*first)
        await asyncio.gather(*(together(number) for number in (3, 4, 5)))
        return call.calls, waited

    assert asyncio.run(go()) == ([[1, 2], [3, 4, 5]], True)
