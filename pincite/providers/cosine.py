"""A reranker without its own model: the cosine between query and text, computed by the embedder.

A search takes the cosines of stored vectors instead, and asks for those of the other passages only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.protocols import Embedder, Reranker


@dataclass(frozen=True, slots=True)
class Options:
    """No options."""


class Cosine:
    """Scores a text by its best-matching window."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one cosine per text."""
        [wanted] = await self._embedder.embed([query], as_query=True)
        parts = [(n, window) for n, text in enumerate(texts) for window in self._embedder.windows(text)]
        vectors = await self._embedder.embed([window for _, window in parts], as_query=False)
        scores = [-1.0] * len(texts)
        for (n, _), vector in zip(parts, vectors, strict=True):
            scores[n] = max(scores[n], sum(a * b for a, b in zip(wanted, vector, strict=True)))
        return scores


def make_reranker(options: Options, embedder: Embedder) -> Reranker:
    """Create the reranker; called by `plugins.load`, which passes the embedder."""
    return Cosine(embedder)
