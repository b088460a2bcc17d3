"""The services of the engine: database, stores, models and workers; opened, reconfigured and closed together."""

import asyncio
import logging
from contextlib import AsyncExitStack

from pincite import __version__
from pincite.concurrency import cancel_and_wait
from pincite.config.settings import Settings
from pincite.config.sources import SettingsLayers
from pincite.core.accounts.access import LOCAL, Caller, Scope
from pincite.engine.index.builders import make_builders
from pincite.engine.index.switch import IndexSwitch
from pincite.engine.index.tools import IndexTools, IndexToolsPool
from pincite.engine.live_settings import LiveSettings
from pincite.engine.quotas import Quotas
from pincite.engine.reader.document_reader import FilteredReader
from pincite.engine.reader.page_locator import Locator
from pincite.engine.sso import SingleSignOn
from pincite.errors import DataFolderError, PinciteError
from pincite.ingest.embed.enrich import EnrichmentTools
from pincite.ingest.engines.builder import Builder, EngineWorker
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
from pincite.store.engines.builds import EngineBuilds
from pincite.store.indexing.enrichments import Enrichments
from pincite.store.indexing.job_list import JobList
from pincite.store.indexing.jobs import Jobs
from pincite.store.indexing.uploads import UploadStore
from pincite.store.indexing.write_edition import EditionWriter
from pincite.store.operations.evaluations import Evaluations
from pincite.store.operations.flows import FlowStore
from pincite.store.operations.settings import StoredSettings
from pincite.store.operations.traces import TraceStore
from pincite.store.operations.tunings import Tunings
from pincite.store.search.packed_postings import PackedPostings
from pincite.store.search.pages import Pages
from pincite.store.search.query_vectors import remove_old_query_vectors
from pincite.tracing.metrics import Metrics
from pincite.tracing.otlp import OtlpExporter
from pincite.tracing.recorder import TraceSink

log = logging.getLogger(__name__)

INDEX_POLL_S = 0.5
"""Seconds between checks for a switched index; each request checks too."""


