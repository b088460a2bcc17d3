"""Synchronises documents with remote sources: adds and updates changed files, removes deleted ones."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import Literal

from pincite.concurrency import cancel_and_wait
from pincite.config.settings import SECRET_PREFIX, environment
from pincite.core.accounts.access import LOCAL, Caller, Scope, require
from pincite.core.documents.document import Added, Progress, Upload
from pincite.core.documents.jobs import BULK_PRIORITY
from pincite.core.documents.sources import (
    KnownItem,
    NewSource,
    RemoteSource,
    SourceAddress,
    SourceItem,
    SourceResult,
    StoredSource,
)
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, Invalid, NotFound, PinciteError, Unavailable
from pincite.ingest.accept.accept import clean_folder
from pincite.parsers import file_types
from pincite.store.documents.sources import SourceStore

log = logging.getLogger(__name__)

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "imap": "pincite.outbound.sources.imap",
        "webdav": "pincite.outbound.sources.webdav",
        "s3": "pincite.outbound.sources.s3",
        "feed": "pincite.outbound.sources.feed",
        "sql": "pincite.store.documents.foreign_rows",
    }
)
"""The module of each kind of source, with its class `Source` and the names of its `OPTIONS`."""
POLL_S = 30.0
"""Seconds between checks for sources that are due."""
Outcome = Literal["added", "updated", "unchanged"]
_OUTCOMES: Mapping[str, Outcome] = {"new": "added", "new_version": "updated", "again": "updated"}


class Sources:
    """The sources of one administrator."""

    def __init__(self, pincite: AsyncPincite, caller: Caller = LOCAL) -> None:
        require(caller, "administer")
        self._pincite, self._caller = pincite, caller
        self._store = SourceStore(pincite.services.database)

    async def add(self, new: NewSource) -> StoredSource:
        """Check and store a source; it is synchronised by `sync`, or by the server if it has an interval."""
        new = replace(new, folder=clean_folder(new.folder), name=new.name.strip())
        _check(new)
        await self._remote_of(new).close()  # reports an invalid URL or option now
        return await self._store.add(await self._scope(), new)

    async def all(self) -> list[StoredSource]:
        """The sources by name, with the result of their last synchronisation."""
        return await self._store.all(await self._scope())

    async def get(self, wanted: str) -> StoredSource:
        """A source by id or name."""
        return await self._store.get(await self._scope(), wanted)

    async def remove(self, wanted: str, *, documents: bool = False) -> StoredSource:
        """Remove a source; with `documents`, its documents too."""
        scope = await self._scope()
        source = await self._store.get(scope, wanted)
        if documents:
            for item in (await self._store.items(scope, source.id)).values():
                await self._remove_document(item.document_id)
        await self._store.remove(scope, source.id)
        return source

    async def sync(self, wanted: str, report: Callable[[Progress], None] = lambda _: None) -> SourceResult:
        """Synchronise a source and wait until its documents are indexed; `Conflict` if it is being synchronised."""
        scope = await self._scope()
        source = await self._store.get(scope, wanted)
        if not await self._store.claim(scope, source.id):
            raise Conflict(f"'{source.name}' is being synchronised already")
        try:
            result = await self._sync(scope, source, report)
        except BaseException as error:
            shown = str(error) if isinstance(error, PinciteError) else f"unexpected error: {type(error).__name__}"
            await self._store.finish(scope, source.id, "failed", shown)
            raise
        await self._store.finish(scope, source.id, "ok", _summary_of_refused(result))
        return result

    async def _scope(self) -> Scope:
        return await self._pincite.scope(self._caller)

    def _remote_of(self, source: NewSource | StoredSource) -> RemoteSource:
        settings = self._pincite.settings
        secret = read_secret(source.secret_env)
        max_bytes = settings.server.max_body_mb * 1024 * 1024
        address = SourceAddress(source.url, source.options, secret, settings.web.timeout_s, max_bytes)
        module = import_module(KINDS[source.kind])
        remote: RemoteSource = (
            module.Source(address, self._pincite.services.web) if source.kind == "feed" else module.Source(address)
        )
        return remote

    async def _sync(self, scope: Scope, source: StoredSource, report: Callable[[Progress], None]) -> SourceResult:
        remote = self._remote_of(source)
        try:
            items = [item for item in await remote.items() if _is_supported(item)]
            known = await self._store.items(scope, source.id)
            if known and not items and remote.lists_all:
                raise Invalid("the source lists no files; its documents are kept: remove them yourself")
            result = await self._update(remote, source, items, known, report)
            gone = set(known) - {item.key for item in items} if remote.lists_all else set()
            for key in gone:
                await self._remove_document(known[key].document_id)
            await self._store.forget(scope, source.id, sorted(gone))
            return replace(result, removed=len(gone))
        finally:
            await remote.close()

    async def _update(
        self,
        remote: RemoteSource,
        source: StoredSource,
        items: list[SourceItem],
        known: Mapping[str, KnownItem],
        report: Callable[[Progress], None],
    ) -> SourceResult:
        counts = {"added": 0, "updated": 0, "unchanged": 0}
        refused: list[tuple[str, str]] = []
        added: list[Added] = []
        for number, item in enumerate(items, start=1):
            before = known.get(item.key)
            if before is not None and item.stamp and before.stamp == item.stamp:
                counts["unchanged"] += 1
                continue
            try:
                one = await self._upload(remote, source, item)
            except NotFound:  # deleted since the listing; the next synchronisation removes it
                continue
            except PinciteError as error:
                if isinstance(error, Unavailable):
                    raise
                refused.append((item.name, str(error)))
                document_id = before.document_id if before else None
            else:
                added.append(one)
                counts[_OUTCOMES.get(one.outcome, "unchanged")] += 1
                document_id = one.document.id
            # The first document of a folder may have created a realm, so the scope is read again.
            await self._store.record(await self._scope(), source.id, {item.key: KnownItem(item.stamp, document_id)})
            report(Progress("synchronising", number, len(items), 0.0, of="file"))
        ended = await self._pincite.documents.wait_for_added(
            added, caller=self._caller, priority=BULK_PRIORITY, report=report
        )
        failed = [(one.document.name, one.document.error.message) for one in ended if one.document.error]
        return SourceResult(**counts, refused=(*refused, *failed))

    async def _upload(self, remote: RemoteSource, source: StoredSource, item: SourceItem) -> Added:
        data = await remote.read(item)
        folder = "/".join(part for part in (source.folder, item.folder) if part)
        upload = Upload(item.name, data, folder, item.uri)
        return await self._pincite.documents.upload(upload, caller=self._caller, priority=BULK_PRIORITY)

    async def _remove_document(self, document_id: str | None) -> None:
        if document_id is not None:
            with suppress(NotFound):  # its user removed it
                await self._pincite.remove(document_id, caller=self._caller)


class SourceScheduler:
    """Synchronises the sources that are due, one after the other, until it is stopped."""

    def __init__(self, pincite: AsyncPincite) -> None:
        self._pincite = pincite
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the background task."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop; a synchronisation in progress is recorded as interrupted and starts again when it is due."""
        if self._task is not None:
            await cancel_and_wait(self._task)

    async def sync_due(self) -> int:
        """Synchronise the sources that are due now; return how many."""
        due = await SourceStore(self._pincite.services.database).due()
        for source_id, owner in due:
            try:
                await Sources(self._pincite, Caller(owner, "administrator")).sync(source_id)
            except Conflict:  # another server has it
                continue
            except PinciteError as error:
                log.warning("the source %s could not be synchronised: %s", source_id, error)
        return len(due)

    async def _run(self) -> None:
        while True:
            try:
                await self.sync_due()
            except PinciteError as error:
                log.warning("sources cannot be synchronised now: %s", error)
            await asyncio.sleep(POLL_S)


