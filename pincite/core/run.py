"""The state of one request in a pipeline: tools, deadline, trace and event listener."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from pincite.config.settings import Settings
from pincite.core.accounts.access import Caller, Scope
from pincite.core.engines import BuildStates
from pincite.core.protocols import (
    LLM,
    Cache,
    DocumentReader,
    Embedder,
    GraphIndex,
    Index,
    Memory,
    PictureReader,
    QueryVectors,
    Reader,
    Reranker,
    TokenVectors,
    TreeSearch,
    Vector,
    Vocabulary,
)
from pincite.core.query.answer import Answer, Degraded, Source
from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Prompt, Usage
from pincite.core.query.question import Question
from pincite.core.query.tools import Step
from pincite.core.traces import Recording, Span, embedding_attributes, observe, span
from pincite.errors import OverBudget, Unavailable

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
Prefetched = dict[str, "asyncio.Future[list[Vector]]"]
"""Texts → embeddings that are being computed."""


@dataclass(frozen=True, slots=True)
class Kit:
    """The tools of a request; they are built once and shared by all requests."""

    index: Index
    embedder: Embedder
    llm: LLM
    extractive: LLM
    reranker: Reranker | None = None
    reader: Reader | None = None
    memory: Memory | None = None
    vocabulary: Vocabulary | None = None
    cache: Cache | None = None
    query_vectors: QueryVectors | None = None
    document_reader: DocumentReader | None = None
    picture_reader: PictureReader | None = None
    builds: BuildStates | None = None
    graph: GraphIndex | None = None
    tree: TreeSearch | None = None
    late: TokenVectors | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The question passed the checks and is being processed; these are the ids of its answer and trace."""

    answer_id: str
    trace_id: str
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan is complete."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The sources that the answer may cite."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class PassagesFound:
    """The result of the search, before any of it is dropped or added."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A streamed part of the draft."""

    text: str


@dataclass(frozen=True, slots=True)
class Stepped:
    """A step of an agent is complete."""

    step: Step


@dataclass(frozen=True, slots=True)
class Answered:
    """The complete answer; it replaces the streamed draft."""

    answer: Answer


Event = Started | Planned | Stepped | PassagesFound | SourcesFound | Token | Answered


@asynccontextmanager
async def prefetched(embedder: Embedder, texts: Iterable[str]) -> AsyncIterator[Prefetched]:
    """Start embedding texts before the run exists; embeddings that the run does not use are cancelled at the end."""

    async def vectors(text: str) -> list[Vector]:
        return [*await embedder.embed([text], as_query=True)]

    tasks: Prefetched = {text: asyncio.create_task(vectors(text)) for text in texts}
    try:
        yield tasks
    finally:
        await cancel_all(tasks.values())


