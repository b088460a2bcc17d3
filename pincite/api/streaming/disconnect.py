"""Work that is done for a client only as long as it is there."""

import asyncio
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

T = TypeVar("T")


async def until_disconnect(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Do the work; the moment the client goes away it is cancelled, and `ClientDisconnect` raised."""
    return await run_until_error(work, wait_for_disconnect(receive))


async def run_until_error(work: Coroutine[Any, Any, T], *ends: Coroutine[Any, Any, NoReturn]) -> T:
    """Do the work until one of these raises: then it is cancelled, its end awaited, and that error raised."""
    working = asyncio.create_task(work)
    ending = [asyncio.create_task(end) for end in ends]
    try:
        await asyncio.wait({working, *ending}, return_when=asyncio.FIRST_COMPLETED)
        for end in ending:
            if end.done() and not working.done():
                end.result()
        return working.result()
    finally:
        for task in (working, *ending):
            task.cancel()
        await asyncio.gather(working, *ending, return_exceptions=True)


async def wait_for_disconnect(receive: Receive) -> NoReturn:
    """Wait until the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass
    raise ClientDisconnect
