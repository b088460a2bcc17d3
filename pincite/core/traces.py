"""Traces: what one request did, as spans that know what they belong to, wherever they were begun."""

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
"""What a trace is of."""

_QUOTED = re.compile(r"(\(HTTP \d{3}): .*\)|( reported): .*", re.DOTALL)
MOST_SPANS = 500
"""A big file makes many calls; what comes after so many spans is counted and not told."""


@dataclass(slots=True)
class Span:
    """How one part went; `attributes` hold counts, ids and scores, never a document's or a question's words."""

    name: str
    parent: int | None
    started_ms: float
    duration_ms: float = 0.0
    error: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: f"{random.getrandbits(64):016x}")


@dataclass(frozen=True, slots=True)
class Content:
    """The words of a request; kept only where `traces.content` allows.

    `prompt` is what the model was shown, `{role, content}` each: the instructions, and the passages with the question.
    """

    question: str
    also: tuple[str, ...] = ()
    standalone: str | None = None
    system_prompt: str | None = None
    answer: str | None = None
    stop: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    prompt: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TraceOutcome:
    """What an answer was like, without its words; passages by id."""

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
    """One request: what was asked for, how it went, how long it took and, where asked for, its spans.

    `options` are those of the question and `settings` the query-time ones that were not the default: with the
    question's words they are enough to ask it again. `remote` is the caller's own span (`traceparent`), if it sent one.
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
        """Whether it was a search, or one asked again: there is no answer to it."""
        return self.kind == "search" or bool(self.options.get("searched"))

    @property
    def hits(self) -> tuple[tuple[str, float], ...]:
        """The passages that were found, in their final order, with their scores; after a second look those of both."""
        told = [span for span in self.spans if "hits" in span.attributes]
        both = next((span for span in told if span.name == "second_look"), told[0] if told else None)
        return tuple((str(chunk), float(score)) for chunk, score in both.attributes["hits"]) if both else ()

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents that any search found passages of: an id of a passage begins with its document's."""
        found = [str(chunk) for span in self.spans for chunk, _ in span.attributes.get("hits", ())]
        return tuple(dict.fromkeys(chunk.split(".")[0] for chunk in found))


def told(error: BaseException) -> str:
    """An error in one line; of one that nobody foresaw only the name, for its text could hold anything."""
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    name = type(error).__name__
    return f"{name}: {unquoted(str(error))}"[:500].replace("\0", " ") if isinstance(error, PinciteError) else name


def unquoted(text: str) -> str:
    """What went wrong without what an outside server said about it: that may repeat what it was sent."""
    return _QUOTED.sub(lambda found: f"{found[1]})" if found[1] else found[2], text)


def code_of(error: BaseException) -> str:
    """The short name of an error, one of few."""
    if isinstance(error, PinciteError):
        return error.code
    return "cancelled" if isinstance(error, asyncio.CancelledError) else "internal"


class Recording:
    """The spans of one request as they come to be."""

    __slots__ = ("spans", "started")

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.started = time.monotonic()

    @property
    def elapsed_ms(self) -> float:
        """How long it has been going on."""
        return (time.monotonic() - self.started) * 1000


_here: ContextVar[tuple[Recording, int | None] | None] = ContextVar("span", default=None)
"""The recording and the span in it that whatever runs now belongs to; tasks inherit it."""


class span:
    """`with span("vector_search", candidates=100) as it:` times a part of the request that is being served.

    Outside of a request it records nothing. It may be left in another context than it was entered in, as happens to
    an asynchronous generator that is closed early.
    """

    __slots__ = ("_before", "_recording", "_span", "_started")

    def __init__(self, name: str, recording: Recording | None = None, **attributes: Any) -> None:
        self._before = _here.get()
        current = self._before[0] if self._before else None
        self._recording = recording or current
        parent = self._before[1] if self._before and self._recording is current else None
        self._span = Span(name, parent, 0.0, attributes=attributes)

    def __enter__(self) -> Span:
        self._started = time.monotonic()
        if self._recording is not None and len(self._recording.spans) >= MOST_SPANS:
            count("spans_left_out")
            self._recording = None
        if self._recording is not None:
            self._span.started_ms = (self._started - self._recording.started) * 1000
            self._recording.spans.append(self._span)
            _here.set((self._recording, len(self._recording.spans) - 1))
        return self._span

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        self._span.duration_ms = (time.monotonic() - self._started) * 1000
        if error is not None:
            self._span.error = told(error)
        if self._recording is not None:
            _here.set(self._before)


class call(span):
    """A span that nothing lies below, such as one request to a server.

    An asynchronous generator shares the context of whoever iterates over it: an ordinary span that is open in there
    would take what its caller does meanwhile for its own.
    """

    __slots__ = ()

    def __enter__(self) -> Span:
        made = super().__enter__()
        if self._recording is not None:
            _here.set(self._before)
        return made


def observe(**attributes: Any) -> None:
    """Add facts to the span that whatever runs now belongs to; outside of one they go nowhere."""
    here = _here.get()
    if here is not None and here[1] is not None:
        here[0].spans[here[1]].attributes.update(attributes)


def count(name: str, by: int = 1) -> None:
    """Add to a number of that span, such as `retries`."""
    here = _here.get()
    if here is not None and here[1] is not None:
        counted = here[0].spans[here[1]].attributes
        counted[name] = counted.get(name, 0) + by


class recording:
    """`with recording() as it:` records the spans of what runs inside, from nothing."""

    __slots__ = ("_before", "_recording")

    def __enter__(self) -> Recording:
        self._before, self._recording = _here.get(), Recording()
        _here.set((self._recording, None))
        return self._recording

    def __exit__(self, *_: object) -> None:
        _here.set(self._before)


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """Which traces a list is about, newest first; one's own, or for an administrator everybody's."""

    kind: str | None = None
    errors: bool = False
    slower_than_ms: float | None = None
    since: datetime | None = None
    limit: int = 100
    cursor: str | None = None
    everybody: bool = False
    degraded: bool = False


def embedding(provider: str, model: str, texts: int = 0) -> dict[str, Any]:
    """The call of an embedder; a model is named with its variant."""
    return {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "texts": texts,
    }


def asked(provider: str, prompt: Prompt, model: str) -> dict[str, Any]:
    """What a model is asked for; wishes the caller did not have are not told."""
    wish = prompt.sampling
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": wish.model or model,
        "gen_ai.request.temperature": wish.temperature,
        "gen_ai.request.top_p": wish.top_p,
        "gen_ai.request.max_tokens": wish.max_tokens,
        "prompt_tokens": prompt.tokens,
        "sources": len(prompt.sources),
    }
    return {name: value for name, value in told.items() if value is not None}


def written(draft: Draft, first_token_ms: float | None) -> dict[str, Any]:
    """What came back."""
    told = {
        "gen_ai.response.model": draft.model,
        "gen_ai.response.finish_reasons": [draft.finish_reason] if draft.finish_reason else None,
        "gen_ai.usage.input_tokens": draft.usage.prompt_tokens if draft.usage else None,
        "gen_ai.usage.output_tokens": draft.usage.completion_tokens if draft.usage else None,
        "first_token_ms": None if first_token_ms is None else round(first_token_ms, 3),
        "characters": len(draft.text),
    }
    return {name: value for name, value in told.items() if value is not None}
