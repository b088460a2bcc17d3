"""Traces: the spans of one request. Context variables give each span its parent, across tasks."""

import asyncio
import random
import re
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pincite.core.query.answer import Degraded
from pincite.core.query.prompt import Draft, Prompt
from pincite.errors import PinciteError

Kind = Literal["query", "chat", "search", "replay", "evaluation", "ingest"]
"""The kind of request a trace records."""

_SERVER_MESSAGE = re.compile(r"(\(HTTP \d{3}): .*\)|( reported): .*", re.DOTALL)
MAX_SPANS = 500
"""Maximum spans of a trace, since a large file makes many calls; further spans are only counted."""


@dataclass(slots=True)
class Span:
    """One timed operation; `attributes` hold counts, ids and scores, never text of a document or a question."""

    name: str
    parent: int | None
    started_ms: float
    duration_ms: float = 0.0
    error: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: f"{random.getrandbits(64):016x}")


@dataclass(frozen=True, slots=True)
class Content:
    """The texts of a request; stored only if `traces.content` allows it.

    `query` is the text that the caller wanted searched for instead of the question.
    `prompt` holds the messages sent to the model, as `{role, content}`: the instructions, and the passages with the
    question.
    """

    question: str
    also: tuple[str, ...] = ()
    standalone: str | None = None
    system_prompt: str | None = None
    answer: str | None = None
    stop: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    prompt: tuple[Mapping[str, str], ...] = ()
    query: str | None = None


@dataclass(frozen=True, slots=True)
class TraceOutcome:
    """The properties of an answer without its text; passages are given by id."""

    confidence: float
    level: str
    groundedness: float
    sources: tuple[str, ...]
    cited: tuple[str, ...]
    characters: int
    model: str | None = None
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One request: its options, outcome and duration and, if requested, its spans.

    `options` are the question's options, `settings` the query-time settings that differ from the default: together with
    the question's text they are enough to replay it. `remote` is the client's span (`traceparent`), if it sent one.
    """

    id: str
    kind: str
    started_at: datetime
    duration_ms: float
    strategy: str | None = None
    error: str | None = None
    code: str | None = None
    degraded: tuple[Degraded, ...] = ()
    spans: tuple[Span, ...] = ()
    request_id: str = ""
    remote: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    outcome: TraceOutcome | None = None
    content: Content | None = None
    owner: str = ""

    @property
    def searched(self) -> bool:
        """Whether the request was a search or the replay of one, and so has no answer."""
        return self.kind == "search" or bool(self.options.get("searched"))

    @property
    def hits(self) -> tuple[tuple[str, float], ...]:
        """The retrieved passages in their final order, with scores; after a second pass, those of both passes."""
        searches = [span for span in self.spans if "hits" in span.attributes]
        last = next((span for span in searches if span.name == "second_look"), searches[0] if searches else None)
        return tuple((str(chunk), float(score)) for chunk, score in last.attributes["hits"]) if last else ()

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents of all retrieved passages; the id of a passage starts with the id of its document."""
        found = [str(chunk) for span in self.spans for chunk, _ in span.attributes.get("hits", ())]
        return tuple(dict.fromkeys(chunk.split(".")[0] for chunk in found))


def error_summary(error: BaseException) -> str:
    """Return an error as one line; an unexpected error only by its class, since its message could hold any text."""
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    name = type(error).__name__
    return (
        f"{name}: {without_server_message(str(error))}"[:500].replace("\0", " ")
        if isinstance(error, PinciteError)
        else name
    )


def without_server_message(text: str) -> str:
    """Remove the reply of an external server from an error message: the reply may repeat the text it was sent."""
    return _SERVER_MESSAGE.sub(lambda found: f"{found[1]})" if found[1] else found[2], text)


def error_code(error: BaseException) -> str:
    """Return the code of an error, one of a small set."""
    if isinstance(error, PinciteError):
        return error.code
    return "cancelled" if isinstance(error, asyncio.CancelledError) else "internal"


