"""Pincite: builds everything once; add, ask, search, read, remove, close."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pincite import __version__
from pincite.concurrency import cancel_and_wait
from pincite.config.levels import LEVEL, find_level
from pincite.config.profiles import find_profile, for_request
from pincite.config.settings import Settings
from pincite.config.sources import layers_of, read_layers
from pincite.core.accounts.access import LOCAL, Caller, Scope, require
from pincite.core.accounts.audit import Told
from pincite.core.accounts.users import Person, PersonRole
from pincite.core.documents.document import (
    Added,
    AddedAll,
    Document,
    Passage,
    Progress,
    Reading,
    Receipt,
    Status,
    Upload,
)
from pincite.core.documents.jobs import LOAD, WAITED_FOR, CancelledJob
from pincite.core.query.answer import Answer, Degraded, Question, SearchResult
from pincite.core.request_context import due, request_id
from pincite.core.run import Event, Kit, Run, begun
from pincite.core.traces import Trace
from pincite.engine.index.switch import Switchover
from pincite.engine.index.tools import Workbench, Workbenches
from pincite.engine.live_settings import Control
from pincite.engine.quotas import Limits
from pincite.engine.reader.diff import CONTEXT, Difference, difference
from pincite.engine.reader.document_reader import OpenShelf, passage
from pincite.engine.reader.page_locator import Pointer
from pincite.engine.sso import SignOn
from pincite.errors import (
    PROVIDERS_FAILED,
    BadRequest,
    Conflict,
    DataFolderError,
    Invalid,
    NotAllowed,
    NotFound,
    OverBudget,
    PinciteError,
    ProviderBusy,
    SettingsError,
    Unavailable,
    Unreadable,
)
from pincite.flows.graph import Flow
from pincite.flows.run import run_flow
from pincite.ingest.accept.accept import check
from pincite.ingest.accept.collect import Collected, NamedFile, ReadFile, collect, read_all
from pincite.ingest.embed.enrich import Enriching
from pincite.ingest.pipeline import Workshop
from pincite.ingest.read.picture_text import Legible
from pincite.ingest.read.reader_pool import Reader
from pincite.ingest.worker import Workers
from pincite.models.kit_factory import Toolbox
from pincite.outbound.fetch import Web
from pincite.query import pipeline
from pincite.query.prompt.templates import check_own
from pincite.query.understand.level import level_of, missing_features
from pincite.store.access.api_keys import Keys
from pincite.store.access.audit_log import Audit
from pincite.store.access.login_sessions import Logins
from pincite.store.access.passwords import check_new
from pincite.store.access.permissions import Rights, Wish
from pincite.store.access.usage import Budgets, Quota
from pincite.store.access.users import People
from pincite.store.conversations.answer_cache import AnswerCache
from pincite.store.conversations.feedback import Opinions
from pincite.store.conversations.sessions import Sessions
from pincite.store.conversations.share_links import Shares
from pincite.store.database import Database
from pincite.store.documents.blob_files import Files
from pincite.store.documents.blobs import Originals
from pincite.store.documents.folders import Folders
from pincite.store.documents.full_text import Volumes
from pincite.store.documents.library import Library, Listing
from pincite.store.documents.remove import Removal
from pincite.store.documents.rename import Filing, Refiled
from pincite.store.documents.versions import History
from pincite.store.embedded.server import EmbeddedServer
from pincite.store.indexing.enrichments import Enrichments
from pincite.store.indexing.insert_documents import Turn
from pincite.store.indexing.job_list import Queue
from pincite.store.indexing.jobs import Jobs
from pincite.store.indexing.uploads import Intake
from pincite.store.indexing.write_edition import Indexing
from pincite.store.operations.evaluations import Evaluations
from pincite.store.operations.settings import StoredSettings
from pincite.store.operations.traces import Traces
from pincite.store.search.packed_postings import Packs
from pincite.store.search.pages import Pages
from pincite.store.search.vocabulary import PostgresVocabulary
from pincite.tracing.metrics import Metrics
from pincite.tracing.otlp import Telemetry
from pincite.tracing.recorder import Witness
from pincite.tracing.replay import Replay, changed, compare, question_of, replayable, settings_for
from pincite.tracing.sink import Records

log = logging.getLogger(__name__)

WATCH_S, WATCH_LONG_S = 0.1, 0.5
"""How often adding looks how far it is; and, where it takes long, how seldom."""
FOLLOW_S = 0.5
"""How often a process looks whether another index is searched by now; a request looks by itself."""
STALLED_S = 10.0
"""How long `add` waits for a part that is down; its file stays in the queue."""


class AsyncPincite:
    """A library of documents and everything that can be done with it; one per data folder and process."""

    def __init__(self, data: str | Path | None = None, *, settings: Settings | Mapping[str, Any] | None = None) -> None:
        if isinstance(settings, Settings):
            self._layers = layers_of(settings)
        else:
            self._layers = read_layers({**({"data": Path(data)} if data is not None else {}), **(settings or {})})
        self.settings = self._layers.settings()
        self._server: EmbeddedServer | None = None
        self._beside: list[Workshop] = []
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
        check_own(settings.data)  # a prompt that cannot work is told at the start
        self._benches = Workbenches()
        self._opened.push_async_callback(self._benches.close)
        loading = asyncio.create_task(self._benches.embedder(settings))
        if not settings.data.exists():
            await loading  # no database is made for settings that cannot work
        try:
            self.database = await self._open_database()
        finally:
            await loading  # read while the database starts; where both fail, this is the one to mend
        self._opened.push_async_callback(self.database.close)
        files = Files(settings.data, await self.database.library_id())
        self.originals = Originals(self.database, files, shared=settings.database.url is not None)
        self.removal = Removal(self.database, files)
        self.jobs, self.queue = Jobs(self.database, files.place), Queue(self.database)
        self.packs, self.history = Packs(self.database), History(self.database, files)
        self.switchover = Switchover(self._benches, self.database, self.originals.place)
        self.keys, self.people = Keys(self.database), People(self.database)
        self.rights, self.logins = Rights(self.database), Logins(self.database)
        self.audit = Audit(self.database)
        self.sign_on = SignOn(settings.oidc, self.people, self.logins) if settings.oidc.issuer else None
        self.budgets = Budgets(self.database)
        self.limits = Limits(self.budgets, lambda: self.settings.limits)
        self.sessions, self.shares = Sessions(self.database), Shares(self.database)
        self.opinions = Opinions(self.database)
        self.cache = AnswerCache(self.database)
        self.shelf = OpenShelf(Volumes(self.database))
        self.evaluations = Evaluations(self.database)
        self.folders, self.filing = Folders(self.database), Filing(self.database)
        self.web = Web(lambda: self.settings.web)
        self.traces, self.metrics = Traces(self.database), Metrics()
        endpoint = settings.traces.otlp_endpoint
        self.records = Records(self.traces, self.metrics, Telemetry(endpoint, __version__) if endpoint else None)
        for stop in (self.sessions.close, self.records.close):  # what is being written still needs the database
            self._opened.push_async_callback(stop)
        self._reader = Reader(
            children=max(1, settings.ingest.workers),
            memory_mb=settings.ingest.parse_memory_mb,
            timeout_s=settings.ingest.parse_timeout_s,
        )
        stored = StoredSettings(self.database)
        self.control = Control(self._layers, stored, self._check, self._prepare, self._adopt)
        self.workers = Workers(lambda: self._shop, self._tidy)
        for stop in (self._reader.close, self.control.close, self.workers.stop):
            self._opened.push_async_callback(stop)
        await self.control.open()
        self._following = asyncio.create_task(self._follow())
        self._opened.push_async_callback(self._stop_following)

    async def _follow(self) -> None:
        """Search what is switched to, and switch to what is complete, whether anybody asks or not."""
        while True:
            await asyncio.sleep(FOLLOW_S)
            try:
                await self.switchover.switch_if_built()
                if await self.switchover.moved():
                    await self.control.renew()
            except PinciteError as error:
                log.debug("which index is searched cannot be followed for now: %s", error)

    async def _stop_following(self) -> None:
        await cancel_and_wait(self._following)

    async def _check(self, settings: Settings) -> None:
        """Tell whether what these settings ask for can be made; nothing of it stays."""
        await self._benches.check(settings, self.database)

    async def _prepare(self, settings: Settings) -> None:
        """Make what these settings ask for; a provider that cannot be made is told now, not by the next request."""
        self._prepared = await self.switchover.prepare(settings)
        await self._let_go()

    async def _let_go(self) -> None:
        await self._benches.let_go([shop.lane for shop in (*self.workers.in_hand, *self._beside)])

    def _adopt(self, _settings: Settings) -> None:
        """Work by what was prepared from now on; what is under way keeps what it began with."""
        prepared, originals = self._prepared, self.originals
        bench = self._benches.adopt(prepared.settings)
        self.library = Library(self.database, originals, prepared.wanted)
        self.pointer = Pointer(self.library, Pages(self.database))
        limits = prepared.settings.limits
        quota = Quota(limits.documents, limits.storage_mb, limits.jobs)
        self.intake = Intake(self.database, originals, prepared.signature, quota)
        self.indexing = Indexing(self.database, bench.model, prepared.signature)
        self._shop = self._shop_of(prepared.settings, bench, self.indexing)
        self._bench, self.embedder, self.toolbox = bench, bench.embedder, bench.toolbox
        self._beside = []
        self.settings = prepared.settings

    def _shop_of(self, settings: Settings, bench: Workbench, indexing: Indexing) -> Workshop:
        enriching = Enriching(settings.enrichment, lambda: bench.toolbox.model(settings), Enrichments(self.database))
        return Workshop(
            settings, self.originals, self._reader, bench.lane, bench.embedder.name, indexing, self.jobs, self.packs,
            enriching, self.records.keep, self._shop_beside,
        )  # fmt: skip

    async def _shop_beside(self, index: int) -> Workshop:
        """Where documents are made part of an index that is not searched yet."""
        settings, bench, signature = await self.switchover.beside(index)
        if not any(shop.settings == settings and shop.lane is bench.lane for shop in self._beside):
            # The documents that are under way together share one, so that they are written together, too.
            self._beside = [
                self._shop_of(settings, bench, Indexing(self.database, bench.model, signature, beside=True))
            ]
        return self._beside[0]

    async def _tidy(self) -> None:
        """Clear away what nobody needs any more: earlier tools, replaced editions, stray files, old traces."""
        await self._let_go()
        await self.switchover.forget(self.settings.versions.standby_days)
        await self.rights.settle()
        await self.shares.forget_expired()
        await self.indexing.clear_abandoned()
        await self.history.forget(keep=self.settings.versions.keep, days=self.settings.versions.keep_days)
        await self.packs.make()
        await self.intake.sweep()
        await self.queue.forget()
        await self.cache.forget_expired()
        await self.traces.forget_old(self.settings.traces.retention_days)
        await self.budgets.forget()

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

    # --- documents ------------------------------------------------------------------------------------------

    async def scope(self, caller: Caller = LOCAL) -> Scope:
        """What a caller may see."""
        return await self.library.scope(caller.person)

    async def upload(
        self, upload: Upload, *, start: bool = True, caller: Caller = LOCAL, priority: int = WAITED_FOR
    ) -> Added:
        """Take a file in; it is processed in the background by this or another process's workers."""
        checked = await asyncio.to_thread(check, upload, self.settings)
        document, outcome = await self.intake.accept(
            await self.scope(caller),
            replace(upload, name=checked.name, folder=checked.folder),
            mime=checked.mime,
            checksum=checked.checksum,
            turn=Turn(held=not start, priority=priority),
        )
        if start and outcome == "unchanged" and document.status == Status.PENDING:
            await self.jobs.start_over(await self.scope(caller), [document.id], priority=priority)
        self.workers.wake()
        return Added(document, outcome)

    async def add(self, path: str | Path, *, folder: str = "", caller: Caller = LOCAL) -> Document:
        """Take one file in and wait until it can be asked about.

        `Unreadable` where it cannot be read, `ProviderError` where its passages cannot be embedded.
        """
        files = await asyncio.to_thread(collect, [Path(path)], folder)
        if len(files.files) + len(files.refused) != 1:
            raise Invalid(f"{path} is a folder; use add_all for folders")
        result = await self.add_all(files, caller=caller, stalled_s=STALLED_S)
        if result.refused:
            raise result.refused[0][1]
        [added] = result.added
        if failed := added.document.error:
            kind = PROVIDERS_FAILED.get(failed.code, Unreadable)
            raise kind(f"{added.document.name}: {failed.message}", code=failed.code)
        return added.document

    async def add_all(
        self,
        files: Collected,
        *,
        caller: Caller = LOCAL,
        report: Callable[[Progress], None] | None = None,
        stalled_s: float | None = None,
    ) -> AddedAll:
        """Take files in and wait until all are processed; `report` hears how far it is.

        Several at once are a load: what somebody else waits for goes before it.
        """
        scope, tell = await self.scope(caller), report or (lambda _progress: None)
        priority = LOAD if len(files.files) > 1 else WAITED_FOR
        self.workers.start()
        added: list[Added] = []
        refused = list(files.refused)
        settled = await self.intake.settled(scope, [(file.folder, file.name) for file in files.files])

        async def take_in(file: NamedFile, read: ReadFile) -> Added | tuple[str, PinciteError]:
            try:
                if isinstance(read, PinciteError):
                    raise read
                upload, checksum = read
                same = settled.get((upload.folder, upload.name))
                if same and same.checksum == checksum:
                    return Added(same, "unchanged")
                return await self.upload(upload, caller=caller, priority=priority)
            except (BadRequest, DataFolderError, OverBudget) as error:
                return str(file.path), error

        for part in files.parts():
            for one in await asyncio.gather(*map(take_in, part, await asyncio.to_thread(read_all, part))):
                if isinstance(one, Added):
                    added.append(one)
                else:
                    refused.append(one)
            tell(Progress("taking in", len(added) + len(refused) - len(files.refused), len(files.files), 0.0))
        ended = await self.settle(added, caller=caller, priority=priority, report=tell, stalled_s=stalled_s)
        return AddedAll(ended, refused, files.skipped)

    async def settle(
        self,
        added: Sequence[Added],
        *,
        caller: Caller = LOCAL,
        priority: int = WAITED_FOR,
        report: Callable[[Progress], None] | None = None,
        stalled_s: float | None = None,
    ) -> list[Added]:
        """Wait until what was taken in is processed, and tell what became of it."""
        scope, settled = await self.scope(caller), list(added)
        self.workers.start()
        waiting = [one.document.id for one in added if one.document.status in (Status.PENDING, Status.PROCESSING)]
        await self.jobs.start_over(scope, waiting, priority=priority)
        await self.wait(waiting, caller=caller, report=report, stalled_s=stalled_s)
        ended = {d.id: d for d in await self.library.several(scope, waiting)}
        for number, one in enumerate(added):
            if one.document.id in ended:  # what was known but not done yet was finished now
                outcome = "again" if one.outcome == "unchanged" else one.outcome
                settled[number] = Added(ended[one.document.id], outcome)
        return settled

    async def wait(
        self,
        document_ids: Sequence[str],
        *,
        caller: Caller = LOCAL,
        report: Callable[[Progress], None] | None = None,
        stalled_s: float | None = None,
    ) -> None:
        """Wait until these documents are processed, by whichever process does it.

        With `stalled_s`, `Unavailable` where all of them have been waiting for longer for a part that is down.
        """
        scope, total, pause = await self.scope(caller), len(document_ids), WATCH_S
        while waiting := await self.jobs.waiting(scope, document_ids):
            if stalled_s is not None and waiting.stalled == waiting.count and waiting.stalled_s > stalled_s:
                kind = ProviderBusy if "embedder" in waiting.stage else Unavailable
                raise kind(f"{waiting.stage}: {waiting.reason}; it is tried again by itself", code="stalled")
            if report:
                note = f"{waiting.stage}: {waiting.reason}" if waiting.reason else waiting.stage
                report(Progress("indexing", total - waiting.count, total, waiting.progress, note=note))
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, WATCH_LONG_S)
        if report:
            report(Progress("indexing", total, total, 0.0))

    async def cancel(self, job_id: int, *, caller: Caller = LOCAL) -> CancelledJob:
        """Take a document out of the queue, from under the hands of whoever works on it; what is served stays so."""
        job, cancelled = await self.queue.take(await self.scope(caller), job_id)
        until = "; until then what was indexed before is searched" if cancelled.serving else ""
        reason = f"processing was cancelled; add the file again to have it processed{until}"
        await self.indexing.fail(job, "cancelled", reason)
        await self.workers.drop(job.id)
        return cancelled

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

    async def difference(
        self,
        document_id: str,
        before: str | None = None,
        after: str | None = None,
        *,
        context: int = CONTEXT,
        caller: Caller = LOCAL,
    ) -> Difference:
        """What changed between two versions of a document; between the last two unless told otherwise."""
        scope = await self.scope(caller)
        readable = [v.id for v in await self.library.versions(scope, document_id) if v.status == Status.COMPLETED]
        newest = after or next(iter(readable), None)
        earlier = [version for version in readable if newest is not None and version < newest]
        if newest is None or (before is None and not earlier):
            raise NotFound("there is nothing to compare: the document has no earlier version that can be read")
        first = await self.library.text(scope, document_id, before or earlier[0])
        return await asyncio.to_thread(
            difference, first, await self.library.text(scope, document_id, newest), context=context
        )

    async def reindex(
        self,
        document_ids: Sequence[str] | None = None,
        *,
        stale: bool = False,
        hold: bool = False,
        caller: Caller = LOCAL,
    ) -> int:
        """Index documents anew in the background; returns how many wait for it.

        Where the settings ask for another model or another way of cutting, all are built beside what is searched, and
        one switch is made when the last is done; with `hold`, when somebody says so.
        """
        scope = await self.scope(caller)
        if document_ids is None and (await self.switchover.standing()).wanting:
            require(caller, "administer")
            await self.switchover.build(held=hold)
            built = (await self.switchover.standing()).building
            count = built.waiting if built else 0
        else:
            if document_ids is not None:
                await self.library.owned(scope, document_ids)
            wanted = self._prepared.signature if stale else None
            count = len(await self.intake.again(scope, document_ids, stale=wanted, priority=LOAD))
        self.workers.wake()
        return count

    async def switch(self, *, anyway: bool = False, caller: Caller = LOCAL) -> None:
        """Search the index that was built; `Conflict` where it is not complete."""
        require(caller, "administer")
        built = (await self.switchover.standing()).building
        if built is None:
            raise Conflict("no index is being built; change the settings, then: pincite reindex")
        if not await self.switchover.switch(anyway=anyway):
            raise Conflict(
                f"{built.built} of {built.documents} documents are built, {built.waiting} wait; a switch is made of all"
            )
        await self.audit.note(caller.person, Told("index.switch", details={"documents": built.documents}))
        await self.control.renew()

    async def roll_back(self, *, caller: Caller = LOCAL) -> None:
        """Return to the index that was searched before, at once or as soon as what came since is built."""
        require(caller, "administer")
        await self.switchover.back()
        await self.audit.note(caller.person, Told("index.rollback"))
        self.workers.wake()
        await self.control.renew()

    async def discard_index(self, *, caller: Caller = LOCAL) -> int:
        """Let go of the index that is being built, or else of those that stand by."""
        require(caller, "administer")
        discarded = await self.switchover.discard()
        await self.audit.note(caller.person, Told("index.discard", details={"discarded": discarded}))
        await self.indexing.clear_abandoned()
        return discarded

    async def remove(self, document_id: str, *, caller: Caller = LOCAL) -> Receipt:
        """Remove a document and everything made of it."""
        scope = await self.scope(caller)
        await self.library.owned(scope, [document_id])
        return await self.removal.remove(scope, document_id)

    async def refile(self, document_id: str, wanted: Refiled, *, caller: Caller = LOCAL) -> Document:
        """File a document anew: another title, tags or folder; its id stays."""
        scope = await self.scope(caller)
        await self.library.owned(scope, [document_id])
        await self.filing.refile(scope, document_id, wanted)
        return await self.get(document_id, caller=caller)

    async def add_person(
        self, name: str, role: PersonRole, password: str | None = None, *, caller: Caller = LOCAL
    ) -> Person:
        """Add somebody who may come in, with a password or, once one is made for them, with a key."""
        if password is not None:
            check_new(password)
        person = await self.people.add(caller.person, name, role)
        if password is not None:
            await self.logins.set_password(caller.person, person.id, password)
        return person

    async def hand_over(self, name: str, to: str, *, caller: Caller = LOCAL) -> int:
        """Give all documents of a user to another; only whoever owns the data folder does. How many there were."""
        whose, heir = await self.people.get(caller.person, name), await self.people.get(caller.person, to)
        if whose.id == heir.id:
            raise Invalid(f"'{heir.name}' cannot take over from themselves")
        handed = await self.rights.hand_over(caller.person, whose, heir)
        for person in (whose, heir):
            self.folders.forget_furnished(person.id)
        details = {"to": heir.id, "documents": handed}
        await self.audit.note(caller.person, Told("user.hand_over", f"user:{whose.id}", details=details))
        return handed

    async def look(self, caller: Caller, owner: str, at: str) -> Caller:
        """Who an administrator reads as who looks at another's things: that one, without a right to change any.

        Where a setting allows it; and what is looked at is in the audit log before it is seen.
        """
        require(caller, "administer")
        if not self.settings.access.administrators_read:
            raise NotAllowed(
                "administrators may not look at what belongs to others here (access.administrators_read)",
                code="content_closed",
            )
        person = await self.people.get(caller.person, owner)
        await self.audit.note(caller.person, Told("content.read", f"user:{person.id}", details={"at": at}))
        return Caller(person.id, "reader", caller.key_id)

    async def share(self, document_id: str, wish: Wish | None, *, caller: Caller = LOCAL) -> Document:
        """Let these read a document, and no others; with None, whoever may read what lies in its folder."""
        scope = await self.scope(caller)
        await self.library.owned(scope, [document_id])
        readers = None if wish is None else await self.rights.readers(scope, wish)
        await self.rights.share(scope, document_id, readers)
        return await self.get(document_id, caller=caller)

    async def share_folder(self, path: str, wish: Wish | None, *, caller: Caller = LOCAL) -> None:
        """Let these read what lies in one's own folder and below it; with None, as the folder above has it."""
        scope = await self.scope(caller)
        readers = None if wish is None else await self.rights.readers(scope, wish)
        await self.rights.share_folder(scope, path, readers)
        self.folders.forget_furnished(scope.person)

    async def remove_folder(self, path: str, *, recursive: bool = False, caller: Caller = LOCAL) -> list[Receipt]:
        """Remove a folder that is empty, or with `recursive` one with all documents in it and below it."""
        scope = await self.scope(caller)
        await self.folders.get(scope, path)
        inside = await self.folders.own_documents(scope, path) if recursive else []
        receipts = []
        for document_id in inside:
            with suppress(NotFound):  # somebody else removed it
                receipts.append(await self.removal.remove(scope, document_id))
        await self.folders.forget(scope, path)
        return receipts

    # --- questions ------------------------------------------------------------------------------------------

    async def ask(
        self, question: str | Question, *, caller: Caller = LOCAL, listen: Callable[[Event], None] | None = None
    ) -> Answer:
        """Answer a question; `listen` hears what happens on the way."""
        asked = await self._under_its_folder(Question(question) if isinstance(question, str) else question, caller)
        kind = "chat" if asked.session_id or asked.conversation else "query"
        async with self._run(caller, Witness(kind, asked, listen)) as run:
            return await pipeline.answer(run, asked)

    async def run_flow(
        self, flow: Flow, *, caller: Caller = LOCAL, listen: Callable[[Event], None] | None = None
    ) -> Answer:
        """Run a flow's nodes; the answer is what its last completion says."""
        asked = Question(flow.input, profile=flow.profile, mode="agent")
        async with self._run(caller, Witness("query", asked, listen)) as run:
            return await run_flow(run, flow)

    async def _under_its_folder(self, question: Question, caller: Caller) -> Question:
        """The question with the prompt of the folder it is about, before that of the caller."""
        if question.filters.folder is None:
            return question
        prompt = await self.folders.prompt(await self.scope(caller), question.filters.folder)
        own = question.sampling.system_prompt
        both = "\n\n".join(part for part in (prompt, own) if part) or None
        return replace(question, sampling=replace(question.sampling, system_prompt=both))

    async def search(
        self, question: str | Question, *, caller: Caller = LOCAL, settings: Settings | None = None
    ) -> SearchResult:
        """Find passages; several queries at once are fused. `settings` tries out others than those in force."""
        asked = Question(question) if isinstance(question, str) else question
        async with self._run(caller, Witness("search" if settings is None else "evaluation", asked), settings) as run:
            plan, hits = await pipeline.search(run, asked)
            notes = (*run.degraded, *(Degraded("filters", warning) for warning in run.warnings))
            return SearchResult(tuple(hits), plan.strategy, notes, run.id, run.settings.rag, plan)

    async def replay(
        self,
        trace_id: str,
        changes: Mapping[str, Any],
        *,
        profile: str | None = None,
        question: str | None = None,
        caller: Caller = LOCAL,
    ) -> Replay:
        """Ask a traced question again with other settings; `question` gives its words where they were not kept.

        Where the old answer's words were not kept either, it is asked twice: as it was, and with the changes.
        """
        before = await self.traces.get(await self.scope(caller), trace_id)
        asked = question_of(before, question)
        if profile is not None:
            values = for_request(find_profile(profile), self.settings).values
            changes = {**{key: value for key, value in values.items() if key in replayable()}, **changes}
        if LEVEL in changes:
            changes = {**find_level(changes[LEVEL]).values, **changes}
        settings = settings_for(self.settings, before, changes)
        was = before.content.answer if before.content and question is None else None
        if was is None and not before.searched:
            was, _ = await self._asked_again(caller, asked, before, settings_for(self.settings, before, {}))
        now, after = await self._asked_again(caller, asked, before, settings)
        return await asyncio.to_thread(compare, before, after, (was, now))

    async def _asked_again(
        self, caller: Caller, asked: Question, before: Trace, settings: Settings
    ) -> tuple[str | None, Trace]:
        witness = Witness("replay", asked, replays=before)
        async with self._run(caller, witness, settings) as run:
            await (pipeline.search if before.searched else pipeline.answer)(run, replace(asked, fresh=True))
        assert witness.told is not None
        return witness.answer, witness.told

    @asynccontextmanager
    async def _run(self, caller: Caller, witness: Witness, settings: Settings | None = None) -> AsyncIterator[Run]:
        """One request: its trace is closed and kept however it ends."""
        embedder, most = self._bench.embedder, self.settings.guard.max_query_chars
        # Only by an embedder of this process: a call to another has its place in the trace, and the question's time.
        async with begun(embedder, witness.searched_surely(most) if embedder.local else ()) as coming:
            run = await self._made_ready(caller, witness, settings)
            if run.kit.embedder is embedder:
                run.begun = coming
            error: BaseException | None = None
            own = not request_id.get()
            if own:
                request_id.set(run.id)
            try:
                async with _until(run.deadline):
                    run.warnings.extend(await self.library.unknown(run.scope, witness.question.filters))
                    yield run
            except BaseException as raised:
                error = raised
                raise
            finally:
                await run.close()
                await self.records.keep(caller.person, witness.trace(run, error))
                if own:
                    request_id.set("")

    async def _made_ready(self, caller: Caller, witness: Witness, settings: Settings | None) -> Run:
        """A run with what the caller may read, the settings of this moment and the tools of the index that is searched."""
        scope, searched = await self.library.scope_now(caller.person)
        if searched != self._prepared.index:  # before the tools are taken: all are of the index that is searched
            await self.control.renew()
        missing: tuple[Degraded, ...] = ()
        if settings is None:
            settings, missing = self._settings_for(witness)
        if labels := await self.folders.labels(scope):
            settings = settings.model_copy(update={"category_labels": {**settings.category_labels, **labels}})
        bench = await self._bench_of(witness.question.filters.index)
        run = Run(
            id=secrets.token_hex(16),
            kit=replace(
                await _kit(self.toolbox if bench is self._bench else bench.toolbox, settings),
                index=bench.index(settings.rag),
                memory=self.sessions,
                vocabulary=PostgresVocabulary(self.database, bench.surveys),
                cache=self.cache,
                shelf=self.shelf,
                eyes=Legible(self._reader, settings.chunking),
            ),
            settings=settings,
            caller=caller,
            scope=scope,
            deadline=time.monotonic() + settings.llm.question_timeout_s,
            emit=witness.hear,
        )
        run.degraded.extend(missing)  # no incident that belongs into a log: it was asked for what is not here
        return run

    async def _bench_of(self, index: str | None) -> Workbench:
        """The tools of the index that is searched, or of one beside it, by its signature."""
        standing = (await self.switchover.standing()).all if index not in (None, self._prepared.signature) else ()
        beside = next((one.id for one in standing if one.signature == index), None)
        return self._bench if beside is None else (await self.switchover.beside(beside))[1]

    def _settings_for(self, witness: Witness) -> tuple[Settings, tuple[Degraded, ...]]:
        """The snapshot a request works by, and what its profile and its level would like besides.

        A level lies over the profile, and the request's own changes over both; a search has no level.
        """
        question, profile = witness.question, witness.question.profile
        settings, wished = (self.settings, ()) if profile is None else self.control.profiled(profile)
        missing = [Degraded("profile", note) for note in wished]
        changes, level = dict(question.changes), level_of(question, settings) if witness.answers else None
        if level is not None:
            changes = {**find_level(level).values, **changes}
            missing += missing_features(level)
        return (changed(settings, changes, "a request") if changes else settings), tuple(missing)


async def _kit(toolbox: Toolbox, settings: Settings) -> Kit:
    """The tools of one request; what a profile or a replay asks for may be more than is configured."""
    try:
        return await toolbox.ready(settings)
    except SettingsError as error:
        raise Invalid(str(error)) from error


@asynccontextmanager
async def _until(deadline: float) -> AsyncIterator[None]:
    due.set(deadline)
    try:
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + deadline - time.monotonic()):
            yield
    except TimeoutError as error:
        raise OverBudget("the question took too long (llm.question_timeout_s)") from error
    finally:
        due.set(None)
