"""What the engine is made of: database, stores, models, workers. Opened, adapted to changed settings, and closed as one."""

import asyncio
import logging
from contextlib import AsyncExitStack

from pincite import __version__
from pincite.concurrency import cancel_and_wait
from pincite.config.settings import Settings
from pincite.config.sources import SettingsLayers
from pincite.core.accounts.access import LOCAL, Caller, Scope
from pincite.engine.index.switch import IndexSwitch
from pincite.engine.index.tools import IndexTools, IndexToolsPool
from pincite.engine.live_settings import LiveSettings
from pincite.engine.quotas import Quotas
from pincite.engine.reader.document_reader import FilteredReader
from pincite.engine.reader.page_locator import Locator
from pincite.engine.sso import SingleSignOn
from pincite.errors import DataFolderError, PinciteError
from pincite.ingest.embed.enrich import Enriching
from pincite.ingest.pipeline import IngestKit
from pincite.ingest.read.reader_pool import Reader
from pincite.ingest.worker import Workers
from pincite.outbound.fetch import Web
from pincite.query.prompt.templates import check_custom_prompts
from pincite.store.access.api_keys import ApiKeys
from pincite.store.access.audit_log import AuditLog
from pincite.store.access.login_sessions import LoginSessions
from pincite.store.access.permissions import Permissions
from pincite.store.access.usage import Quota, UsageStore
from pincite.store.access.users import Users
from pincite.store.conversations.answer_cache import AnswerCache
from pincite.store.conversations.feedback import FeedbackStore
from pincite.store.conversations.sessions import Sessions
from pincite.store.conversations.share_links import ShareLinks
from pincite.store.database import Database
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.documents.blobs import Blobs
from pincite.store.documents.folders import Folders
from pincite.store.documents.full_text import FullTextReader
from pincite.store.documents.library import Library
from pincite.store.documents.remove import Removal
from pincite.store.documents.rename import DocumentEditor
from pincite.store.documents.versions import VersionArchive
from pincite.store.embedded.server import EmbeddedServer
from pincite.store.indexing.enrichments import Enrichments
from pincite.store.indexing.job_list import JobList
from pincite.store.indexing.jobs import Jobs
from pincite.store.indexing.uploads import UploadStore
from pincite.store.indexing.write_edition import EditionWriter
from pincite.store.operations.evaluations import Evaluations
from pincite.store.operations.settings import StoredSettings
from pincite.store.operations.traces import TraceStore
from pincite.store.search.packed_postings import PackedPostings
from pincite.store.search.pages import Pages
from pincite.tracing.metrics import Metrics
from pincite.tracing.otlp import Telemetry
from pincite.tracing.sink import TraceSink

log = logging.getLogger(__name__)

FOLLOW_S = 0.5
"""How often a process checks whether another index is searched by now; a request checks by itself."""


