"""txtai: an `Embeddings` database with `hybrid` and `content`, as in its documentation: Faiss, BM25 and SQLite."""

from collections.abc import Sequence
from pathlib import Path

from txtai import Embeddings

from benchmarks.peers.embedder import Embedder

DURABLE = "no: in memory until `save`"


class System:
    """Half dense, half BM25, which are its default weights."""

    def __init__(self, embedder: Embedder, _folder: Path) -> None:
        def transform(texts: Sequence[str]) -> object:
            return embedder.question(texts[0])[None] if len(texts) == 1 else embedder.passages(texts)

        self._embeddings = Embeddings(method="external", transform=transform, hybrid=True, content=True)

    def add(self, documents: Sequence[tuple[str, str]]) -> None:
        """Index every document."""
        self._embeddings.index([(key, text, None) for key, text in documents])

    def search(self, question: str, limit: int) -> list[str]:
        """The best documents by id; it looks at ten times as many of each kind by itself."""
        return [row["id"] for row in self._embeddings.search(question, limit)]

    def close(self) -> None:
        """Let go of everything."""
        self._embeddings.close()
