"""Builds the token vectors of a document's passages, in the process of the bulk embedder."""

import asyncio

import numpy as np

from pincite.core.engines import BuildPassage, BuildSource, BuildTarget, BuiltEngine
from pincite.ingest.embed.bulk_embedder import BulkEmbedder
from pincite.ingest.engines.builder import Built
from pincite.ingest.tree.kmeans import Array, k_means
from pincite.models.token_vectors import unpack
from pincite.store.engines.late_rows import LateRows, TokenRow

VERSION = 1
"""Version of the token vectors; raise it when others are computed for the same passage."""
MAX_CENTROIDS = 8
"""Centroids of a passage in the token index."""
TOKENS_PER_CENTROID = 8


class LateBuilder:
    """Builds token vectors with the embedder's model or that of a folder; with centroids for the token index."""

    engine: BuiltEngine = "late"

    def __init__(self, embedder: BulkEmbedder, name: str, folder: str, *, centroids: bool) -> None:
        self._embedder = embedder
        self._folder = folder
        self._centroids = centroids
        self.signature = f"{VERSION}:{folder or name}{':centroids' if centroids else ''}"

    async def build(self, target: BuildTarget, source: BuildSource) -> Built:
        """Build the token vectors of one edition."""
        texts = [(token_text(source.title, passage), passage.language) for passage in source.passages]
        packed = await self._embedder.embed_tokens(texts, self._folder)
        rows = [
            TokenRow(passage.chunk, tokens, await self._centroids_of(tokens, packed.dimensions))
            for passage, tokens in zip(source.passages, packed.passages, strict=True)
        ]
        return Built(LateRows(packed.model, rows))

    async def _centroids_of(self, tokens: bytes, dimensions: int) -> list[list[float]]:
        if not self._centroids or not tokens:
            return []
        found: Array = await asyncio.to_thread(token_centroids, unpack(tokens, dimensions))
        return found.tolist()  # type: ignore[no-any-return]


def token_text(title: str, passage: BuildPassage) -> str:
    """The text whose tokens stand for a passage: its title and headings, then its own."""
    headings = " > ".join(dict.fromkeys((title, *passage.heading_path)))
    return f"{headings}\n{passage.text}"


def token_centroids(tokens: Array) -> Array:
    """Return up to eight centroids of a passage's token vectors."""
    count = min(MAX_CENTROIDS, max(1, len(tokens) // TOKENS_PER_CENTROID), len(np.unique(tokens, axis=0)))
    return k_means(tokens, count)
