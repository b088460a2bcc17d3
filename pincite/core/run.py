"""One request on its way through a pipeline: its tools, clock, trace and listener."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from pincite.config.settings import Settings
from pincite.core.accounts.access import Caller, Scope
from pincite.core.protocols import (
    LLM,
    Cache,
    DocumentReader,
    Embedder,
    Index,
    Memory,
    PictureReader,
    Reranker,
    Vector,
    Vocabulary,
)
from pincite.core.query.answer import Answer, Degraded, Source
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Prompt, Usage
from pincite.core.query.question import Question
from pincite.core.query.tools import Step
from pincite.core.traces import Recording, Span, embedding, observe, span
from pincite.errors import OverBudget, Unavailable

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
Prefetched = dict[str, "asyncio.Future[list[Vector]]"]
"""Texts that are being embedded."""


@dataclass(frozen=True, slots=True)
class Kit:
    """Everything built once at start-up and shared by all requests."""

    index: Index
    embedder: Embedder
    llm: LLM
    extractive: LLM
    reranker: Reranker | None = None
    memory: Memory | None = None
    vocabulary: Vocabulary | None = None
    cache: Cache | None = None
    document_reader: DocumentReader | None = None
    picture_reader: PictureReader | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The question can be asked and is being worked on; its answer and its trace will have these ids."""

    answer_id: str
    trace_id: str
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan is made."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The sources the answer will stand on."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the draft."""

    text: str


@dataclass(frozen=True, slots=True)
class Stepped:
    """A step was made on the way to the answer."""

    step: Step


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole answer: authoritative."""

    answer: Answer


Event = Started | Planned | Stepped | SourcesFound | Token | Answered


@asynccontextmanager
async def prefetched(embedder: Embedder, texts: Iterable[str]) -> AsyncIterator[Prefetched]:
    """Begin to embed texts before there is a run that may want them; what it has not taken in the end is let go."""

    async def vectors(text: str) -> list[Vector]:
        return [*await embedder.embed([text], as_query=True)]

    coming: Prefetched = {text: asyncio.create_task(vectors(text)) for text in texts}
    try:
        yield coming
    finally:
        await cancel_all(coming.values())


async def cancel_all(coming: "Collection[asyncio.Future[list[Vector]]]") -> None:
    """End what nobody came to want."""
    for task in coming:
        task.cancel()
    await asyncio.gather(*coming, return_exceptions=True)


@dataclass(slots=True)
class Run:
    """The only mutable thing in a request: one caller, one snapshot of the settings, one trace."""

    id: str
    kit: Kit
    settings: Settings
    caller: Caller
    scope: Scope
    deadline: float
    emit: Callable[[Event], None]
    recording: Recording = field(default_factory=Recording)
    degraded: list[Degraded] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    spent: Usage | None = None
    embedded: dict[str, Vector] = field(default_factory=dict)
    unembedded: Unavailable | None = None
    prefetching: Prefetched = field(default_factory=dict)
    prefetched: Prefetched = field(default_factory=dict)
    prompt: Prompt | None = None

    @property
    def answer_id(self) -> str:
        """The id of the answer this run will give."""
        return f"a_{self.id}"

    async def step(self, stage: "Callable[Concatenate[Run, P], Awaitable[T]]", *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a stage the answer cannot do without."""
        if time.monotonic() > self.deadline:
            raise OverBudget(
                f"no time left before {stage.__name__.lstrip('_')}; the whole question may take "
                f"{self.settings.llm.question_timeout_s:g} s (llm.question_timeout_s)"
            )
        return await self.finish(stage, *args, **kwargs)

    async def finish(
        self, stage: "Callable[Concatenate[Run, P], Awaitable[T]]", *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a stage that the time is never too short for: what was told to its end is kept."""
        name = stage.__name__.lstrip("_")
        with span(name, self.recording):
            return await stage(self, *args, **kwargs)

    async def attempt(
        self,
        fallback: T,
        stage: "Callable[Concatenate[Run, P], Awaitable[T]]",
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a stage we can do without: where a part is unavailable, note it and go on with `fallback`."""
        try:
            return await self.step(stage, *args, **kwargs)
        except Unavailable as error:
            self.degrade(stage.__name__.lstrip("_"), str(error))
            return fallback

    def degrade(self, stage: str, reason: str) -> None:
        """Record that a part was missing; the answer says so."""
        log.warning("%s degraded: %s", stage, reason, extra={"trace_id": self.id})
        entry = Degraded(stage, reason.replace("\0", " "))
        if entry not in self.degraded:
            self.degraded.append(entry)

    async def prefetch_embedding(self, text: str) -> None:
        """Begin to embed a text that will very likely be searched, while it is still being looked at."""
        if text not in self.prefetching:
            self.prefetching[text] = asyncio.create_task(self._embed([text]))
            await asyncio.sleep(0)  # it begins now, and not when whoever looks at the text first has to wait

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of what is asked; each text is embedded once in a request, and who failed is not waited for again."""
        for text in texts:
            if coming := self.prefetching.pop(text, None):
                await coming
        return await self._embed(texts)

    async def close(self) -> None:
        """Let go of what nobody came to want."""
        await cancel_all(self.prefetching.values())

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        if new := [text for text in dict.fromkeys(texts) if text not in self.embedded]:
            if self.unembedded is not None:
                raise self.unembedded
            embedder = self.kit.embedder
            facts = embedding(self.settings.embedding.provider, embedder.name, len(new))
            with span("query_embedding", self.recording, **facts):
                try:
                    coming = self.prefetched.pop(new[0], None) if len(new) == 1 else None
                    vectors = await (coming or embedder.embed(new, as_query=True))
                    self.embedded.update(zip(new, vectors, strict=True))
                except Unavailable as error:
                    self.unembedded = error
                    raise
        return [self.embedded[text] for text in texts]

    def spend(self, usage: Usage | None) -> None:
        """Count what a call of the model cost beside the answer it writes."""
        if usage is not None:
            self.spent = usage if self.spent is None else self.spent + usage

    def provider_of(self, llm: LLM) -> str:
        """Who a model is, by the name the settings use."""
        return "extractive" if llm is self.kit.extractive else self.settings.llm.provider or "openai_compatible"

    def model_of(self, question: Question) -> str:
        """The name of the model that this question is for."""
        return question.sampling.model or self.kit.llm.name

    def observe(self, **attributes: Any) -> None:
        """Add facts to the span of the stage that runs now."""
        observe(**attributes)

    @property
    def spans(self) -> list[Span]:
        """What was done so far, in the order it was begun."""
        return self.recording.spans

    def durations(self) -> dict[str, float]:
        """Milliseconds by stage, for the answer's metadata."""
        found: dict[str, float] = {}
        for one in self.spans:
            if one.parent is None and one.duration_ms:
                found[one.name] = round(found.get(one.name, 0.0) + one.duration_ms, 3)
        return found
