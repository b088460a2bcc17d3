"""LlamaIndex: `QueryFusionRetriever` over its vector index and its BM25 retriever, with reciprocal rank fusion."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms.mock import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from pydantic import PrivateAttr

from benchmarks.peers.embedder import Embedder
from benchmarks.peers.seat import CANDIDATES

DURABLE = "no: in memory until `persist`"


class Embedding(BaseEmbedding):
    """The embedder in the shape that is asked for here."""

    _embedder: Any = PrivateAttr()

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(model_name="minilm", embed_batch_size=64)
        self._embedder = embedder

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embedder.question(query).tolist()  # type: ignore[no-any-return]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.passages(texts).tolist()  # type: ignore[no-any-return]


class System:
    """Its documented fusion of one question: the default vector store, no questions made by a model."""

    def __init__(self, embedder: Embedder, _folder: Path) -> None:
        self._embedding = Embedding(embedder)
        self._retriever: QueryFusionRetriever | None = None

    def add(self, documents: Sequence[tuple[str, str]]) -> None:
        """Index every document as one node; BM25 takes them all at once and only once."""
        nodes = [TextNode(id_=key, text=text) for key, text in documents]
        index = VectorStoreIndex(nodes, embed_model=self._embedding)
        dense = index.as_retriever(similarity_top_k=CANDIDATES)
        words = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=CANDIDATES)
        self._retriever = QueryFusionRetriever(
            [dense, words], llm=MockLLM(), mode="reciprocal_rerank", num_queries=1, use_async=False,
            similarity_top_k=CANDIDATES,
        )  # fmt: skip

    def search(self, question: str, limit: int) -> list[str]:
        """The best documents by id."""
        assert self._retriever is not None
        return [found.node.node_id for found in self._retriever.retrieve(question)][:limit]

    def close(self) -> None:
        """Nothing to let go of."""
