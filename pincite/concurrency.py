"""Helpers for asyncio: cancel a task and wait for its end, and combine calls into batches."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import Context
from typing import Any, Generic, TypeVar

from pincite.errors import Unavailable

CANCEL_RETRY_S = 0.5
"""Seconds that a cancelled task has to end before it is cancelled again."""


async def cancel_and_wait(task: "asyncio.Task[Any]") -> None:
    """Cancel a task and wait until it has ended.

    It may take several calls of `cancel`: in Python 3.11 `asyncio.wait_for` can swallow one, and the connection pool
    uses it.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_RETRY_S)
    with suppress(asyncio.CancelledError):
        # Reading the exception releases its traceback and the objects in its frames, such as a half-opened connection.
        task.exception()


Item = TypeVar("Item")
Result = TypeVar("Result")


class Batcher(Generic[Item, Result]):
    """Collects the items that arrive while a call is running, and processes them in one next call.

    An item that arrives when no call is running is processed at once. `call` returns one result or error per item, in
    the items' order; an error is raised to the caller of that item. When `call` itself fails, each item is tried in a
    call of its own, so that one bad item does not fail the others. `Unavailable` is not retried: it fails all items.
    Where nobody waits for the results, `pause_s` gives more items time to arrive before a call; `hurry` ends the pause.
    """

    def __init__(
        self,
        call: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]],
        *,
        max_batch: int = 64,
        pause_s: float = 0.0,
    ) -> None:
        self._call = call
        self._max_batch = max_batch
        self._pause_s = pause_s
        self._hurried = asyncio.Event()
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._calling: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        """Return the result for one item."""
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, result))
        if self._calling is None or self._calling.done():
            # The context is empty, since a batch serves several requests.
            self._calling = asyncio.create_task(self._process_waiting(), context=Context())
        if len(self._waiting) >= self._max_batch:
            self.hurry()
        return await result

    def hurry(self) -> None:
        """Process what is waiting now."""
        self._hurried.set()

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pause_s):
                await self._hurried.wait()
        self._hurried.clear()

    async def _process_waiting(self) -> None:
        while self._waiting:
            if self._pause_s:
                await self._pause()
            part, self._waiting = self._waiting[: self._max_batch], self._waiting[self._max_batch :]
            part = [(item, result) for item, result in part if not result.done()]  # a cancelled caller needs no result
            try:
                results = list(zip(part, await self._results([item for item, _ in part]), strict=True))
            except BaseException:
                for _, result in (*part, *self._waiting):
                    result.cancel()
                self._waiting = []
                raise
            for (_, result), outcome in results:
                if result.done():
                    continue
                if isinstance(outcome, Exception):
                    result.set_exception(outcome)
                else:
                    result.set_result(outcome)

    async def _results(self, part: Sequence[Item]) -> Sequence[Result | Exception]:
        try:
            return await self._call(part) if part else ()
        except Unavailable as error:
            return [error] * len(part)
        except Exception as error:
            if len(part) == 1:
                return [error]
            return [outcome for item in part for outcome in await self._results([item])]
