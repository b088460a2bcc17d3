"""End a task, and be sure that it is over."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import Context
from typing import Any, Generic, TypeVar

from pincite.errors import Unavailable

CANCEL_AGAIN_S = 0.5
"""How long a cancelled task is given before it is told once more."""


async def cancel_and_wait(task: "asyncio.Task[Any]") -> None:
    """Cancel it until it is over: in Python 3.11 `wait_for`, which the connection pool uses too, can swallow one call."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_AGAIN_S)
    with suppress(asyncio.CancelledError):
        # How it ended does not matter any more; and what is looked at is let go of, with all that its frames hold, such as
        # a connection that was being opened.
        task.exception()


Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Batcher(Generic[Asked, Answer]):
    """Makes one call for all that is asked while the one before is under way; whoever comes alone does not wait.

    `call` answers each of what it is given, in their order, with a result or with an error that is raised where
    it was asked. Should it fail as a whole, each is asked for by itself, so that one cannot spoil it for the others;
    but where a part is down, it is down for all.
    """

    def __init__(
        self, call: Callable[[Sequence[Asked]], Awaitable[Sequence[Answer | Exception]]], *, most: int = 32
    ) -> None:
        self._call = call
        self._most = most
        self._waiting: list[tuple[Asked, asyncio.Future[Answer]]] = []
        self._calling: asyncio.Task[None] | None = None

    async def __call__(self, asked: Asked) -> Answer:
        """The answer to this one."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, answer))
        if self._calling is None or self._calling.done():
            self._calling = asyncio.create_task(self._call_on(), context=Context())  # nobody's request in particular
        return await answer

    async def _call_on(self) -> None:
        while self._waiting:
            part, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
            part = [(asked, answer) for asked, answer in part if not answer.done()]  # who left needs none
            try:
                found = list(zip(part, await self._answers([asked for asked, _ in part]), strict=True))
            except BaseException:
                for _, answer in (*part, *self._waiting):
                    answer.cancel()
                self._waiting = []
                raise
            for (_, answer), one in found:
                if answer.done():
                    continue
                if isinstance(one, Exception):
                    answer.set_exception(one)
                else:
                    answer.set_result(one)

    async def _answers(self, part: Sequence[Asked]) -> Sequence[Answer | Exception]:
        try:
            return await self._call(part) if part else ()
        except Unavailable as error:
            return [error] * len(part)
        except Exception as error:
            if len(part) == 1:
                return [error]
            return [one for asked in part for one in await self._answers([asked])]
