"""Streams of answers in progress; a resumable stream is retained for a while.

A stream lives in the process that started it. A stream without listeners is cancelled: at once, or after five minutes
if it is resumable. A resumable stream can be fetched for five minutes after its end.
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
from pincite.core.run import Answered, Event, PassagesFound, Planned, SourcesFound, Started, Stepped, Token
from pincite.errors import Cancelled, NotAllowed, NotFound, OverBudget, Overloaded, PinciteError, Unauthorized
from pincite.serialize.answers import answer_json, plan_json, sources_json, step_json

ABANDON_TIMEOUT_S = RETENTION_S = 300.0
"""Seconds that a resumable stream continues without listeners, and that it is retained after its end."""
MAX_STREAM_BYTES = 4_000_000
"""Bytes of events of one stream; far more than any answer has."""
MAX_STREAMS_PER_USER, MAX_STREAMS = 32, 128
"""Resumable streams at a time, of one user and of all users."""

Ask = Callable[[Callable[[Event], None]], Coroutine[Any, Any, Answer]]
"""Asks a question and passes the events of its run to the given listener."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream: its number, from 1 on, its name, and its data as JSON."""

    number: int
    event: str
    data: str

    @classmethod
    def of(cls, number: int, event: str, data: dict[str, Any]) -> "StreamEvent":
        """Make an event with this data."""
        return cls(number, event, json.dumps(data, ensure_ascii=False, separators=(",", ":")))