class Services:
    """The parts that `Documents`, `Questions` and `Admin` work with. The interfaces (api, cli, mcp) do not use them."""

    def __init__(self, layers: SettingsLayers) -> None:
        self._layers = layers
        self.settings = layers.settings()
        self._server: EmbeddedServer | None = None
        self._beside: list[IngestKit] = []
        self._opened = AsyncExitStack()

    async def open(self) -> None:
        """Start what is needed; on any failure everything started so far is stopped again."""
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise

    async def scope(self, caller: Caller = LOCAL) -> Scope:
        """What a caller may read."""
        return await self.library.scope(caller.person)

    async def _open(self) -> None:
        """The database first, then its stores, then what works on its own: workers, settings, index switch."""
        settings = self.settings
        if not str(settings.data).isprintable():
            raise DataFolderError("the data folder's path holds characters that cannot be seen; choose another")
        check_custom_prompts(settings.data)  # a prompt that cannot work is told at the start
        self.tools_pool = IndexToolsPool()
        self._opened.push_async_callback(self.tools_pool.close)
        loading = asyncio.create_task(self.tools_pool.embedder(settings))
        if not settings.data.exists():
            await loading  # no database is made for settings that cannot work
        try:
            self.database = await self._open_database()
        finally:
            await loading  # read while the database starts; where both fail, this is the one to mend
        self._opened.push_async_callback(self.database.close)
        self._open_stores(BlobFiles(settings.data, await self.database.library_id()))
        self.reader_pool = Reader(
            children=max(1, settings.ingest.workers),
            memory_mb=settings.ingest.parse_memory_mb,
            timeout_s=settings.ingest.parse_timeout_s,
        )
        stored = StoredSettings(self.database)
        self.live_settings = LiveSettings(self._layers, stored, self._check, self._prepare, self._adopt)
        self.workers = Workers(lambda: self.ingest_kit, self._tidy)
        for stop in (self.reader_pool.close, self.live_settings.close, self.workers.stop):
            self._opened.push_async_callback(stop)
        await self.live_settings.open()
        self._following = asyncio.create_task(self._follow())
        self._opened.push_async_callback(self._stop_following)

    def _open_stores(self, files: BlobFiles) -> None:
        """What reads and writes the database; none of these holds anything open."""
        settings = self.settings
        self.blobs = Blobs(self.database, files, shared=settings.database.url is not None)
        self.removal = Removal(self.database, files)
        self.jobs, self.job_list = Jobs(self.database, files.place), JobList(self.database)
        self.postings, self.versions = PackedPostings(self.database), VersionArchive(self.database, files)
        self.index_switch = IndexSwitch(self.tools_pool, self.database, self.blobs.place)
        self.keys, self.users = ApiKeys(self.database), Users(self.database)
        self.permissions, self.logins = Permissions(self.database), LoginSessions(self.database)
        self.audit = AuditLog(self.database)
        self.sso = SingleSignOn(settings.oidc, self.users, self.logins) if settings.oidc.issuer else None
        self.usage = UsageStore(self.database)
        self.quotas = Quotas(self.usage, lambda: self.settings.limits)
        self.sessions, self.share_links = Sessions(self.database), ShareLinks(self.database)
        self.feedback = FeedbackStore(self.database)
        self.answer_cache = AnswerCache(self.database)
        self.reader = FilteredReader(FullTextReader(self.database))
        self.evaluations = Evaluations(self.database)
        self.folders, self.editor = Folders(self.database), DocumentEditor(self.database)
        self.web = Web(lambda: self.settings.web)
        self.traces, self.metrics = TraceStore(self.database), Metrics()
        endpoint = settings.traces.otlp_endpoint
        self.trace_sink = TraceSink(self.traces, self.metrics, Telemetry(endpoint, __version__) if endpoint else None)
        for stop in (self.sessions.close, self.trace_sink.close):  # what is being written still needs the database
            self._opened.push_async_callback(stop)

    async def _follow(self) -> None:
        """Search what is switched to, and switch to what is complete, whether anybody asks or not."""
        while True:
            await asyncio.sleep(FOLLOW_S)
            try:
                await self.index_switch.switch_if_built()
                if await self.index_switch.moved():
                    await self.live_settings.renew()
            except PinciteError as error:
                log.debug("which index is searched cannot be followed for now: %s", error)

    async def _stop_following(self) -> None:
        await cancel_and_wait(self._following)

    async def _check(self, settings: Settings) -> None:
        """Tell whether what these settings ask for can be made; nothing of it stays."""
        await self.tools_pool.check(settings, self.database)

    async def _prepare(self, settings: Settings) -> None:
        """Make what these settings ask for; a provider that cannot be made is told now, not by the next request."""
        self.prepared = await self.index_switch.prepare(settings)
        await self._let_go()

    async def _let_go(self) -> None:
        await self.tools_pool.let_go([shop.lane for shop in (*self.workers.in_hand, *self._beside)])

    def _adopt(self, _settings: Settings) -> None:
        """Work by what was prepared from now on; what is under way keeps what it began with."""
        prepared, originals = self.prepared, self.blobs
        bench = self.tools_pool.adopt(prepared.settings)
        self.library = Library(self.database, originals, prepared.wanted)
        self.locator = Locator(self.library, Pages(self.database))
        limits = prepared.settings.limits
        quota = Quota(limits.documents, limits.storage_mb, limits.jobs)
        self.uploads = UploadStore(self.database, originals, prepared.signature, quota)
        self.editions = EditionWriter(self.database, bench.model, prepared.signature)
        self.ingest_kit = self._ingest_kit_of(prepared.settings, bench, self.editions)
        self.tools, self.embedder, self.kit_factory = bench, bench.embedder, bench.toolbox
        self._beside = []
        self.settings = prepared.settings

    def _ingest_kit_of(self, settings: Settings, bench: IndexTools, indexing: EditionWriter) -> IngestKit:
        enriching = Enriching(settings.enrichment, lambda: bench.toolbox.model(settings), Enrichments(self.database))
        return IngestKit(
            settings, self.blobs, self.reader_pool, bench.lane, bench.embedder.name, indexing, self.jobs, self.postings,
            enriching, self.trace_sink.keep, self._ingest_kit_beside,
        )  # fmt: skip

    async def _ingest_kit_beside(self, index: int) -> IngestKit:
        """Where documents are made part of an index that is not searched yet."""
        settings, bench, signature = await self.index_switch.beside(index)
        if not any(shop.settings == settings and shop.lane is bench.lane for shop in self._beside):
            # The documents that are under way together share one, so that they are written together, too.
            self._beside = [
                self._ingest_kit_of(settings, bench, EditionWriter(self.database, bench.model, signature, beside=True))
            ]
        return self._beside[0]

    async def _tidy(self) -> None:
        """Clear away what nobody needs any more: earlier tools, replaced editions, stray files, old traces."""
        await self._let_go()
        await self.index_switch.forget(self.settings.versions.standby_days)
        await self.permissions.settle()
        await self.share_links.forget_expired()
        await self.editions.clear_abandoned()
        await self.versions.forget(keep=self.settings.versions.keep, days=self.settings.versions.keep_days)
        await self.postings.make()
        await self.uploads.sweep()
        await self.job_list.forget()
        await self.answer_cache.forget_expired()
        await self.traces.forget_old(self.settings.traces.retention_days)
        await self.usage.forget()

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

    async def close(self) -> None:
        """Stop what was started, last first."""
        try:
            await self._opened.aclose()
        finally:
            if self._server is not None:
                await asyncio.to_thread(self._server.close)
                self._server = None
