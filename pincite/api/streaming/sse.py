"""Responses as server-sent events."""

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
"""Seconds without an event after which a comment keeps the stream alive."""

Write = Callable[[bytes], Awaitable[None]]
EventFormat = Callable[[StreamEvent], bytes]
"""Formats an event as bytes of the response."""


def sse_frame(event: StreamEvent, *, numbered: bool) -> bytes:
    """One server-sent event; `numbered` adds its id, with which a resumable stream can be resumed."""
    number = f"id: {event.number}\n" if numbered else ""
    return f"{number}event: {event.event}\ndata: {event.data}\n\n".encode()


class EventStream(StreamingResponse):
    """A stream of events, with a comment for each None; the event `error` ends a failed stream.

    The response starts with the first event, so that a request refused before has its own status, as without a stream.
    `revoked` raises when the client loses its permission.
    """

    def __init__(
        self,
        events: AsyncGenerator[StreamEvent | None],
        revoked: Coroutine[Any, Any, NoReturn],
        *,
        event_format: EventFormat | None = None,
    ) -> None:
        super().__init__((), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self._events = events
        self._revoked = revoked
        self._format = event_format or partial(sse_frame, numbered=False)
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they occur."""

        async def write(data: bytes) -> None:
            if not self._started:
                self._started = True
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": data, "more_body": True})

        try:
            await run_until_error(self._send_events(write), wait_for_disconnect(receive), self._revoked)
        except ClientDisconnect:
            raise
        except (Exception, asyncio.CancelledError) as error:  # a cancelled request means that the server is stopping
            if not self._started:
                raise
            await write(self._format(_error_event(error, get_request_id(scope))))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_events(self, write: Write) -> None:
        async with aclosing(self._events) as events:
            async for event in events:
                if data := self._format(event) if event else b": still here\n\n":
                    await write(data)


class AnswerStream(EventStream):
    """`start`, `plan`, `step`*, `sources`, `token`*, `answer`, `done`; or `error` if it failed."""

    def __init__(
        self,
        stream: Stream,
        revoked: Coroutine[Any, Any, NoReturn],
        *,
        after: int = 0,
        event_format: EventFormat | None = None,
    ) -> None:
        events = stream.follow(after, every_s=KEEP_ALIVE_S)
        super().__init__(
            events, revoked, event_format=event_format or partial(sse_frame, numbered=stream.id is not None)
        )
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events while the client listens."""
        async with self._stream.listening():
            await super().__call__(scope, receive, send)


def _error_event(error: BaseException, request_id: str) -> StreamEvent:
    return StreamEvent.of(0, "error", to_problem(error, request_id).to_json(request_id))
