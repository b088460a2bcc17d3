"""Answers on their way: each is told to whoever listens, and those meant to be resumed are kept for a while.

A stream lives in the process that began it. What nobody listens to ends: at once, or after five minutes where it
is resumable; what has ended can be fetched for five minutes more.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from pincite.api.middleware.problems import to_problem
from pincite.core.query.answer import Answer
from pincite.core.run import Answered, Event, Planned, SourcesFound, Started, Stepped, Token
from pincite.errors import Cancelled, NotAllowed, NotFound, OverBudget, PinciteError, Unauthorized
from pincite.serialize.answers import answer_json, plan_json, sources_json, step_json

ABANDON_TIMEOUT_S = RETENTION_S = 300.0
"""How long a resumable stream goes on with nobody listening, and how long it is kept when it has ended."""
MAX_STREAM_BYTES = 4_000_000
"""What one stream may tell; far more than any answer does."""
MAX_STREAMS_PER_USER, MAX_STREAMS = 32, 128
"""Resumable streams at a time, of one person and of all."""

Ask = Callable[[Callable[[Event], None]], Coroutine[Any, Any, Answer]]
"""Asks a question; the listener it is given hears what happens on the way."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream: its number, from 1 on, its name, and its data as JSON."""

    number: int
    event: str
    data: str

    @classmethod
    def of(cls, number: int, event: str, data: dict[str, Any]) -> "StreamEvent":
        """An event with this data."""
        return cls(number, event, json.dumps(data, ensure_ascii=False, separators=(",", ":")))


