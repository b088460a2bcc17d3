"""Something on its way, as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from pincite.api.middleware.problems import get_request_id, to_problem
from pincite.api.streaming.answer_streams import Stream, StreamEvent
from pincite.api.streaming.disconnect import run_until_error, wait_for_disconnect

KEEP_ALIVE_S = 15.0
"""A silent stream is kept alive by a comment this often."""

Write = Callable[[bytes], Awaitable[None]]
EventFormat = Callable[[StreamEvent], bytes]
"""How an event is written down."""


def sse_frame(told: StreamEvent, *, numbered: bool) -> bytes:
    """One server-sent event; its number is for those who may take the stream up again."""
    number = f"id: {told.number}\n" if numbered else ""
    return f"{number}event: {told.event}\ndata: {told.data}\n\n".encode()


class EventStream(StreamingResponse):
    """Events as they happen, a comment for each None among them, and `error`, which ends a stream that failed.

    Nothing is sent before there is something to tell, so that what cannot be done is refused with its own status, as
    without a stream. `unwelcome` raises when the client may listen no longer.
    """

    def __init__(
        self,
        events: AsyncGenerator[StreamEvent | None],
        unwelcome: Coroutine[Any, Any, NoReturn],
        *,
        tell: EventFormat | None = None,
    ) -> None:
        super().__init__((), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self._events = events
        self._unwelcome = unwelcome
        self._tell = tell or partial(sse_frame, numbered=False)
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they happen."""

        async def write(data: bytes) -> None:
            if not self._begun:
                self._begun = True
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": data, "more_body": True})

        try:
            await run_until_error(self._pass_on(write), wait_for_disconnect(receive), self._unwelcome)
        except ClientDisconnect:
            raise
        except (Exception, asyncio.CancelledError) as error:  # a cancelled request means that the server stops
            if not self._begun:
                raise
            await write(self._tell(_error_event(error, get_request_id(scope))))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pass_on(self, write: Write) -> None:
        async with aclosing(self._events) as events:
            async for told in events:
                if data := self._tell(told) if told else b": still here\n\n":
                    await write(data)


class AnswerStream(EventStream):
    """`start`, `plan`, `step`*, `sources`, `token`*, `answer`, `done`; or `error`, where it failed."""

    def __init__(
        self,
        stream: Stream,
        unwelcome: Coroutine[Any, Any, NoReturn],
        *,
        after: int = 0,
        tell: EventFormat | None = None,
    ) -> None:
        events = stream.follow(after, every_s=KEEP_ALIVE_S)
        super().__init__(events, unwelcome, tell=tell or partial(sse_frame, numbered=stream.id is not None))
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events for as long as somebody listens."""
        async with self._stream.listening():
            await super().__call__(scope, receive, send)


def _error_event(error: BaseException, request_id: str) -> StreamEvent:
    return StreamEvent.of(0, "error", to_problem(error, request_id).shape(request_id))
