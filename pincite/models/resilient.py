"""Language models, embedders and rerankers with the policies of `resilience`, and a fallback language model."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from pincite.core.protocols import LLM, Discoverable, Embedder, HasCapabilities, Reranker, ServerModel, ServesModels
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.tools import Abilities
from pincite.core.traces import count
from pincite.errors import ProviderError, Unavailable
from pincite.models.resilience import Policies, Timeouts


class WrappedLLM:
    """A language model that reports the properties of another one."""

    def __init__(self, inner: LLM) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The name of the inner model."""
        return self._inner.name

    @property
    def window(self) -> int:
        """The context window of the inner model."""
        return self._inner.window

    def window_of(self, model: str) -> int:
        """The context window of a model of the inner model's server; its own where it is no such server."""
        return self._inner.window_of(model) if isinstance(self._inner, ServesModels) else self._inner.window

    @property
    def abilities(self) -> Abilities:
        """The capabilities of the inner model."""
        return abilities_of(self._inner)

    async def discover(self) -> None:
        """Ask the server of the inner model for its properties, if it has a server."""
        if isinstance(self._inner, Discoverable):
            await self._inner.discover()

    async def list_models(self) -> list[ServerModel]:
        """List the models of the inner model's server."""
        return await self._inner.list_models() if isinstance(self._inner, Discoverable) else []

    async def close(self) -> None:
        """Close the inner model."""
        await close(self._inner)


class ResilientLLM(WrappedLLM):
    """A language model with retries, timeouts and a circuit breaker."""

    def __init__(self, inner: LLM, policies: Policies, timeouts: Timeouts) -> None:
        super().__init__(inner)
        self._policies = policies
        self._timeouts = timeouts

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream a completion; retried only before its first item."""
        source = lambda: cast(AsyncGenerator[StreamPart, None], self._inner.write(prompt))  # noqa: E731
        async with aclosing(self._policies.stream(source, self._timeouts)) as pieces:
            async for piece in pieces:
                yield piece


class FallbackLLM(WrappedLLM):
    """Answers with a second model if the first one fails before its first text; the first part then reports it.

    Its properties are those of the first model; a prompt that is too long for the second one is not sent to it.
    """

    def __init__(self, first: LLM, other: LLM) -> None:
        super().__init__(first)
        self._other = other

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream the completion of the first model, or if it fails, of the other one."""
        begun = False
        try:
            async with aclosing(cast(AsyncGenerator[StreamPart, None], self._inner.write(prompt))) as pieces:
                async for piece in pieces:
                    begun = begun or bool(piece.text)  # reasoning alone does not count
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
        note: str | None = f"{self._other.name} wrote instead of {self._inner.name}: {reason}"
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
        """Close both models."""
        await super().close()
        await close(self._other)


class ResilientEmbedder:
    """A remote embedder with the policies; `batch` is the number of texts per request."""

    def __init__(self, inner: Embedder, policies: Policies, timeout_s: float, batch: int) -> None:
        self._inner = inner
        self._policies = policies
        self._timeout_s = timeout_s
        self._batch = batch
        self.name, self.dimensions = inner.name, inner.dimensions
        self.max_tokens, self.local = inner.max_tokens, inner.local

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """Split a text as the inner embedder does."""
        return self._inner.windows(text, prefix)

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """Return one unit vector per text."""
        allowed = self._timeout_s * max(1, -(-len(texts) // self._batch))
        timeouts = Timeouts(allowed, allowed, "embedding")
        return await self._policies.call(lambda: self._inner.embed(texts, as_query=as_query), timeouts)

    async def close(self) -> None:
        """Close the embedder."""
        await close(self._inner)


class ResilientReranker:
    """A reranker with the policies."""

    def __init__(self, inner: Reranker, policies: Policies, timeouts: Timeouts) -> None:
        self._inner = inner
        self._policies = policies
        self._timeouts = timeouts

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text."""
        return await self._policies.call(lambda: self._inner.score(query, texts), self._timeouts)

    async def close(self) -> None:
        """Close the reranker."""
        await close(self._inner)


def abilities_of(llm: LLM) -> Abilities:
    """Return the capabilities a model reports; unknown if it reports none."""
    return llm.abilities if isinstance(llm, HasCapabilities) else Abilities()


async def close(service: object) -> None:
    """Close a service, if it can be closed."""
    if end := getattr(service, "close", None):
        await end()
