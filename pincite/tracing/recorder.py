"""Record the events of a run as a trace."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from pincite.core.query.answer import Answer
from pincite.core.query.prompt import Prompt
from pincite.core.query.question import Question
from pincite.core.request_context import remote_span, request_id
from pincite.core.run import Answered, Event, Planned, Run
from pincite.core.traces import Content, Trace, TraceOutcome, error_code, error_summary, without_server_message
from pincite.store.operations.traces import MAX_WAIT_S, TraceStore
from pincite.text.sentences import storable
from pincite.tracing.metrics import Metrics
from pincite.tracing.otlp import OtlpExporter
from pincite.tracing.replay import options_of, settings_of


class TraceRecorder:
    """Forwards the events of a run to its listener and records the trace; it never changes the run."""

    def __init__(
        self,
        kind: str,
        question: Question,
        listen: Callable[[Event], None] | None = None,
        *,
        replays: Trace | None = None,
    ) -> None:
        self._kind = kind
        self.question = question
        self._listen = listen
        self._replays = {"replays": replays.id, "searched": replays.searched} if replays else {}
        self._started_at = datetime.now(UTC)
        self._understood = question
        self._answer: Answer | None = None
        self.told: Trace | None = None

    @property
    def answers(self) -> bool:
        """Whether the request asks for an answer, not only for passages."""
        return self._kind in ("query", "chat")

    def certain_queries(self, max_chars: int) -> list[str]:
        """Return the text of a plain search that is certain to be accepted, to be embedded ahead of time."""
        question, text = self.question, self.question.search_text
        plain = self._kind in ("search", "evaluation") and not question.also and question.filters.index is None
        fits = text == text.strip() and 0 < len(text) <= max_chars and "\0" not in text
        return [text] if plain and fits and question.strategy != "lexical_only" else []

    @property
    def answer(self) -> str | None:
        """The text of the answer, if there is one."""
        return self._answer.text if self._answer else None

    def hear(self, event: Event) -> None:
        """Record an event and forward it to the listener."""
        if isinstance(event, Planned):
            self._understood = event.plan.question
        elif isinstance(event, Answered):
            self._answer = event.answer
        if self._listen is not None:
            self._listen(event)

    def trace(self, run: Run, error: BaseException | None) -> Trace:
        """Return the trace of a run, also of a failed one; text is included only if the settings allow it."""
        self.told = Trace(
            run.id,
            self._kind,
            self._started_at,
            run.recording.elapsed_ms,
            strategy=_strategy(run),
            error=error_summary(error) if error else None,
            code=error_code(error) if error else None,
            degraded=tuple(replace(note, reason=without_server_message(note.reason)) for note in run.degraded),
            spans=tuple(run.spans),
            request_id=request_id.get(),
            remote=remote_span.get(),
            options=options_of(self._understood) | self._replays,
            settings=settings_of(run.settings),
            outcome=_outcome(self._answer) if self._answer else None,
            content=self._content(run) if run.settings.traces.content else None,
        )
        return self.told

    def _content(self, run: Run) -> Content:
        asked = self._understood
        return Content(
            storable(asked.text),
            tuple(map(storable, asked.also)),
            standalone=storable(asked.standalone) if asked.standalone else None,
            system_prompt=storable(asked.sampling.system_prompt) if asked.sampling.system_prompt else None,
            answer=storable(self._answer.text) if self._answer else None,
            stop=tuple(map(storable, asked.sampling.stop)),
            thoughts=tuple(map(storable, run.thoughts)),
            prompt=_stored_prompt(run.prompt) if run.prompt else (),
            query=storable(asked.query) if asked.query else None,
        )


def _stored_prompt(prompt: Prompt) -> tuple[Mapping[str, str], ...]:
    """The stored messages of a prompt, without the history, which may quote documents that this request did not use."""
    *others, last = prompt.messages
    kept = [*(message for message in others if message.role == "system"), last]
    return tuple({"role": message.role, "content": storable(message.content)} for message in kept)


def _strategy(run: Run) -> str | None:
    """The search strategy of a request, if it got that far."""
    return next((span.attributes["strategy"] for span in run.spans if "strategy" in span.attributes), None)


def _outcome(answer: Answer) -> TraceOutcome:
    return TraceOutcome(
        round(answer.confidence.score, 4),
        answer.confidence.level,
        round(answer.groundedness.score, 4),
        sources=tuple(source.chunk_id for source in answer.sources),
        cited=tuple(source.chunk_id for source in answer.sources if source.cited),
        characters=len(answer.text),
        model=answer.metadata.model,
        finish_reason=answer.metadata.finish_reason,
    )


log = logging.getLogger(__name__)

MAX_PENDING_WRITES = 200
"""Maximum number of pending writes; beyond it, a request waits for one to finish."""


class TraceSink:
    """Stores traces; a failure never fails the request."""

    def __init__(self, traces: TraceStore, metrics: Metrics, telemetry: OtlpExporter | None = None) -> None:
        self._traces = traces
        self._metrics = metrics
        self._telemetry = telemetry

    async def keep(self, owner: str, trace: Trace) -> None:
        """Store a trace in the background, while the answer is sent; reading traces waits for pending writes."""
        self._metrics.count(trace)
        if self._telemetry is not None:
            self._telemetry.send(trace)
        waiting = self._traces.pending_writes
        writing = asyncio.create_task(self._write(owner, trace))
        waiting.add(writing)
        writing.add_done_callback(waiting.discard)
        if len(waiting) > MAX_PENDING_WRITES:
            await asyncio.wait(waiting, timeout=MAX_WAIT_S, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Finish what is being written and sent."""
        self._traces.write_now()
        await asyncio.gather(*self._traces.pending_writes)
        if self._telemetry is not None:
            await self._telemetry.close()

    async def _write(self, owner: str, trace: Trace) -> None:
        try:
            await self._traces.keep(owner, trace)
        except Exception as error:
            log.error("trace %s was not stored: %s", trace.id, type(error).__name__)
