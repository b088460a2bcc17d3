"""AsyncPincite: the asynchronous Python API, in three parts: documents, questions, admin."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, cast

from pincite.config.settings import Settings
from pincite.config.sources import layers_of, read_layers
from pincite.core.accounts.access import LOCAL, Caller, Scope
from pincite.core.documents.document import AddedAll, Document, Progress, Receipt
from pincite.core.graph import EntityCard, GraphNode, PathStep
from pincite.core.operations import StoredFlow
from pincite.core.query.answer import Answer, SearchResult
from pincite.core.query.question import Question
from pincite.core.run import Event
from pincite.engine.admin import Admin
from pincite.engine.documents import Documents
from pincite.engine.graph import KnowledgeGraph
from pincite.engine.questions import Questions
from pincite.engine.wiring import Services
from pincite.flows.graph import Flow
from pincite.ingest.accept.collect import Collected, collect


class AsyncPincite:
    """A library of documents and all its operations; open one per data folder and process.

    The most common calls are methods of this class; the rest is in `documents`, `questions` and `admin`.
    """

    def __init__(self, data: str | Path | None = None, *, settings: Settings | Mapping[str, Any] | None = None) -> None:
        if isinstance(settings, Settings):
            layers = layers_of(settings)
        else:
            layers = read_layers({**({"data": Path(data)} if data is not None else {}), **(settings or {})})
        self.services = Services(layers)
        self.documents = Documents(self.services)
        self.questions = Questions(self.services)
        self.admin = Admin(self.services)
        self.graph = KnowledgeGraph(self.services)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Open the database and start the services; on failure, stop those that were started."""
        await self.services.open()

    async def close(self) -> None:
        """Stop the services in reverse order of their start."""
        await self.services.close()

    @property
    def settings(self) -> Settings:
        """The current settings: an immutable snapshot with its revision."""
        return self.services.settings

    async def scope(self, caller: Caller = LOCAL) -> Scope:
        """Return the scope of a caller: the documents they may read."""
        return await self.services.scope(caller)

    async def add(self, path: str | Path, *, folder: str = "", caller: Caller = LOCAL) -> Document:
        """Add one file and wait until it can be searched.

        `Unreadable` if it cannot be parsed, `ProviderError` if its passages cannot be embedded.
        """
        return await self.documents.add(path, folder=folder, caller=caller)

    async def add_all(
        self,
        *paths: str | Path | Collected,
        folder: str = "",
        caller: Caller = LOCAL,
        report: Callable[[Progress], None] | None = None,
    ) -> AddedAll:
        """Add files and folders and wait until all are processed; `report` is called with the progress.

        What `collect` returned is added as it is.
        """
        if len(paths) == 1 and isinstance(paths[0], Collected):
            return await self.documents.add_all(paths[0], caller=caller, report=report)
        files = await asyncio.to_thread(collect, [Path(cast(str, path)) for path in paths], folder)
        return await self.documents.add_all(files, caller=caller, report=report)

    async def add_from_web(self, *urls: str, folder: str = "", caller: Caller = LOCAL) -> AddedAll:
        """Add web pages, and the pages of sitemaps, and wait until all are processed; needs `web.enabled`."""
        from pincite.engine.connectors.web_import import WebImporter  # it imports this module

        return await WebImporter(self, caller).add_all(urls, folder)

    async def get(self, document_id: str, *, caller: Caller = LOCAL) -> Document:
        """Return one document."""
        return await self.documents.get(document_id, caller=caller)

    async def remove(self, document_id: str, *, caller: Caller = LOCAL) -> Receipt:
        """Remove a document with its versions, chunks and cached answers."""
        return await self.documents.remove(document_id, caller=caller)

    async def ask(
        self,
        question: str | Question,
        *,
        caller: Caller = LOCAL,
        listen: Callable[[Event], None] | None = None,
        settings: Settings | None = None,
    ) -> Answer:
        """Answer a question; `listen` is called with each event. `settings` replaces the current settings for it."""
        return await self.questions.ask(question, caller=caller, listen=listen, settings=settings)

    async def search(
        self, question: str | Question, *, caller: Caller = LOCAL, settings: Settings | None = None
    ) -> SearchResult:
        """Find passages; several queries are fused. `settings` replaces the current settings for this search."""
        return await self.questions.search(question, caller=caller, settings=settings)

    async def find_entities(self, name: str, *, limit: int = 20, caller: Caller = LOCAL) -> list[GraphNode]:
        """Find entities of the knowledge graph by a part of their name."""
        return await self.graph.find(name, limit=limit, caller=caller)

    async def entity(self, entity: str, *, caller: Caller = LOCAL) -> EntityCard:
        """Return an entity by id or name, with its facts, places and neighbours."""
        return await self.graph.entity(entity, caller=caller)

    async def graph_path(self, start: str, end: str, *, caller: Caller = LOCAL) -> list[PathStep]:
        """Return the shortest path between two entities, with what states each step."""
        return await self.graph.path(start, end, caller=caller)

    async def run_flow(
        self,
        flow: str | Mapping[str, Any] | Flow,
        text: str | None = None,
        *,
        version: int | None = None,
        caller: Caller = LOCAL,
        listen: Callable[[Event], None] | None = None,
    ) -> Answer:
        """Run a flow, or the stored one of a name; `text` is its input, by default the flow's own."""
        return await self.questions.run_flow(flow, text, version=version, caller=caller, listen=listen)

    async def save_flow(self, name: str, definition: Mapping[str, Any], *, caller: Caller = LOCAL) -> StoredFlow:
        """Store a flow under a name, as its newest version."""
        return await self.questions.save_flow(name, definition, caller=caller)

    async def flows(self, *, caller: Caller = LOCAL) -> list[StoredFlow]:
        """Return the newest version of every stored flow, by name."""
        return await self.questions.flows.list(await self.scope(caller))

    async def flow_versions(self, name: str, *, caller: Caller = LOCAL) -> list[StoredFlow]:
        """Return the versions of a stored flow, the newest first."""
        return await self.questions.flows.versions(await self.scope(caller), name)

    async def remove_flow(self, name: str, *, caller: Caller = LOCAL) -> int:
        """Remove a stored flow; return the number of its versions."""
        return await self.questions.flows.remove(await self.scope(caller), name)
