"""Pincite: the synchronous Python API, over an event loop in a background thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar, cast, overload

from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL, Caller, Scope
from pincite.core.documents.document import AddedAll, Document, Progress, Receipt
from pincite.core.graph import EntityCard, GraphNode, PathStep
from pincite.core.operations import StoredFlow
from pincite.core.query.answer import Answer, Citation, OpenedPassage, SearchResult, Source
from pincite.core.query.hits import Hit
from pincite.core.query.question import EffortLevel, Question, RequestedStrategy
from pincite.core.run import Event
from pincite.engine.app import AsyncPincite
from pincite.engine.asking import Paths
from pincite.flows.graph import Flow
from pincite.ingest.accept.collect import Collected

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

    def scope(self, caller: Caller = LOCAL) -> Scope:
        """Return the scope of a caller: the documents they may read."""
        return self._do(self._pincite.scope(caller))

    @overload
    def add(
        self, path: str | Path, *, folder: str = ..., tags: Sequence[str] = ..., caller: Caller = ...
    ) -> Document: ...

    @overload
    def add(
        self, path: Paths, *, folder: str = ..., tags: Sequence[str] = ..., caller: Caller = ...
    ) -> list[Document]: ...

    def add(
        self,
        path: str | Path | Paths,
        *,
        folder: str = "",
        tags: Sequence[str] = (),
        caller: Caller = LOCAL,
    ) -> Document | list[Document]:
        """Add one file, or a list of files, and wait until all can be searched; return the document or the documents."""
        return self._do(self._pincite.add(cast(str, path), folder=folder, tags=tags, caller=caller))

    def add_all(
        self,
        *paths: str | Path | Collected,
        folder: str = "",
        tags: Sequence[str] = (),
        caller: Caller = LOCAL,
        report: Callable[[Progress], None] | None = None,
    ) -> AddedAll:
        """Add files and folders and wait until all are processed; `report` is called in the background thread."""
        return self._do(self._pincite.add_all(*paths, folder=folder, tags=tags, caller=caller, report=report))

    def add_from_web(self, *urls: str, folder: str = "", caller: Caller = LOCAL) -> AddedAll:
        """Add web pages, and the pages of sitemaps, and wait until all are processed; needs `web.enabled`."""
        return self._do(self._pincite.add_from_web(*urls, folder=folder, caller=caller))

    def ask(
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
        """Answer a question; the keywords are those of `AsyncPincite.ask`."""
        work = self._pincite.ask(
            question,
            top_k=top_k,
            folder=folder,
            tags=tags,
            documents=documents,
            strategy=strategy,
            level=level,
            as_of=as_of,
            session=session,
            caller=caller,
            listen=listen,
            settings=settings,
        )
        return self._do(work)

    def stream(
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
    ) -> Iterator[Event]:
        """Answer a question and yield its events as they come; the last is `Answered`. Stop early to cancel it."""
        events = self._pincite.stream(
            question,
            top_k=top_k,
            folder=folder,
            tags=tags,
            documents=documents,
            strategy=strategy,
            level=level,
            as_of=as_of,
            session=session,
            caller=caller,
            settings=settings,
        )
        try:
            while (event := self._do(anext(events, None))) is not None:
                yield event
        finally:
            self._do(events.aclose())

    def search(
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
        """Find passages; the keywords are those of `ask`."""
        work = self._pincite.search(
            question,
            top_k=top_k,
            folder=folder,
            tags=tags,
            documents=documents,
            strategy=strategy,
            level=level,
            as_of=as_of,
            caller=caller,
            settings=settings,
        )
        return self._do(work)

    def open_passage(
        self, passage: Citation | Source | Hit, *, context: int = 0, caller: Caller = LOCAL
    ) -> OpenedPassage:
        """Open a citation, source or hit in its document: its text, `context` lines around it, and its place."""
        return self._do(self._pincite.open_passage(passage, context=context, caller=caller))

    def new_session(self, *, caller: Caller = LOCAL) -> str:
        """Start a conversation and return its id, for the keyword `session`."""
        return self._do(self._pincite.new_session(caller=caller))

    def find_entities(self, name: str, *, limit: int = 20, caller: Caller = LOCAL) -> list[GraphNode]:
        """Find entities of the knowledge graph by a part of their name."""
        return self._do(self._pincite.find_entities(name, limit=limit, caller=caller))

    def entity(self, entity: str, *, caller: Caller = LOCAL) -> EntityCard:
        """Return an entity by id or name, with its facts, places and neighbours."""
        return self._do(self._pincite.entity(entity, caller=caller))

    def graph_path(self, start: str, end: str, *, caller: Caller = LOCAL) -> list[PathStep]:
        """Return the shortest path between two entities, with what states each step."""
        return self._do(self._pincite.graph_path(start, end, caller=caller))

    def run_flow(
        self,
        flow: str | Mapping[str, Any] | Flow,
        text: str | None = None,
        *,
        version: int | None = None,
        caller: Caller = LOCAL,
        listen: Callable[[Event], None] | None = None,
    ) -> Answer:
        """Run a flow, or the stored one of a name; `text` is its input, by default the flow's own."""
        return self._do(self._pincite.run_flow(flow, text, version=version, caller=caller, listen=listen))

    def save_flow(self, name: str, definition: Mapping[str, Any], *, caller: Caller = LOCAL) -> StoredFlow:
        """Store a flow under a name, as its newest version."""
        return self._do(self._pincite.save_flow(name, definition, caller=caller))

    def flows(self, *, caller: Caller = LOCAL) -> list[StoredFlow]:
        """Return the newest version of every stored flow, by name."""
        return self._do(self._pincite.flows(caller=caller))

    def flow_versions(self, name: str, *, caller: Caller = LOCAL) -> list[StoredFlow]:
        """Return the versions of a stored flow, the newest first."""
        return self._do(self._pincite.flow_versions(name, caller=caller))

    def remove_flow(self, name: str, *, caller: Caller = LOCAL) -> int:
        """Remove a stored flow; return the number of its versions."""
        return self._do(self._pincite.remove_flow(name, caller=caller))

    def get(self, document_id: str, *, caller: Caller = LOCAL) -> Document:
        """Return one document."""
        return self._do(self._pincite.get(document_id, caller=caller))

    def documents(self, folder: str | None = None, *, caller: Caller = LOCAL) -> list[Document]:
        """Return all documents, or those in a folder and below it."""
        return self._do(self._pincite.documents(folder, caller=caller))

    def remove(self, document_id: str, *, caller: Caller = LOCAL) -> Receipt:
        """Remove a document with its versions, chunks and cached answers."""
        return self._do(self._pincite.remove(document_id, caller=caller))

    def _do(self, work: Awaitable[T]) -> T:
        if self._loop is None:
            if isinstance(work, Coroutine):
                work.close()
            raise RuntimeError("open the library first: with Pincite(…) as p")
        return asyncio.run_coroutine_threadsafe(_awaited(work), self._loop).result()

    def _stop(self) -> None:
        if self._loop is not None:
            self._do(self._loop.shutdown_default_executor())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None


async def _awaited(work: Awaitable[T]) -> T:
    """Await anything: the event loop of another thread takes coroutines only."""
    return await work
