"""Models, embedders and rerankers with the policies of `resilience` around them, and a model that steps in for another."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from pincite.core.protocols import LLM, Discoverable, Embedder, HasCapabilities, Reranker, ServerModel
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.tools import Abilities
from pincite.core.traces import count
from pincite.errors import ProviderError, Unavailable
from pincite.models.resilience import Patience, Policies


class ResilientLLM:
    """A model with the policies around it."""

    def __init__(self, inner: LLM, steadied: Policies, patience: Patience) -> None:
        self._inner = inner
        self._steadied = steadied
        self._patience = patience

    @property
    def name(self) -> str:
        """The model's own."""
        return self._inner.name

    @property
    def window(self) -> int:
        """The model's own."""
        return self._inner.window

    @property
    def abilities(self) -> Abilities:
        """The model's own."""
        return abilities_of(self._inner)

    async def discover(self) -> None:
        """Let the model's server say what it has, where it has one."""
        if isinstance(self._inner, Discoverable):
            await self._inner.discover()

    async def list_models(self) -> list[ServerModel]:
        """What its server has."""
        return await self._inner.list_models() if isinstance(self._inner, Discoverable) else []

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream what the model writes; tried again only as long as nothing has come."""
        source = lambda: cast(AsyncGenerator[StreamPart, None], self._inner.write(prompt))  # noqa: E731
        async with aclosing(self._steadied.around(source, self._patience)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """Let go of what the model holds."""
        await close(self._inner)


class FallbackLLM:
    """Writes with another model where the first gives nothing; the first piece then says so."""

    def __init__(self, first: LLM, other: LLM) -> None:
        self._first = first
        self._other = other

    @property
    def name(self) -> str:
        """The first model's."""
        return self._first.name

    @property
    def window(self) -> int:
        """The first model's; a prompt that is too long for the other is not put to it."""
        return self._first.window

    @property
    def abilities(self) -> Abilities:
        """The first model's."""
        return abilities_of(self._first)

    async def discover(self) -> None:
        """Let the first model's server say what it has."""
        if isinstance(self._first, Discoverable):
            await self._first.discover()

    async def list_models(self) -> list[ServerModel]:
        """What the first model's server has."""
        return await self._first.list_models() if isinstance(self._first, Discoverable) else []

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """The first model's words, or all of them the other's."""
        begun = False
        try:
            async with aclosing(cast(AsyncGenerator[StreamPart, None], self._first.write(prompt))) as pieces:
                async for piece in pieces:
                    begun = begun or bool(piece.text)  # who failed while it was thinking has said nothing
                    yield piece
            return
        except Unavailable as error:
            if begun:
                raise
            reason = error
        async with aclosing(self._instead(prompt, reason)) as pieces:
            async for piece in pieces:
                yield piece

    async def _instead(self, prompt: Prompt, reason: Unavailable) -> AsyncGenerator[StreamPart, None]:
        if isinstance(self._other, Discoverable):
            await self._other.discover()
        if prompt.tokens >= self._other.window:
            raise ProviderError(f"{reason}; the prompt is too long for {self._other.name}, its fallback") from reason
        count("fallbacks")
        note: str | None = f"{self._other.name} wrote instead of {self._first.name}: {reason}"
        own = replace(prompt, sampling=replace(prompt.sampling, model=None))
        try:
            async with aclosing(cast(AsyncGenerator[StreamPart, None], self._other.write(own))) as pieces:
                async for piece in pieces:
                    yield replace(piece, note=note)
                    note = None
        except Unavailable as error:
            if note is None:
                raise
            raise ProviderError(f"{reason}; its fallback failed too: {error}") from error

    async def close(self) -> None:
        """Let go of what both hold."""
        await close(self._first)
        await close(self._other)


class ResilientEmbedder:
    """An embedder elsewhere with the policies around it; `batch` is how many texts it takes at a time."""

    def __init__(self, inner: Embedder, steadied: Policies, timeout_s: float, batch: int) -> None:
        self._inner = inner
        self._steadied = steadied
        self._timeout_s = timeout_s
        self._batch = batch
        self.name, self.dimensions = inner.name, inner.dimensions
        self.max_tokens, self.local = inner.max_tokens, inner.local

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """As the embedder splits it."""
        return self._inner.windows(text, prefix)

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """One unit vector a text."""
        allowed = self._timeout_s * max(1, -(-len(texts) // self._batch))
        patience = Patience(allowed, allowed, "embedding")
        return await self._steadied.once(lambda: self._inner.embed(texts, as_query=as_query), patience)

    async def close(self) -> None:
        """Let go of what the embedder holds."""
        await close(self._inner)


class ResilientReranker:
    """A reranker elsewhere with the policies around it."""

    def __init__(self, inner: Reranker, steadied: Policies, patience: Patience) -> None:
        self._inner = inner
        self._steadied = steadied
        self._patience = patience

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text."""
        return await self._steadied.once(lambda: self._inner.score(query, texts), self._patience)

    async def close(self) -> None:
        """Let go of what the reranker holds."""
        await close(self._inner)


def abilities_of(llm: LLM) -> Abilities:
    """What a model says that it can do; nothing is known of one that says nothing."""
    return llm.abilities if isinstance(llm, HasCapabilities) else Abilities()


async def close(service: object) -> None:
    """Let go of what a service holds, if it holds anything."""
    if end := getattr(service, "close", None):
        await end()
