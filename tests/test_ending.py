import asyncio
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