class Stream:
    """One answer in progress and the `documents` it uses so far; `id` is set if it is resumable."""

    def __init__(
        self, ask: Ask, *, request_id: str, stream_id: str | None = None, abandon_timeout_s: float = 0.0
    ) -> None:
        self.id = stream_id
        self.error: BaseException | None = None
        self.documents: frozenset[str] = frozenset()
        self._ask = ask
        self._request_id = request_id
        self._abandon_timeout_s = abandon_timeout_s
        self._events: list[StreamEvent] = []
        self._bytes = 0
        self._sources_sent = False
        self._changed = asyncio.Event()
        self._listeners = 0
        self._abandon_timer: asyncio.TimerHandle | None = None
        self._stop_reason: PinciteError | None = None
        self._task: asyncio.Task[None] | None = None
        self._ended = False

    def begin(self) -> None:
        """Start asking; the stream ends with its answer, or when it is abandoned."""
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(self._end)

    def when_ended(self, then: Callable[[], object]) -> None:
        """Call a function once the stream has ended."""
        assert self._task is not None
        self._task.add_done_callback(lambda _: then())

    @property
    def ended(self) -> bool:
        """Whether the stream has ended."""
        return self._ended

    @property
    def last(self) -> int:
        """The number of the latest event."""
        return len(self._events)

    async def follow(self, after: int = 0, *, every_s: float) -> AsyncGenerator[StreamEvent | None]:
        """Yield each event after that number, and None after every `every_s` seconds without an event.

        If the answer failed before its first event, raise the error. If the caller lost the permission to read it,
        yield only the last event, which is that error.
        """
        while True:
            changed = self._changed
            if isinstance(self.error, NotAllowed | Unauthorized):
                after = max(after, len(self._events) - 1)
            while after < len(self._events):
                after += 1
                yield self._events[after - 1]
            if self.ended:
                if self.error and not self._events:
                    raise self.error
                return
            if changed is self._changed:
                try:
                    async with asyncio.timeout(every_s):
                        await changed.wait()
                except TimeoutError:
                    yield None

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Count a listener; when the last one leaves, the stream is abandoned."""
        self._listeners += 1
        if self._abandon_timer:
            self._abandon_timer.cancel()
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners and not self.ended:
                await self._abandon()

    async def _abandon(self) -> None:
        reason = Cancelled("the stream has no listeners", code="abandoned")
        if self._abandon_timeout_s:
            self._abandon_timer = asyncio.get_running_loop().call_later(self._abandon_timeout_s, self._stop, reason)
        elif self._task:
            self._stop(reason)
            await asyncio.wait({self._task})

    async def cancel(self) -> bool:
        """Cancel the stream and wait for its end; return whether it was still running."""
        if self.ended or self._task is None:
            return False
        self._stop(Cancelled("the answer was cancelled"))
        await asyncio.wait({self._task})
        return True

    def _stop(self, reason: PinciteError) -> None:
        self._stop_reason = self._stop_reason or reason
        if self._task:
            self._task.cancel()

    async def _run(self) -> None:
        """Ask, and append the final event."""
        try:
            answer = await self._ask(self._on_event)
            self._append("done", {"id": answer.id})
        except (Exception, asyncio.CancelledError) as error:  # nobody awaits this task: an error becomes an event
            self.error = self._stop_reason or error
            if self._events:
                self._append("error", to_problem(self.error, self._request_id).to_json(self._request_id))

    def _end(self, task: "asyncio.Task[None]") -> None:
        """Wake all listeners; a task cancelled before its first step has not recorded its error yet."""
        if task.cancelled():
            self.error = self._stop_reason or asyncio.CancelledError()
        self._ended = True
        self._wake()

    def _on_event(self, event: Event) -> None:
        match event:
            case Started(answer_id, trace_id, session_id):
                ids = {"id": answer_id, "trace_id": trace_id, "session_id": session_id, "stream_id": self.id}
                self._append("start", ids)
            case Planned(plan):
                self._append("plan", plan_json(plan))
            case Stepped(step):
                self._append("step", step_json(step))
            case PassagesFound(hits):
                self.documents |= {hit.chunk.document_id for hit in hits}
            case SourcesFound(sources):
                self.documents |= {source.document_id for source in sources}
                self._sources_sent = True
                self._append("sources", {"sources": sources_json(sources)})
            case Token(text):
                self._append("token", {"text": text})
            case Answered(answer):
                self.documents |= {source.document_id for source in answer.sources}
                if not self._sources_sent:
                    self._append("sources", {"sources": sources_json(answer.sources)})
                self._append("answer", answer_json(replace(answer, stream_id=self.id)))

    def _append(self, event: str, data: dict[str, Any]) -> None:
        new = StreamEvent.of(len(self._events) + 1, event, data)
        self._bytes += len(new.data.encode())
        if self._bytes > MAX_STREAM_BYTES and event == "token":
            self._stop(OverBudget("the answer is too long for a stream; ask without stream", code="stream_too_long"))
            return
        self._events.append(new)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Streams:
    """The resumable streams of this process; each is visible to its owner only."""

    def __init__(
        self,
        *,
        abandon_timeout_s: float = ABANDON_TIMEOUT_S,
        retention_s: float = RETENTION_S,
        worker: int | None = None,
    ) -> None:
        self._mark = "" if worker is None else f"{worker}."
        self._abandon_timeout_s = abandon_timeout_s
        self._retention_s = retention_s
        self._streams: dict[str, tuple[str, Stream]] = {}

    def open(self, owner: str, ask: Ask, request_id: str, *, resumable: bool) -> Stream:
        """Start a stream; raise `OverBudget` when too many resumable streams are running."""
        if not resumable:
            stream = Stream(ask, request_id=request_id)
            stream.begin()
            return stream
        self._make_room(owner)
        stream_id = f"st_{self._mark}{secrets.token_urlsafe(16)}"
        stream = Stream(ask, request_id=request_id, stream_id=stream_id, abandon_timeout_s=self._abandon_timeout_s)
        self._streams[stream_id] = owner, stream
        stream.begin()
        loop = asyncio.get_running_loop()
        stream.when_ended(lambda: loop.call_later(self._retention_s, self._streams.pop, stream_id, None))
        return stream

    def get(self, owner: str, stream_id: str) -> Stream:
        """A stream of the owner; raise `NotFound` for streams of others too, `Overloaded` for another worker's."""
        if self._mark and "." in stream_id and not stream_id.startswith(f"st_{self._mark}"):
            raise Overloaded(
                "this stream is kept by another process of the server; try again over a new connection, which may "
                "reach that process, or ask again",
                code="other_worker",
            )
        whose, stream = self._streams.get(stream_id, ("", None))
        if stream is None or whose != owner:
            raise NotFound(
                f"there is no stream '{stream_id}'; a stream is kept for five minutes, by the process that started it"
            )
        return stream

    async def cancel(self, owner: str, stream_id: str) -> bool:
        """Cancel a stream of the owner and remove it; return whether it was still running."""
        stream = self.get(owner, stream_id)
        cancelled = await stream.cancel()
        self._streams.pop(stream_id, None)
        return cancelled

    async def close(self) -> None:
        """Cancel all streams."""
        await asyncio.gather(*(stream.cancel() for _, stream in self._streams.values()))
        self._streams.clear()

    def _make_room(self, owner: str) -> None:
        """Remove the oldest ended streams above the limits; running streams are never removed."""
        for own_only, limit in ((True, MAX_STREAMS_PER_USER), (False, MAX_STREAMS)):
            counted = [
                (one, stream) for one, (whose, stream) in self._streams.items() if whose == owner or not own_only
            ]
            while len(counted) >= limit:
                oldest = next((one for one in counted if one[1].ended), None)
                if oldest is None:
                    raise OverBudget(
                        f"{limit} resumable answers are in progress; cancel one with DELETE /chat/streams/ID, or wait",
                        code="too_many_streams",
                    )
                counted.remove(oldest)
                del self._streams[oldest[0]]
