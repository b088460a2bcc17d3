"""Haystack: a pipeline of the two in-memory retrievers and a joiner, with reciprocal rank fusion."""

from collections.abc import Sequence
from pathlib import Path

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from benchmarks.peers.embedder import Embedder
from benchmarks.peers.seat import CANDIDATES

DURABLE = "no: in memory"


class System:
    """Its hybrid tutorial without the ranker, a model that nobody else here has."""

    def __init__(self, embedder: Embedder, _folder: Path) -> None:
        self._embedder, self._store = embedder, InMemoryDocumentStore()
        self._pipeline = Pipeline()
        words = InMemoryBM25Retriever(self._store, top_k=CANDIDATES)
        self._pipeline.add_component("words", words)
        self._pipeline.add_component("meaning", InMemoryEmbeddingRetriever(self._store, top_k=CANDIDATES))
        self._pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
        self._pipeline.connect("words", "joiner")
        self._pipeline.connect("meaning", "joiner")

    def add(self, documents: Sequence[tuple[str, str]]) -> None:
        """Embed and write every document."""
        vectors = self._embedder.passages([text for _, text in documents])
        made = [
            Document(id=key, content=text, embedding=vector.tolist())
            for (key, text), vector in zip(documents, vectors, strict=True)
        ]
        self._store.write_documents(made)

    def search(self, question: str, limit: int) -> list[str]:
        """The best documents by id."""
        vector = self._embedder.question(question).tolist()
        wanted = {"words": {"query": question}, "meaning": {"query_embedding": vector}, "joiner": {"top_k": limit}}
        return [document.id for document in self._pipeline.run(wanted)["joiner"]["documents"]]

    def close(self) -> None:
        """Nothing to let go of."""
