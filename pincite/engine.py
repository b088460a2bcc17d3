"""Pincite: builds everything once; add, ask, search, read, remove, close."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from pincite import plugins
from pincite.access import LOCAL
from pincite.core.answers import Answer, Question, SearchResult
from pincite.core.callers import Caller, Scope
from pincite.core.documents import Added, AddedAll, Document, Passage, Progress, Receipt, Status, Upload
from pincite.core.protocols import Embedder
from pincite.core.run import Event, Run, Started
from pincite.errors import BadRequest, DataFolderError, Invalid, OverBudget, Unreadable
from pincite.ingest.accept import check
from pincite.ingest.collect import Collected, collect
from pincite.ingest.lane import Lane, open_lane
from pincite.ingest.parse import Reader
from pincite.ingest.pipeline import Workshop
from pincite.ingest.worker import Workers
from pincite.query import pipeline
from pincite.reading import Reading, passage
from pincite.settings import Settings, load_settings
from pincite.store.database import Database
from pincite.store.files import Files
from pincite.store.indexing import Indexing
from pincite.store.intake import Intake
from pincite.store.jobs import Jobs
from pincite.store.keys import Keys
from pincite.store.library import Library, Listing
from pincite.store.removal import Removal
from pincite.store.search import PostgresIndex
from pincite.store.server import EmbeddedServer
from pincite.store.traces import Trace, Traces
from pincite.toolbox import PROVIDERS, Toolbox

log = logging.getLogger(__name__)

WATCH_S = 0.1
"""How often adding looks how far it is."""
INDEX_FORMAT = 1
"""Raised when parsing, chunking or indexing changes what is stored for the same file and settings."""


class AsyncPincite:
    """A library of documents and everything that can be done with it; one per data folder and process."""

    def __init__(self, data: str | Path | None = None, *, settings: Settings | Mapping[str, Any] | None = None) -> None:
        if isinstance(settings, Settings):
            self.settings = settings
        else:
            self.settings = load_settings({**({"data": Path(data)} if data is not None else {}), **(settings or {})})
        self._server: EmbeddedServer | None = None
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Start what is needed; on any failure everything started so far is stopped again."""
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise

    async def _open(self) -> None:
        settings = self.settings
        if not str(settings.data).isprintable():
            raise DataFolderError("the data folder's path holds characters that cannot be seen; choose another")
        self.embedder = plugins.load(
            Embedder, PROVIDERS, settings.embedding.provider, settings.embedding.model_dump() | {"threads": 1}
        )
        self.database = await self._open_database()
        self._opened.push_async_callback(self.database.close)
        model = await self.database.register_model(self.embedder.name, self.embedder.dimensions)
        signature = self._signature()
        files = Files(settings.data, await self.database.library_id())
        self.library = Library(self.database, files, signature)
        self.intake = Intake(self.database, files, signature)
        self.removal = Removal(self.database, files)
        self.jobs = Jobs(self.database, files.place)
        self.keys = Keys(self.database)
        self.traces = Traces(self.database)
        index = PostgresIndex(self.database, model, self.embedder.dimensions, settings.rag)
        self.indexing = Indexing(self.database, model, signature)
        self.toolbox = Toolbox(index, self.embedder)
        self.toolbox.kit(settings)  # a provider that cannot be made is told at the start
        if close := getattr(self.embedder, "close", None):
            self._opened.push_async_callback(close)
        self._opened.push_async_callback(self.toolbox.close)
        reader = Reader(
            children=max(1, settings.ingest.workers),
            memory_mb=settings.ingest.parse_memory_mb,
            timeout_s=settings.ingest.parse_timeout_s,
        )
        lane = self._open_lane()
        shop = Workshop(settings, files, reader, lane, self.embedder.name, self.indexing, self.jobs)
        self.workers = Workers(shop, self._tidy)
        for stop in (reader.close, lane.close, self.workers.stop):
            self._opened.push_async_callback(stop)

    async def _tidy(self) -> None:
        """Clear away what nobody needs any more: replaced editions, stray files, old traces."""
        await self.indexing.clear_abandoned()
        await self.intake.sweep()
        await self.traces.forget_old(self.settings.traces.retention_days)

    async def _open_database(self) -> Database:
        size = self.settings.database.pool_size
        if self.settings.database.url is not None:
            return await Database.open(self.settings.database.url.get_secret_value(), pool_size=size)
        await self._share_server()
        assert self._server is not None
        return await Database.open(self._server.url, pool_size=size, revive=self._share_server)

    async def _share_server(self) -> None:
        """Take a share in the embedded server, starting it if it is not there; its address never changes."""
        before, buffers = self._server, self.settings.database.shared_buffers_mb
        self._server = await asyncio.to_thread(EmbeddedServer.open, self.settings.data, shared_buffers_mb=buffers)
        if before is not None:
            await asyncio.to_thread(before.close)

    def _open_lane(self) -> Lane:
        embedding = self.settings.embedding
        options = embedding.model_dump(exclude={"api_key"})
        return open_lane(self.embedder, provider=embedding.provider, options=options, batch=embedding.batch)

    def _signature(self) -> str:
        chunking = self.settings.chunking
        return f"{INDEX_FORMAT}:{self.embedder.name}:{chunking.tokenizer}:{chunking.size}:{chunking.overlap}"

    async def close(self) -> None:
        """Stop what was started, last first."""
        try:
            await self._opened.aclose()
        finally:
            if self._server is not None:
                await asyncio.to_thread(self._server.close)
                self._server = None

    # --- documents ------------------------------------------------------------------------------------------

    async def scope(self, caller: Caller = LOCAL) -> Scope:
        """What a caller may see."""
        return await self.library.scope(caller.person)

    async def upload(self, upload: Upload, *, start: bool = True, caller: Caller = LOCAL) -> Added:
        """Take a file in; it is processed in the background by this or another process's workers."""
        checked = await asyncio.to_thread(check, upload, self.settings)
        document, outcome = await self.intake.accept(
            await self.scope(caller),
            replace(upload, name=checked.name, folder=checked.folder),
            mime=checked.mime,
            checksum=checked.checksum,
            held=not start,
        )
        if start and outcome == "unchanged" and document.status == Status.PENDING:
            await self.jobs.start_over(await self.scope(caller), [document.id])
        self.workers.wake()
        return Added(document, outcome)

    async def add(self, path: str | Path, *, folder: str = "", caller: Caller = LOCAL) -> Document:
        """Take one file in and wait until it can be asked about; `Unreadable` where it cannot be read."""
        files = await asyncio.to_thread(collect, [Path(path)], folder)
        if len(files.files) + len(files.refused) != 1:
            raise Invalid(f"{path} is a folder; use add_all for folders")
        result = await self.add_all(files, caller=caller)
        if result.refused:
            raise result.refused[0][1]
        [added] = result.added
        if added.document.error:
            raise Unreadable(f"{added.document.name}: {added.document.error.message}", code=added.document.error.code)
        return added.document

    async def add_all(
        self, files: Collected, *, caller: Caller = LOCAL, report: Callable[[Progress], None] | None = None
    ) -> AddedAll:
        """Take files in and wait until all are processed; `report` hears how far it is."""
        scope, tell = await self.scope(caller), report or (lambda _progress: None)
        self.workers.start()
        added: list[Added] = []
        refused = list(files.refused)
        settled = await self.intake.settled(scope, [(file.folder, file.name) for file in files.files])
        for number, file in enumerate(files.files, start=1):
            try:
                upload, checksum = await asyncio.to_thread(file.read)
                same = settled.get((upload.folder, upload.name))
                if same and same.checksum == checksum:
                    added.append(Added(same, "unchanged"))
                else:
                    added.append(await self.upload(upload, caller=caller))
            except (BadRequest, DataFolderError) as error:
                refused.append((str(file.path), error))
            tell(Progress("taking in", number, len(files.files), 0.0))
        waiting = [one.document.id for one in added if one.document.status in (Status.PENDING, Status.PROCESSING)]
        await self.jobs.start_over(scope, waiting)
        await self.wait(waiting, caller=caller, report=tell)
        ended = {d.id: d for d in await self.library.several(scope, waiting)}
        for number, one in enumerate(added):
            if one.document.id in ended:  # what was known but not done yet was finished now
                outcome = "again" if one.outcome == "unchanged" else one.outcome
                added[number] = Added(ended[one.document.id], outcome)
        return AddedAll(added, refused, files.skipped)

    async def wait(
        self, document_ids: Sequence[str], *, caller: Caller = LOCAL, report: Callable[[Progress], None] | None = None
    ) -> None:
        """Wait until these documents are processed, by whichever process does it."""
        scope, total = await self.scope(caller), len(document_ids)
        while waiting := await self.jobs.waiting(scope, document_ids):
            if report:
                report(Progress("indexing", total - waiting.count, total, waiting.progress))
            await asyncio.sleep(WATCH_S)
        if report:
            report(Progress("indexing", total, total, 0.0))

    async def get(self, document_id: str, *, caller: Caller = LOCAL) -> Document:
        """One document."""
        return await self.library.get(await self.scope(caller), document_id)

    async def documents(self, listing: Listing = Listing(), *, caller: Caller = LOCAL) -> list[Document]:  # noqa: B008
        """Every document that fits, page after page."""
        scope, found, cursor = await self.scope(caller), list[Document](), listing.cursor
        while True:
            page, cursor = await self.library.documents(scope, replace(listing, cursor=cursor))
            found.extend(page)
            if cursor is None:
                return found

    async def read(self, reading: Reading, *, caller: Caller = LOCAL) -> Passage:
        """Part of a document's text: lines, a section, or all of it."""
        scope = await self.scope(caller)
        document_id = reading.document_id or await self.library.find_source(scope, reading.source_uri or "")
        text = await self.library.text(scope, document_id, reading.version)
        return await asyncio.to_thread(passage, text, reading)

    async def remove(self, document_id: str, *, caller: Caller = LOCAL) -> Receipt:
        """Remove a document and everything made of it."""
        return await self.removal.remove(await self.scope(caller), document_id)

    # --- questions ------------------------------------------------------------------------------------------

    async def ask(
        self, question: str | Question, *, caller: Caller = LOCAL, listen: Callable[[Event], None] | None = None
    ) -> Answer:
        """Answer a question; `listen` hears what happens on the way."""
        asked = Question(question) if isinstance(question, str) else question
        async with self._run(caller, "query", asked, listen) as run:
            return await pipeline.answer(run, asked)

    async def search(self, question: str | Question, *, caller: Caller = LOCAL) -> SearchResult:
        """Find passages; several queries at once are fused."""
        asked = Question(question) if isinstance(question, str) else question
        async with self._run(caller, "search", asked, None) as run:
            plan, hits = await pipeline.search(run, asked)
            return SearchResult(tuple(hits), plan.strategy, tuple(run.degraded), run.id)

    @asynccontextmanager
    async def _run(
        self, caller: Caller, kind: str, question: Question, listen: Callable[[Event], None] | None
    ) -> AsyncIterator[Run]:
        """One request: its trace is closed and kept however it ends."""
        started, error = datetime.now(UTC), None
        run = Run(
            id=secrets.token_hex(8),
            kit=self.toolbox.kit(self.settings),
            settings=self.settings,
            caller=caller,
            scope=await self.scope(caller),
            deadline=time.monotonic() + self.settings.llm.question_timeout_s,
            emit=listen or (lambda _event: None),
        )
        run.emit(Started(run.answer_id, run.id))
        try:
            async with _until(run.deadline):
                yield run
        except BaseException as raised:
            error = f"{type(raised).__name__}: {raised}"[:500].replace("\0", " ")
            raise
        finally:
            text = question.text.replace("\0", " ") if self.settings.traces.content else None
            trace = Trace(
                run.id, kind, text, _strategy(run), started, (time.monotonic() - run.started) * 1000, error,
                tuple(run.degraded), tuple(run.spans),
            )  # fmt: skip
            await self._keep(caller, trace)

    async def _keep(self, caller: Caller, trace: Trace) -> None:
        """A trace that cannot be written never fails the answer."""
        try:
            await asyncio.shield(self.traces.keep(caller.person, trace))
        except Exception:
            log.exception("trace %s was not kept", trace.id)


@asynccontextmanager
async def _until(deadline: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + deadline - time.monotonic()):
            yield
    except TimeoutError as error:
        raise OverBudget("the question took too long (llm.question_timeout_s)") from error


def _strategy(run: Run) -> str | None:
    """How a request was searched, where it came that far."""
    return next((span.attributes.get("strategy") for span in run.spans if span.stage == "understand"), None)
