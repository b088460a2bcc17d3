"""A retriever for LangChain; needs the extra `langchain`."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from pincite.adapters.passages import find_passages, passage_metadata


class PinciteRetriever(BaseRetriever):
    """Finds passages of an open library: `PinciteRetriever(library=p, options={"folder": "hr", "top_k": 5})`."""

    library: Any = Field(description="An open `Pincite`.")
    options: dict[str, Any] = Field(default_factory=dict, description="Keywords of `Pincite.search`.")

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [
            Document(page_content=hit.chunk.text, id=hit.chunk.id, metadata=passage_metadata(hit))
            for hit in find_passages(self.library, query, self.options)
        ]
