import asyncio
import gc
import weakref
from contextlib import suppress

from pincite.ending import ended


def test_a_task_that_swallows_a_cancellation_ends_all_the_same() -> None:
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
        await asyncio.wait_for(ended(task), 10)
        return task.cancelled()

    assert asyncio.run(go())
    assert swallowed == 1


def test_one_that_failed_is_over_and_nothing_is_raised() -> None:
    async def failing() -> None:
        raise ValueError

    async def go() -> bool:
        task = asyncio.create_task(failing())
        await asyncio.sleep(0)
        await ended(task)
        return task.done()

    assert asyncio.run(go())


def test_what_a_task_had_in_hand_goes_with_it_though_somebody_keeps_the_task() -> None:
    class Held:
        """Something that is let go of when nobody holds it."""

    async def holding(seen: list[weakref.ref[Held]]) -> None:
        held = Held()
        seen.append(weakref.ref(held))
        await asyncio.sleep(3600)
        del held

    async def go() -> tuple[object, object]:
        seen: list[weakref.ref[Held]] = []
        task = asyncio.create_task(holding(seen))
        await asyncio.sleep(0)
        await ended(task)
        return seen[0](), task

    gc.disable()  # at once, not when somebody sweeps
    try:
        held, _task = asyncio.run(go())
    finally:
        gc.enable()
    assert held is None