class Stream:
    """One answer on its way and the `documents` it stands on so far; it has an `id` where it is resumable."""

    def __init__(self, ask: Ask, *, request_id: str, stream_id: str | None = None, patience_s: float = 0.0) -> None:
        self.id = stream_id
        self.error: BaseException | None = None
        self.documents: frozenset[str] = frozenset()
        self._ask = ask
        self._request_id = request_id
        self._patience_s = patience_s
        self._told: list[StreamEvent] = []
        self._bytes = 0
        self._sources_told = False
        self._news = asyncio.Event()
        self._listeners = 0
        self._giving_up: asyncio.TimerHandle | None = None
        self._why: PinciteError | None = None
        self._asking: asyncio.Task[None] | None = None
        self._ended = False

    def begin(self) -> None:
        """Ask; from now on it ends when it has its answer, or when nobody listens for too long."""
        self._asking = asyncio.create_task(self._run())
        self._asking.add_done_callback(self._end)

    def when_ended(self, then: Callable[[], object]) -> None:
        """Do something once nothing more will be told."""
        assert self._asking is not None
        self._asking.add_done_callback(lambda _: then())

    @property
    def ended(self) -> bool:
        """Whether nothing more will be told."""
        return self._ended

    @property
    def last(self) -> int:
        """The number of the latest event."""
        return len(self._told)

    async def follow(self, after: int = 0, *, every_s: float) -> AsyncGenerator[StreamEvent | None]:
        """Each event after that number, and None whenever nothing happened for so long.

        Where it failed before anything was told, the error is raised instead; where it ended because the asker may
        not hear the rest, only that is told.
        """
        while True:
            news = self._news
            if isinstance(self.error, NotAllowed | Unauthorized):
                after = max(after, len(self._told) - 1)
            while after < len(self._told):
                after += 1
                yield self._told[after - 1]
            if self.ended:
                if self.error and not self._told:
                    raise self.error
                return
            if news is self._news:
                try:
                    async with asyncio.timeout(every_s):
                        await news.wait()
                except TimeoutError:
                    yield None

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Somebody listens meanwhile; when the last one leaves, it goes on only as long as it has patience."""
        self._listeners += 1
        if self._giving_up:
            self._giving_up.cancel()
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners and not self.ended:
                await self._left_alone()

    async def _left_alone(self) -> None:
        why = Cancelled("nobody listened any more", code="abandoned")
        if self._patience_s:
            self._giving_up = asyncio.get_running_loop().call_later(self._patience_s, self._stop, why)
        elif self._asking:
            self._stop(why)
            await asyncio.wait({self._asking})

    async def cancel(self) -> bool:
        """End it, and wait until it has ended; whether there was anything to end."""
        if self.ended or self._asking is None:
            return False
        self._stop(Cancelled("the answer was cancelled"))
        await asyncio.wait({self._asking})
        return True

    def _stop(self, why: PinciteError) -> None:
        self._why = self._why or why
        if self._asking:
            self._asking.cancel()

    async def _run(self) -> None:
        """Ask, and tell how it ended."""
        try:
            answer = await self._ask(self._hear)
            self._tell("done", {"id": answer.id})
        except (Exception, asyncio.CancelledError) as error:  # nobody awaits this task: an error is told, not raised
            self.error = self._why or error
            if self._told:
                self._tell("error", to_problem(self.error, self._request_id).shape(self._request_id))

    def _end(self, asking: "asyncio.Task[None]") -> None:
        """Wake whoever waits; one that was cancelled before its first step could not say so itself."""
        if asking.cancelled():
            self.error = self._why or asyncio.CancelledError()
        self._ended = True
        self._wake()

    def _hear(self, event: Event) -> None:
        match event:
            case Started(answer_id, trace_id, session_id):
                ids = {"id": answer_id, "trace_id": trace_id, "session_id": session_id, "stream_id": self.id}
                self._tell("start", ids)
            case Planned(plan):
                self._tell("plan", plan_json(plan))
            case Stepped(step):
                self._tell("step", step_json(step))
            case SourcesFound(sources):
                self.documents |= {source.document_id for source in sources}
                self._sources_told = True
                self._tell("sources", {"sources": sources_json(sources)})
            case Token(text):
                self._tell("token", {"text": text})
            case Answered(answer):
                self.documents |= {source.document_id for source in answer.sources}
                if not self._sources_told:
                    self._tell("sources", {"sources": sources_json(answer.sources)})
                self._tell("answer", answer_json(replace(answer, stream_id=self.id)))

    def _tell(self, event: str, data: dict[str, Any]) -> None:
        told = StreamEvent.of(len(self._told) + 1, event, data)
        self._bytes += len(told.data.encode())
        if self._bytes > MAX_STREAM_BYTES and event == "token":
            self._stop(OverBudget("the answer is too long to be streamed", code="stream_too_long"))
            return
        self._told.append(told)
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Streams:
    """The resumable streams of this process, each for its owner alone."""

    def __init__(self, *, patience_s: float = ABANDON_TIMEOUT_S, kept_s: float = RETENTION_S) -> None:
        self._patience_s = patience_s
        self._kept_s = kept_s
        self._streams: dict[str, tuple[str, Stream]] = {}

    def open(self, owner: str, ask: Ask, request_id: str, *, resumable: bool) -> Stream:
        """A stream that has begun; `OverBudget` where too many that are resumable are on their way already."""
        if not resumable:
            stream = Stream(ask, request_id=request_id)
            stream.begin()
            return stream
        self._make_room(owner)
        stream_id = f"st_{secrets.token_urlsafe(16)}"
        stream = Stream(ask, request_id=request_id, stream_id=stream_id, patience_s=self._patience_s)
        self._streams[stream_id] = owner, stream
        stream.begin()
        loop = asyncio.get_running_loop()
        stream.when_ended(lambda: loop.call_later(self._kept_s, self._streams.pop, stream_id, None))
        return stream

    def get(self, owner: str, stream_id: str) -> Stream:
        """One of the owner's own; one of somebody else is as good as missing."""
        whose, stream = self._streams.get(stream_id, ("", None))
        if stream is None or whose != owner:
            raise NotFound(f"there is no stream '{stream_id}'; one is kept for five minutes, where it began")
        return stream

    async def cancel(self, owner: str, stream_id: str) -> bool:
        """End one of the owner's own and forget it; whether there was anything to end."""
        stream = self.get(owner, stream_id)
        cancelled = await stream.cancel()
        self._streams.pop(stream_id, None)
        return cancelled

    async def close(self) -> None:
        """End all of them."""
        await asyncio.gather(*(stream.cancel() for _, stream in self._streams.values()))
        self._streams.clear()

    def _make_room(self, owner: str) -> None:
        """The oldest that have ended go first; those on their way are never dropped."""
        for mine, most in ((True, MAX_STREAMS_PER_USER), (False, MAX_STREAMS)):
            counted = [(one, stream) for one, (whose, stream) in self._streams.items() if whose == owner or not mine]
            while len(counted) >= most:
                oldest = next((one for one in counted if one[1].ended), None)
                if oldest is None:
                    raise OverBudget(
                        f"{most} resumable answers are on their way; cancel one with DELETE /chat/streams/ID, or wait",
                        code="too_many_streams",
                    )
                counted.remove(oldest)
                del self._streams[oldest[0]]
