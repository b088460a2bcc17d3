"""Scripted fakes of a language model, embedder and reranker: deterministic and offline, for tests and demos."""

import asyncio
import hashlib
import math
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from pincite.core.protocols import LLM, Embedder, Reranker
from pincite.core.query.prompt import Prompt, StreamPart, Usage
from pincite.errors import ProviderError

_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Options:
    """The behaviour of the fakes; `answers` are returned one after the other, then the last one is repeated."""

    answers: tuple[str, ...] = ()
    fail: str = ""
    fail_after: int | None = None
    delay_s: float = 0.0
    dimensions: int = 64
    window: int = 0


class ScriptedEmbedder:
    """Embeds a text by its hashed words, so that texts that share words are similar."""

    name = "scripted/1"
    max_tokens = 256
    local = False

    def __init__(self, options: Options) -> None:
        self.dimensions = options.dimensions if options.dimensions > 0 else 64
        self._fail = options.fail

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """Split into parts of 200 words with an overlap of 20."""
        spans = [match.span() for match in _WORDS.finditer(text)]
        if len(spans) <= 200:
            return [prefix + text]
        starts = range(0, len(spans) - 20, 180)
        ends = [spans[start + 200][0] if start + 200 < len(spans) else len(text) for start in starts]
        return [
            prefix + text[0 if start == 0 else spans[start][0] : end] for start, end in zip(starts, ends, strict=True)
        ]

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """Return one unit vector per text."""
        if self._fail:
            raise ProviderError(self._fail)
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in _WORDS.findall(text.lower()) or [""]:
            digest = hashlib.sha256(word.encode()).digest()
            vector[int.from_bytes(digest[:4], "big") % self.dimensions] += 1.0 if digest[4] % 2 else -1.0
        vector[0] += 1e-3  # words can cancel out; a vector must not be zero
        length = math.sqrt(sum(x * x for x in vector))
        return [x / length for x in vector]


class ScriptedLLM:
    """Streams the scripted answers word by word; without a script it repeats the start of source 1."""

    name = "scripted"

    def __init__(self, options: Options) -> None:
        self.window = options.window or 8192
        self._options = options
        self._calls = 0

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """Stream the next answer of the script."""
        if self._options.fail and self._options.fail_after is None:
            raise ProviderError(self._options.fail)
        text = self._next(prompt)
        for count, word in enumerate(re.findall(r"\s*\S+|\s+$", text)):
            if self._options.fail_after is not None and count >= self._options.fail_after:
                raise ProviderError(self._options.fail or "the script ends here")
            if self._options.delay_s:
                await asyncio.sleep(self._options.delay_s)
            yield StreamPart(word)
        yield StreamPart(finish_reason="stop", model=self.name, usage=Usage(prompt.tokens, len(text.split())))

    def _next(self, prompt: Prompt) -> str:
        answers = self._options.answers
        if not answers:
            start = " ".join(prompt.sources[0].chunk.text.split()[:12]) if prompt.sources else "Nothing."
            return f"{start} [Source 1]" if prompt.sources else start
        self._calls += 1
        return answers[min(self._calls, len(answers)) - 1]


class ScriptedReranker:
    """Scores a text by the share of the query's words it contains."""

    def __init__(self, options: Options) -> None:
        self._fail = options.fail

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text."""
        if self._fail:
            raise ProviderError(self._fail)
        wanted = set(_WORDS.findall(query.lower()))
        return [len(wanted & set(_WORDS.findall(text.lower()))) / (len(wanted) or 1) for text in texts]


def make_embedder(options: Options) -> Embedder:
    """Create the embedder; called by `plugins.load`."""
    return ScriptedEmbedder(options)


def make_llm(options: Options) -> LLM:
    """Create the language model; called by `plugins.load`."""
    return ScriptedLLM(options)


def make_reranker(options: Options) -> Reranker:
    """Create the reranker; called by `plugins.load`."""
    return ScriptedReranker(options)
