"""AsyncPincite: the asynchronous Python API, in three parts: documents, questions, admin."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self, cast, overload

from pincite.config.settings import Settings
from pincite.config.sources import layers_of, read_layers
from pincite.core.accounts.access import LOCAL, Caller, Scope
from pincite.core.documents.document import AddedAll, Document, Progress, Receipt
from pincite.core.graph import EntityCard, GraphNode, PathStep
from pincite.core.operations import StoredFlow
from pincite.core.query.answer import Answer, Citation, OpenedPassage, SearchResult, Source
from pincite.core.query.hits import Hit
from pincite.core.query.question import EffortLevel, Filters, Question, RequestedStrategy
from pincite.core.run import Event
from pincite.engine.admin import Admin
from pincite.engine.asking import Paths, events_of, make_question, with_level_values
from pincite.engine.documents import Documents
from pincite.engine.graph import KnowledgeGraph
from pincite.engine.questions import Questions
from pincite.engine.reader.opened_passage import open_passage
from pincite.engine.wiring import Services
from pincite.errors import NotFound
from pincite.flows.graph import Flow
from pincite.ingest.accept.collect import Collected, collect
from pincite.store.search.filters import check_filters


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

    @overload
    async def add(
        self, path: str | Path, *, folder: str = ..., tags: Sequence[str] = ..., caller: Caller = ...
    ) -> Document: ...

    @overload
    async def add(
        self, path: Paths, *, folder: str = ..., tags: Sequence[str] = ..., caller: Caller = ...
    ) -> list[Document]: ...

    async def add(
        self,
        path: str | Path | Paths,
        *,
        folder: str = "",
        tags: Sequence[str] = (),
        caller: Caller = LOCAL,
    ) -> Document | list[Document]:
        """Add one file, or a list of files, and wait until all can be searched; return the document or the documents.

        `Unreadable` if a file cannot be parsed, `ProviderError` if its passages cannot be embedded: raised for the
        first file that failed, after the others were added. `tags` replace those of the file.
        """
        one = isinstance(path, str | Path)
        documents = await self.documents.add(
            [cast(str, path)] if one else cast(Sequence[str], path), folder=folder, tags=tags, caller=caller
        )
        return documents[0] if one else documents

    async def add_all(
        self,
        *paths: str | Path | Collected,
        folder: str = "",
        tags: Sequence[str] = (),
        caller: Caller = LOCAL,
        report: Callable[[Progress], None] | None = None,
    ) -> AddedAll:
        """Add files and folders and wait until all are processed; `report` is called with the progress.

        What `collect` returned is added as it is.
        """
        if len(paths) == 1 and isinstance(paths[0], Collected):
            return await self.documents.add_all(paths[0], tags=tags, caller=caller, report=report)
        files = await asyncio.to_thread(collect, [Path(cast(str, path)) for path in paths], folder)
        return await self.documents.add_all(files, tags=tags, caller=caller, report=report)

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
        top_k: int | None = None,
        folder: str | None = None,
        tags: Sequence[str] = (),
        documents: Sequence[str | Document] | None = None,
        strategy: RequestedStrategy | None = None,
        level: EffortLevel | None = None,
        as_of: datetime | str | None = None,
        session: str | None = None,
        caller: Caller = LOCAL,
        listen: Callable[[Event], None] | None = None,
        settings: Settings | None = None,
    ) -> Answer:
        """Answer a question.

        `folder`, `tags` and `documents` restrict it to a part of the library, `as_of` to what was known at a time.
        `session` continues a conversation. `listen` is called with each event; `settings` replace the current ones.
        """
        asked = make_question(
            question,
            top_k=top_k,
            folder=folder,
            tags=tags,
            documents=documents,
            strategy=strategy,
            level=level,
            as_of=as_of,
            session=session,
        )
        await self._check_filters(question, asked, caller)
        return await self.questions.ask(asked, caller=caller, listen=listen, settings=settings)

    async def stream(
        self,
        question: str | Question,
        *,
        top_k: int | None = None,
        folder: str | None = None,
        tags: Sequence[str] = (),
        documents: Sequence[str | Document] | None = None,
        strategy: RequestedStrategy | None = None,
        level: EffortLevel | None = None,
        as_of: datetime | str | None = None,
        session: str | None = None,
        caller: Caller = LOCAL,
        settings: Settings | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Answer a question and yield its events as they come; the last is `Answered`. Stop early to cancel it."""
        asked = make_question(
            question,
            top_k=top_k,
            folder=folder,
            tags=tags,
            documents=documents,
            strategy=strategy,
            level=level,
            as_of=as_of,
            session=session,
        )
        await self._check_filters(question, asked, caller)
        answering = lambda listen: self.questions.ask(asked, caller=caller, listen=listen, settings=settings)  # noqa: E731
        async with aclosing(events_of(answering)) as events:
            async for event in events:
                yield event

    async def search(
        self,
        question: str | Question,
        *,
        top_k: int | None = None,
        folder: str | None = None,
        tags: Sequence[str] = (),
        documents: Sequence[str | Document] | None = None,
        strategy: RequestedStrategy | None = None,
        level: EffortLevel | None = None,
        as_of: datetime | str | None = None,
        caller: Caller = LOCAL,
        settings: Settings | None = None,
    ) -> SearchResult:
        """Find passages; several queries are fused. The keywords are those of `ask`."""
        asked = make_question(
            question,
            top_k=top_k,
            folder=folder,
            tags=tags,
            documents=documents,
            strategy=strategy,
            level=level,
            as_of=as_of,
        )
        await self._check_filters(question, asked, caller)
        return await self.questions.search(with_level_values(asked), caller=caller, settings=settings)

    async def _check_filters(self, given: str | Question, asked: Question, caller: Caller) -> None:
        """Raise `NotFound` for a folder, document or tag that a keyword names and the library does not have."""
        if isinstance(given, Question) and given.filters == asked.filters:
            return  # checked with the question: an unknown folder is an error, other unknown values are warnings
        named = replace(asked.filters, as_of=None)
        if named == Filters():
            return
        if unknown := await check_filters(self.services.database, await self.scope(caller), named):
            raise NotFound("; ".join(unknown))

    async def open_passage(
        self, passage: Citation | Source | Hit, *, context: int = 0, caller: Caller = LOCAL
    ) -> OpenedPassage:
        """Open a citation, source or hit in its document: its text, `context` lines around it, and its place."""
        return await open_passage(self.documents, passage, context=context, caller=caller)

    async def new_session(self, *, caller: Caller = LOCAL) -> str:
        """Start a conversation and return its id, for the keyword `session`."""
        return (await self.questions.sessions.create(await self.scope(caller))).id

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
