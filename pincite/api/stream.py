"""An answer on its way, as server-sent events."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from pincite.api import shapes
from pincite.api.presence import unless_gone
from pincite.api.problems import problem_of, request_id_of
from pincite.core.answers import Answer
from pincite.core.run import Answered, Event, Planned, SourcesFound, Started, Token

KEEP_ALIVE_S = 15.0
"""A silent stream is kept alive by a comment this often."""

Ask = Callable[[Callable[[Event], None]], Coroutine[Any, Any, Answer]]
"""Asks a question; the listener it is given hears what happens on the way."""
Write = Callable[[bytes], Awaitable[None]]


def frame(event: str, data: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return f"event: {event}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


class AnswerStream(StreamingResponse):
    """`start`, `plan`, `sources`, `token`*, `answer`, `done`; or `error`, which ends a stream that failed.

    Nothing is sent before the plan is made, so that a question that cannot be asked is refused with its own
    status, as without a stream. When the client goes away, the work is cancelled.
    """

    def __init__(self, ask: Ask) -> None:
        super().__init__((), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self._ask = ask
        self._begun = False
        self._start = b""
        self._sources_told = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they happen."""

        async def write(data: bytes) -> None:
            if not self._begun:
                self._begun = True
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": data, "more_body": True})

        try:
            await unless_gone(receive, self._work(write))
        except ClientDisconnect:
            raise
        except (Exception, asyncio.CancelledError) as error:  # a cancelled request means that the server stops
            if not self._begun:
                raise
            request_id = request_id_of(scope)
            await write(frame("error", problem_of(error, request_id).shape(request_id)))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _work(self, write: Write) -> None:
        """Ask, and pass on what is heard, until the answer is there."""
        heard: asyncio.Queue[Event | None] = asyncio.Queue()
        asking = asyncio.create_task(self._ask(heard.put_nowait))
        asking.add_done_callback(lambda _: heard.put_nowait(None))
        try:
            while (event := await _next(heard, write)) is not None:
                for told in self._frames(event):
                    await write(told)
            answer = asking.result()
            await write(frame("done", {"id": answer.id}))
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    def _frames(self, event: Event) -> Iterator[bytes]:
        match event:
            case Started(answer_id, trace_id):
                self._start = frame("start", {"id": answer_id, "trace_id": trace_id})
            case Planned(plan):
                yield self._start
                yield frame("plan", shapes.plan(plan))
            case SourcesFound(sources):
                self._sources_told = True
                yield frame("sources", {"sources": shapes.sources(sources)})
            case Token(text):
                yield frame("token", {"text": text})
            case Answered(answer):
                if not self._sources_told:
                    yield frame("sources", {"sources": shapes.sources(answer.sources)})
                yield frame("answer", shapes.answer(answer))


async def _next(heard: "asyncio.Queue[Event | None]", write: Write) -> Event | None:
    """The next event, however long it takes; None after the last."""
    while True:
        try:
            return await asyncio.wait_for(heard.get(), KEEP_ALIVE_S)
        except TimeoutError:
            await write(b": still here\n\n")
