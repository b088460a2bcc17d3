"""A retriever for LlamaIndex; needs the extra `llamaindex`."""

import asyncio
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from pincite.adapters.passages import find_passages, passage_metadata
from pincite.engine.sync import Pincite


class PinciteRetriever(BaseRetriever):
    """Finds passages of an open library: `PinciteRetriever(p, folder="hr", top_k=5)`."""

    def __init__(self, library: Pincite, **options: Any) -> None:
        super().__init__()
        self._library = library
        self._options = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(id_=hit.chunk.id, text=hit.chunk.text, metadata=passage_metadata(hit)), score=hit.score
            )
            for hit in find_passages(self._library, query_bundle.query_str, self._options)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