async def cancel_all(tasks: "Collection[asyncio.Future[list[Vector]]]") -> None:
    """Cancel tasks and wait for their end."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(slots=True)
class Run:
    """The mutable state of one request: its caller, its snapshot of the settings, its trace."""

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
    embedding_error: Unavailable | None = None
    prefetching: Prefetched = field(default_factory=dict)
    prefetched: Prefetched = field(default_factory=dict)
    prompt: Prompt | None = None
    graph_seeds: tuple[int, ...] | None = None
    turn: int | None = None
    """The number of the turn that was stored before the answer."""

    @property
    def answer_id(self) -> str:
        """The id of the answer of this run."""
        return f"a_{self.id}"

    async def step(self, stage: "Callable[Concatenate[Run, P], Awaitable[T]]", *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a required stage; `OverBudget` after the deadline."""
        if time.monotonic() > self.deadline:
            raise OverBudget(
                f"no time left before {stage.__name__.lstrip('_')}; the whole question may take "
                f"{self.settings.llm.question_timeout_s:g} s (llm.question_timeout_s)"
            )
        return await self.finish(stage, *args, **kwargs)

    async def finish(
        self, stage: "Callable[Concatenate[Run, P], Awaitable[T]]", *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a stage that is exempt from the deadline, such as storing a complete answer."""
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
        """Run an optional stage; if a component is unavailable, record that and return `fallback`."""
        try:
            return await self.step(stage, *args, **kwargs)
        except Unavailable as error:
            self.degrade(stage.__name__.lstrip("_"), str(error))
            return fallback

    def degrade(self, stage: str, reason: str) -> None:
        """Record that a stage was skipped or replaced; the answer reports it."""
        log.warning("%s degraded: %s", stage, reason, extra={"trace_id": self.id})
        entry = Degraded(stage, reason.replace("\0", " "))
        if entry not in self.degraded:
            self.degraded.append(entry)

    async def prefetch_queries(self, texts: Sequence[str]) -> None:
        """Start embedding queries that are very likely searched, in one batch, while the question is being analysed."""
        if new := [text for text in dict.fromkeys(texts) if text not in self.prefetching]:
            self.prefetching.update(dict.fromkeys(new, asyncio.create_task(self._embed(new, queries=True))))
            await asyncio.sleep(0)  # start the task now, rather than at the next await of the caller

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return the embeddings of texts; each is computed once per request, and a failed embedder is not retried."""
        await self._await_prefetched(texts)
        return await self._embed(texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Return the embeddings of queries; those of a remote embedder are kept for later requests of the caller."""
        await self._await_prefetched(texts)
        return await self._embed(texts, queries=True)

    async def _await_prefetched(self, texts: Sequence[str]) -> None:
        for text in texts:
            if task := self.prefetching.pop(text, None):
                await task

    async def close(self) -> None:
        """Cancel the embeddings that were not used."""
        await cancel_all(self.prefetching.values())

    async def _embed(self, texts: Sequence[str], *, queries: bool = False) -> list[Vector]:
        if new := [text for text in dict.fromkeys(texts) if text not in self.embedded]:
            embedder = self.kit.embedder
            kept = None if not queries or embedder.local else self.kit.query_vectors
            with span(
                "query_embedding",
                self.recording,
                **embedding_attributes(self.settings.embedding.provider, embedder.name, len(new)),
            ) as it:
                if kept is not None:
                    with suppress(Unavailable):
                        self.embedded.update(await kept.find(self.caller.person, new))
                    missing = [text for text in new if text not in self.embedded]
                    it.attributes |= {"texts": len(missing), "cached": len(new) - len(missing)}
                    new = missing
                await self._embed_new(new)
                if kept is not None and new:
                    with suppress(Unavailable):
                        await kept.save(self.caller.person, {text: self.embedded[text] for text in new})
        return [self.embedded[text] for text in texts]

    async def _embed_new(self, texts: Sequence[str]) -> None:
        """Embed texts that have no vector yet; a failed embedder is not called again."""
        if not texts:
            return
        if self.embedding_error is not None:
            raise self.embedding_error
        try:
            started = self.prefetched.pop(texts[0], None) if len(texts) == 1 else None
            vectors = await (started or self.kit.embedder.embed(texts, as_query=True))
            self.embedded.update(zip(texts, vectors, strict=True))
        except Unavailable as error:
            self.embedding_error = error
            raise

    def spend(self, usage: Usage | None) -> None:
        """Add the tokens of a model call that does not write the answer itself."""
        if usage is not None:
            self.spent = usage if self.spent is None else self.spent + usage

    def provider_of(self, llm: LLM) -> str:
        """Return the provider name of a model, as the settings call it."""
        return "extractive" if llm is self.kit.extractive else self.settings.llm.provider or "openai_compatible"

    def model_of(self, question: Question) -> str:
        """Return the name of the model that answers this question."""
        return question.sampling.model or self.kit.llm.name

    def observe(self, **attributes: Any) -> None:
        """Add attributes to the span of the current stage."""
        observe(**attributes)

    @property
    def spans(self) -> list[Span]:
        """The spans so far, in the order of their start."""
        return self.recording.spans

    def durations(self) -> dict[str, float]:
        """Return the milliseconds of each stage, for the answer's metadata."""
        found: dict[str, float] = {}
        for one in self.spans:
            if one.parent is None and one.duration_ms:
                found[one.name] = round(found.get(one.name, 0.0) + one.duration_ms, 3)
        return found
