"""pincite with default settings: its own embedder, its own process for bulk work, its own PostgreSQL."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pincite import AsyncPincite
from pincite.core.documents.document import Upload
from pincite.core.query.question import Question

DURABLE = "yes: every document survives a crash"
MOST_PASSAGES = 3
"""A long document has several passages, and one place in the ranking: so many more are asked for."""


class System:
    """The library's own door, on an event loop that lasts."""

    def __init__(self, _embedder: object, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._pincite = AsyncPincite(folder)
        self._loop.run_until_complete(self._pincite.__aenter__())

    def add(self, documents: Sequence[tuple[str, str]]) -> None:
        """Take every document as a Markdown file and wait until all can be found."""
        self._loop.run_until_complete(self._add(documents))

    async def _add(self, documents: Sequence[tuple[str, str]]) -> None:
        self._pincite.services.workers.start()
        uploads = [Upload(f"{key}.md", text.encode()) for key, text in documents]
        added = await self._pincite.documents.upload_all(uploads)
        await self._pincite.documents.wait([one.document.id for one in added])

    def search(self, question: str, limit: int) -> list[str]:
        """The best documents by id."""
        asked = Question(question, top_k=limit * MOST_PASSAGES)
        result = self._loop.run_until_complete(self._pincite.search(asked))
        return list(dict.fromkeys(hit.chunk.document_name.removesuffix(".md") for hit in result.hits))[:limit]

    def close(self) -> None:
        """Stop the workers and the database."""
        self._loop.run_until_complete(self._pincite.__aexit__(None, None, None))
        self._loop.close()
