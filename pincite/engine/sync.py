"""Pincite: the synchronous Python API, over an event loop in a background thread."""

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from pincite.config.settings import Settings
from pincite.core.documents.document import AddedAll, Document, Receipt
from pincite.core.graph import EntityCard, GraphNode, PathStep
from pincite.core.operations import StoredFlow
from pincite.core.query.answer import Answer, SearchResult
from pincite.core.query.question import Question
from pincite.engine.app import AsyncPincite
from pincite.flows.graph import Flow

T = TypeVar("T")


class Pincite:
    """A library of documents: `with Pincite("./data") as p: p.add("handbook.pdf"); print(p.ask("…").text)`."""

    def __init__(self, data: str | Path | None = None, *, settings: Settings | Mapping[str, Any] | None = None) -> None:
        self._pincite = AsyncPincite(data, settings=settings)
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Open the database and start the services."""
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="pincite", daemon=True).start()
        try:
            self._do(self._pincite.open())
        except BaseException:
            self._stop()
            raise

    def close(self) -> None:
        """Stop the services."""
        if self._loop is not None:
            self._do(self._pincite.close())
            self._stop()

    @property
    def settings(self) -> Settings:
        """The current settings: an immutable snapshot with its revision."""
        return self._pincite.settings

    def add(self, path: str | Path, *, folder: str = "") -> Document:
        """Add one file and wait until it can be searched."""
        return self._do(self._pincite.add(path, folder=folder))

    def add_all(self, *paths: str | Path, folder: str = "") -> AddedAll:
        """Add files and folders and wait until all are processed."""
        return self._do(self._pincite.add_all(*paths, folder=folder))

    def add_from_web(self, *urls: str, folder: str = "") -> AddedAll:
        """Add web pages, and the pages of sitemaps, and wait until all are processed; needs `web.enabled`."""
        return self._do(self._pincite.add_from_web(*urls, folder=folder))

    def ask(self, question: str | Question) -> Answer:
        """Answer a question."""
        return self._do(self._pincite.ask(question))

    def search(self, question: str | Question) -> SearchResult:
        """Find passages."""
        return self._do(self._pincite.search(question))

    def find_entities(self, name: str, *, limit: int = 20) -> list[GraphNode]:
        """Find entities of the knowledge graph by a part of their name."""
        return self._do(self._pincite.find_entities(name, limit=limit))

    def entity(self, entity: str) -> EntityCard:
        """Return an entity by id or name, with its facts, places and neighbours."""
        return self._do(self._pincite.entity(entity))

    def graph_path(self, start: str, end: str) -> list[PathStep]:
        """Return the shortest path between two entities, with what states each step."""
        return self._do(self._pincite.graph_path(start, end))

    def run_flow(
        self, flow: str | Mapping[str, Any] | Flow, text: str | None = None, *, version: int | None = None
    ) -> Answer:
        """Run a flow, or the stored one of a name; `text` is its input, by default the flow's own."""
        return self._do(self._pincite.run_flow(flow, text, version=version))

    def save_flow(self, name: str, definition: Mapping[str, Any]) -> StoredFlow:
        """Store a flow under a name, as its newest version."""
        return self._do(self._pincite.save_flow(name, definition))

    def flows(self) -> list[StoredFlow]:
        """Return the newest version of every stored flow, by name."""
        return self._do(self._pincite.flows())

    def flow_versions(self, name: str) -> list[StoredFlow]:
        """Return the versions of a stored flow, the newest first."""
        return self._do(self._pincite.flow_versions(name))

    def remove_flow(self, name: str) -> int:
        """Remove a stored flow; return the number of its versions."""
        return self._do(self._pincite.remove_flow(name))

    def get(self, document_id: str) -> Document:
        """Return one document."""
        return self._do(self._pincite.get(document_id))

    def documents(self, folder: str | None = None) -> list[Document]:
        """Return all documents, or those in a folder and below it."""
        return self._do(self._pincite.documents(folder))

    def remove(self, document_id: str) -> Receipt:
        """Remove a document with its versions, chunks and cached answers."""
        return self._do(self._pincite.remove(document_id))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise RuntimeError("open the library first: with Pincite(…) as p")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        if self._loop is not None:
            self._do(self._loop.shutdown_default_executor())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None
