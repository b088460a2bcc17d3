"""Work for a client that is cancelled when the client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

T = TypeVar("T")


async def until_disconnect(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Do the work; when the client disconnects, cancel it and raise `ClientDisconnect`."""
    return await run_until_error(work, wait_for_disconnect(receive))


async def run_until_error(work: Coroutine[Any, Any, T], *watchers: Coroutine[Any, Any, NoReturn]) -> T:
    """Do the work until one of the watchers raises; then cancel the work, await its end and raise that error."""
    working = asyncio.create_task(work)
    watching = [asyncio.create_task(watcher) for watcher in watchers]
    try:
        await asyncio.wait({working, *watching}, return_when=asyncio.FIRST_COMPLETED)
        for watcher in watching:
            if watcher.done() and not working.done():
                watcher.result()
        return working.result()
    finally:
        for task in (working, *watching):
            task.cancel()
        await asyncio.gather(working, *watching, return_exceptions=True)


async def wait_for_disconnect(receive: Receive) -> NoReturn:
    """Wait until the client disconnects, then raise `ClientDisconnect`."""
    while (await receive())["type"] != "http.disconnect":
        pass
    raise ClientDisconnect