def read_secret(name: str) -> str:
    """The credentials in an environment variable; an empty name has none."""
    if not name:
        return ""
    _check_secret_name(name)
    value = environment().get(name)
    if value is None:
        raise Invalid(f"the environment variable {name} is not set; set it where pincite runs")
    return value


def _check_secret_name(name: str) -> None:
    if not name.startswith(SECRET_PREFIX):
        raise Invalid(f"the name of the variable with the credentials must begin with {SECRET_PREFIX}")


def _check(new: NewSource) -> None:
    """Raise `Invalid` for a source that cannot work."""
    if not new.name or len(new.name) > 100:
        raise Invalid("a source needs a name of at most 100 characters")
    if new.kind not in KINDS:
        raise Invalid(f"there is no kind of source '{new.kind}'; there are: {', '.join(KINDS)}")
    if new.secret_env:
        _check_secret_name(new.secret_env)
    if new.every_minutes < 0:
        raise Invalid("the interval must be 0 or more minutes")
    allowed: frozenset[str] = import_module(KINDS[new.kind]).OPTIONS
    if unknown := sorted(set(new.options) - allowed):
        names = ", ".join(sorted(allowed)) or "none"
        raise Invalid(f"a source of the kind {new.kind} has no option '{unknown[0]}'; there are: {names}")


def _is_supported(item: SourceItem) -> bool:
    return f".{item.name.rpartition('.')[2].lower()}" in file_types()


def _summary_of_refused(result: SourceResult) -> str | None:
    if not result.refused:
        return None
    name, reason = result.refused[0]
    more = f" (and {len(result.refused) - 1} more)" if len(result.refused) > 1 else ""
    return f"{name}: {reason}{more}"
