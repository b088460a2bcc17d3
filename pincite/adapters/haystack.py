"""A retriever component for Haystack; needs the extra `haystack`."""

from typing import Any

from haystack import Document, component

from pincite.adapters.passages import find_passages, passage_metadata
from pincite.engine.sync import Pincite


@component
class PinciteRetriever:
    """Finds passages of an open library: `PinciteRetriever(p, folder="hr", top_k=5)`."""

    def __init__(self, library: Pincite, **options: Any) -> None:
        self._library = library
        self._options = options

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the passages for a query; `top_k` takes the place of the component's own."""
        options = self._options if top_k is None else {**self._options, "top_k": top_k}
        found = find_passages(self._library, query, options)
        return {
            "documents": [
                Document(id=hit.chunk.id, content=hit.chunk.text, meta=passage_metadata(hit), score=hit.score)
                for hit in found
            ]
        }