class Recording:
    """Collects the spans of one request."""

    __slots__ = ("spans", "started")

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.started = time.monotonic()

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since the start."""
        return (time.monotonic() - self.started) * 1000


_current: ContextVar[tuple[Recording, int | None] | None] = ContextVar("span", default=None)
"""The current recording, and the index of the current span in it; tasks inherit both."""


class span:
    """`with span("vector_search", candidates=100) as it:` records a timed operation of the current request.

    It records nothing outside of a request. It may be exited in another context than it was entered in: this happens
    when an asynchronous generator is closed early.
    """

    __slots__ = ("_before", "_recording", "_span", "_started")

    def __init__(self, name: str, recording: Recording | None = None, **attributes: Any) -> None:
        self._before = _current.get()
        current = self._before[0] if self._before else None
        self._recording = recording or current
        parent = self._before[1] if self._before and self._recording is current else None
        self._span = Span(name, parent, 0.0, attributes=attributes)

    def __enter__(self) -> Span:
        self._started = time.monotonic()
        if self._recording is not None and len(self._recording.spans) >= MAX_SPANS:
            count("spans_left_out")
            self._recording = None
        if self._recording is not None:
            self._span.started_ms = (self._started - self._recording.started) * 1000
            self._recording.spans.append(self._span)
            _current.set((self._recording, len(self._recording.spans) - 1))
        return self._span

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        self._span.duration_ms = (time.monotonic() - self._started) * 1000
        if error is not None:
            self._span.error = error_summary(error)
        if self._recording is not None:
            _current.set(self._before)


class call(span):
    """A span without children, such as one request to a server.

    An asynchronous generator shares the context of its consumer: the consumer's spans would become children of an
    ordinary span that is open inside the generator.
    """

    __slots__ = ()

    def __enter__(self) -> Span:
        made = super().__enter__()
        if self._recording is not None:
            _current.set(self._before)
        return made


def observe(**attributes: Any) -> None:
    """Add attributes to the current span; without one, do nothing."""
    current = _current.get()
    if current is not None and current[1] is not None:
        current[0].spans[current[1]].attributes.update(attributes)


def count(name: str, by: int = 1) -> None:
    """Add to a counter of the current span, such as `retries`."""
    current = _current.get()
    if current is not None and current[1] is not None:
        counted = current[0].spans[current[1]].attributes
        counted[name] = counted.get(name, 0) + by


class recording:
    """`with recording() as it:` records the spans of the block in a new recording."""

    __slots__ = ("_before", "_recording")

    def __enter__(self) -> Recording:
        self._before, self._recording = _current.get(), Recording()
        _current.set((self._recording, None))
        return self._recording

    def __exit__(self, *_: object) -> None:
        _current.set(self._before)


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """Which traces to list, newest first; `everybody` lists all users' traces, for administrators only."""

    kind: str | None = None
    errors: bool = False
    slower_than_ms: float | None = None
    since: datetime | None = None
    limit: int = 100
    cursor: str | None = None
    everybody: bool = False
    degraded: bool = False
    evaluations: bool = True


def embedding_attributes(provider: str, model: str, texts: int = 0) -> dict[str, Any]:
    """Return the span attributes of an embedding call; `model` includes the variant."""
    return {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "texts": texts,
    }


def llm_request_attributes(provider: str, prompt: Prompt, model: str) -> dict[str, Any]:
    """Return the span attributes of a request to a language model; options that are not set are omitted."""
    sampling = prompt.sampling
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": sampling.model or model,
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.top_p": sampling.top_p,
        "gen_ai.request.max_tokens": sampling.max_tokens,
        "prompt_tokens": prompt.tokens,
        "sources": len(prompt.sources),
    }
    return {name: value for name, value in attributes.items() if value is not None}


def llm_response_attributes(draft: Draft, first_token_ms: float | None) -> dict[str, Any]:
    """Return the span attributes of a language model's response."""
    attributes = {
        "gen_ai.response.model": draft.model,
        "gen_ai.response.finish_reasons": [draft.finish_reason] if draft.finish_reason else None,
        "gen_ai.usage.input_tokens": draft.usage.prompt_tokens if draft.usage else None,
        "gen_ai.usage.output_tokens": draft.usage.completion_tokens if draft.usage else None,
        "first_token_ms": None if first_token_ms is None else round(first_token_ms, 3),
        "characters": len(draft.text),
    }
    return {name: value for name, value in attributes.items() if value is not None}
