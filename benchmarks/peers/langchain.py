"""LangChain: `EnsembleRetriever` over Faiss and its BM25 retriever, weighted equally."""

from collections.abc import Sequence
from pathlib import Path

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from benchmarks.peers.embedder import Embedder
from benchmarks.peers.seat import CANDIDATES

DURABLE = "no: in memory until `save_local`"


class Embedding(Embeddings):
    """The embedder in the shape that is asked for here."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector a passage."""
        return self._embedder.passages(texts).tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> list[float]:
        """A question's vector."""
        return self._embedder.question(text).tolist()  # type: ignore[no-any-return]


class System:
    """Its documented ensemble; BM25 splits words at blanks and keeps capitals, which is its default."""

    def __init__(self, embedder: Embedder, _folder: Path) -> None:
        self._embedding = Embedding(embedder)
        self._retriever: EnsembleRetriever | None = None

    def add(self, documents: Sequence[tuple[str, str]]) -> None:
        """Index every document; BM25 takes them all at once and only once."""
        made = [Document(id=key, page_content=text, metadata={"id": key}) for key, text in documents]
        dense = FAISS.from_documents(made, self._embedding).as_retriever(search_kwargs={"k": CANDIDATES})
        words = BM25Retriever.from_documents(made, k=CANDIDATES)
        self._retriever = EnsembleRetriever(retrievers=[words, dense], weights=[0.5, 0.5], id_key="id")

    def search(self, question: str, limit: int) -> list[str]:
        """The best documents by id."""
        assert self._retriever is not None
        return [document.metadata["id"] for document in self._retriever.invoke(question)][:limit]

    def close(self) -> None:
        """Nothing to let go of."""