class Services:
    """The services that `Documents`, `Questions` and `Admin` use. The interfaces (api, cli, mcp) do not use them."""

    def __init__(self, layers: SettingsLayers) -> None:
        self._layers = layers
        self.settings = layers.settings()
        self._server: EmbeddedServer | None = None
        self._new_index_kits: list[IngestKit] = []
        self._opened = AsyncExitStack()

    async def open(self) -> None:
        """Open the database and start the services; on failure, stop those that were started."""
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise

    async def scope(self, caller: Caller = LOCAL) -> Scope:
        """Return the scope of a caller: the documents they may read."""
        return await self.library.scope(caller.person)

    async def _open(self) -> None:
        """Open the database, then its stores, then the background tasks: settings, workers, index switch."""
        settings = self.settings
        if not str(settings.data).isprintable():
            raise DataFolderError("the path of the data folder contains unprintable characters; choose another")
        check_custom_prompts(settings.data)  # report an invalid prompt template at start-up
        self.tools_pool = IndexToolsPool(settings.database.index_memory_mb)
        self._opened.push_async_callback(self.tools_pool.close)
        loading = asyncio.create_task(self.tools_pool.embedder(settings))
        if not settings.data.exists():
            await loading  # do not create a database if the embedder cannot be loaded
        try:
            self.database = await self._open_database()
        finally:
            await loading  # the embedder loads while the database starts; if both fail, its error is raised
        self._opened.push_async_callback(self.database.close)
        self._open_stores(BlobFiles(settings.data, await self.database.library_id()))
        self.reader_pool = Reader(
            children=max(1, settings.ingest.workers),
            memory_mb=settings.ingest.parse_memory_mb,
            timeout_s=settings.ingest.parse_timeout_s,
        )
        stored = StoredSettings(self.database)
        self.live_settings = LiveSettings(self._layers, stored, self._check, self._prepare, self._adopt)
        engines = EngineWorker(lambda: self.engine_builds, self.builders)
        self.workers = Workers(lambda: self.ingest_kit, self._clean_up, engines)
        for stop in (self.reader_pool.close, self.live_settings.close, self.workers.stop):
            self._opened.push_async_callback(stop)
        await self.live_settings.open()
        self._following = asyncio.create_task(self._follow())
        self._opened.push_async_callback(self._stop_following)

    def _open_stores(self, files: BlobFiles) -> None:
        """Create the stores, which read and write the database."""
        settings = self.settings
        self.blobs = Blobs(self.database, files, shared=settings.database.url is not None)
        self.removal = Removal(self.database, files)
        self.jobs, self.job_list = Jobs(self.database, files.place), JobList(self.database)
        self.postings, self.versions = PackedPostings(self.database), VersionArchive(self.database, files)
        self.engine_builds = EngineBuilds(self.database)
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
        self.tunings, self.flows = Tunings(self.database), FlowStore(self.database)
        self.folders, self.editor = Folders(self.database), DocumentEditor(self.database)
        self.web = Web(lambda: self.settings.web)
        self.traces, self.metrics = TraceStore(self.database), Metrics()
        endpoint = settings.traces.otlp_endpoint
        self.trace_sink = TraceSink(
            self.traces, self.metrics, OtlpExporter(endpoint, __version__) if endpoint else None
        )
        for stop in (self.sessions.close, self.trace_sink.close):  # pending writes need the database
            self._opened.push_async_callback(stop)

    async def _follow(self) -> None:
        """Switch to a complete new index, and follow switches of other processes."""
        while True:
            await asyncio.sleep(INDEX_POLL_S)
            try:
                await self.index_switch.switch_if_built()
                if await self.index_switch.is_replaced():
                    await self.live_settings.renew()
            except PinciteError as error:
                log.debug("the index in service cannot be checked now: %s", error)

    async def _stop_following(self) -> None:
        await cancel_and_wait(self._following)

    async def _check(self, settings: Settings) -> None:
        """Raise `SettingsError` if the tools of these settings cannot be built; they are not kept."""
        await self.tools_pool.check(settings, self.database)

    async def _prepare(self, settings: Settings) -> None:
        """Build the tools of these settings, so that an invalid provider is reported now, not by the next request."""
        self.prepared = await self.index_switch.prepare(settings)
        await self._close_unused_tools()

    async def _close_unused_tools(self) -> None:
        await self.tools_pool.close_unused(
            [kit.bulk_embedder for kit in (*self.workers.kits_in_use, *self._new_index_kits)]
        )

    def _adopt(self, _settings: Settings) -> None:
        """Use the prepared tools from now on; requests and jobs in progress keep theirs."""
        prepared, blobs = self.prepared, self.blobs
        tools = self.tools_pool.adopt(prepared.settings)
        self.library = Library(self.database, blobs, prepared.wanted)
        self.locator = Locator(self.library, Pages(self.database))
        limits = prepared.settings.limits
        quota = Quota(limits.documents, limits.storage_mb, limits.jobs)
        self.uploads = UploadStore(self.database, blobs, prepared.new, quota)
        self.editions = EditionWriter(self.database, tools.model, prepared.new, serving=prepared.signature)
        self.ingest_kit = self._make_ingest_kit(prepared.indexing, tools, self.editions)
        self.tools, self.embedder, self.kit_factory = tools, tools.embedder, tools.kit_factory
        self._new_index_kits = []
        self.settings = prepared.settings

    def builders(self) -> list[Builder]:
        """Return the builders of the engines that the settings have built."""
        return make_builders(self.settings, self.tools, self.engine_builds)

    def _make_ingest_kit(self, settings: Settings, tools: IndexTools, indexing: EditionWriter) -> IngestKit:
        enriching = EnrichmentTools(
            settings.enrichment, lambda: tools.kit_factory.model(settings), Enrichments(self.database)
        )
        return IngestKit(
            settings,
            self.blobs,
            self.reader_pool,
            tools.bulk_embedder,
            tools.embedder.name,
            tools.embedder.max_tokens,
            indexing,
            self.jobs,
            self.postings,
            enriching,
            self.trace_sink.keep,
            self._ingest_kit_for_new_index,
        )

    async def _ingest_kit_for_new_index(self, index: int) -> IngestKit:
        """Return the ingest kit for an index that is being built."""
        settings, tools, signature = await self.index_switch.tools_for(index)
        if not any(
            kit.settings == settings and kit.bulk_embedder is tools.bulk_embedder for kit in self._new_index_kits
        ):
            # Documents in progress share one kit, so that their chunks are written in one batch.
            self._new_index_kits = [
                self._make_ingest_kit(
                    settings, tools, EditionWriter(self.database, tools.model, signature, building=True)
                )
            ]
        return self._new_index_kits[0]

    async def _clean_up(self) -> None:
        """Delete what is no longer needed: unused tools, replaced editions, stray files, expired rows, old traces."""
        await self._close_unused_tools()
        await self.index_switch.forget(self.settings.versions.standby_days)
        await self.permissions.finish_moves()
        await self.share_links.remove_expired()
        await self.editions.clear_abandoned()
        await self.versions.remove_old(keep=self.settings.versions.keep, days=self.settings.versions.keep_days)
        await self.postings.make()
        await self.uploads.remove_stray_files()
        await self.job_list.remove_old()
        await self.answer_cache.remove_expired()
        await remove_old_query_vectors(self.database)
        await self.traces.remove_old(self.settings.traces.retention_days)
        await self.usage.remove_expired()

    async def _open_database(self) -> Database:
        own = self.settings.database
        size = own.pool_size
        if own.url is not None:
            direct = own.direct_url.get_secret_value() if own.direct_url else None
            read_urls = own.read_urls.get_secret_value().split() if own.read_urls else ()
            return await Database.open(
                own.url.get_secret_value(), pool_size=size, direct_url=direct, role=own.role, read_urls=read_urls
            )
        await self._share_server()
        assert self._server is not None
        return await Database.open(self._server.url, pool_size=size, restart=self._share_server)

    async def _share_server(self) -> None:
        """Register as a user of the embedded server, and start it if needed; its address never changes."""
        before, buffers = self._server, self.settings.database.shared_buffers_mb
        self._server = await asyncio.to_thread(EmbeddedServer.open, self.settings.data, shared_buffers_mb=buffers)
        if before is not None:
            await asyncio.to_thread(before.close)

    async def close(self) -> None:
        """Stop the services in reverse order of their start."""
        try:
            await self._opened.aclose()
        finally:
            if self._server is not None:
                await asyncio.to_thread(self._server.close)
                self._server = None
