"""Documents: add, list, read, compare, share and remove them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pincite.core.accounts.access import LOCAL, Caller, Scope, ShareRequest
from pincite.core.documents.document import (
    Added,
    AddedAll,
    Chunk,
    Document,
    DocumentChange,
    Listing,
    Passage,
    Progress,
    ReadRequest,
    Receipt,
    Status,
    Upload,
    Version,
    VersionText,
)
from pincite.core.documents.jobs import BULK_PRIORITY, INTERACTIVE_PRIORITY, CancelledJob
from pincite.core.query.question import check_list
from pincite.engine.reader.diff import CONTEXT_LINES, Difference, difference
from pincite.engine.reader.document_reader import extract_passage
from pincite.engine.reader.page_locator import Locator
from pincite.engine.wiring import Services
from pincite.errors import (
    PROVIDER_ERRORS,
    BadRequest,
    DataFolderError,
    Invalid,
    NotFound,
    OverBudget,
    PinciteError,
    ProviderBusy,
    Unavailable,
    Unreadable,
)
from pincite.ingest.accept.accept import accept
from pincite.ingest.accept.collect import Collected, NamedFile, ReadFile, collect, read_all
from pincite.store.access.permissions import Readers
from pincite.store.documents.folders import Folders
from pincite.store.indexing.insert_documents import Schedule
from pincite.store.indexing.job_list import JobList

POLL_S, MAX_POLL_S = 0.1, 0.5
"""Seconds between two polls of `wait`: at first, and at most."""
UPLOADS_AT_ONCE = 64
"""Files that are checked and stored together."""
STALL_TIMEOUT_S = 10.0
"""Seconds that `add` waits for a component that is down; the file stays in the queue."""


class Documents:
    """The documents of a library. Each call acts with its caller's permissions."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def folders(self) -> Folders:
        """The folders of the library."""
        return self._services.folders

    @property
    def jobs(self) -> JobList:
        """The jobs of waiting, running and processed documents."""
        return self._services.job_list

    @property
    def locator(self) -> Locator:
        """Converts between text spans and positions on pages."""
        return self._services.locator

    async def __call__(self, folder: str | None = None, *, caller: Caller = LOCAL) -> list[Document]:
        """Return all documents, or those in a folder and below it."""
        return await self.all(Listing(folder=folder), caller=caller)

    async def upload(
        self, upload: Upload, *, start: bool = True, caller: Caller = LOCAL, priority: int = INTERACTIVE_PRIORITY
    ) -> Added:
        """Upload a file; workers of this or another process index it in the background."""
        return await self._upload(await self._services.scope(caller), upload, Schedule(not start, priority))

    async def upload_all(self, uploads: Sequence[Upload], *, caller: Caller = LOCAL) -> list[Added]:
        """Upload files, many in one transaction; the error of the first refused one is raised after all others."""
        scope, schedule = await self._services.scope(caller), Schedule(priority=BULK_PRIORITY)
        ended = list[Added | BaseException]()
        for first in range(0, len(uploads), UPLOADS_AT_ONCE):
            some = (self._upload(scope, one, schedule) for one in uploads[first : first + UPLOADS_AT_ONCE])
            ended += await asyncio.gather(*some, return_exceptions=True)
        if failed := [one for one in ended if isinstance(one, BaseException)]:
            raise failed[0]
        return [one for one in ended if isinstance(one, Added)]

    async def _upload(self, scope: Scope, upload: Upload, schedule: Schedule) -> Added:
        checked = await asyncio.to_thread(accept, upload, self._services.settings)
        document, outcome = await self._services.uploads.accept(
            scope,
            replace(upload, name=checked.name, folder=checked.folder),
            mime=checked.mime,
            checksum=checked.checksum,
            schedule=schedule,
        )
        if not schedule.held and outcome == "unchanged" and document.status == Status.PENDING:
            await self._services.jobs.start_over(scope, [document.id], priority=schedule.priority)
        self._services.workers.wake()
        return Added(document, outcome)

    async def add(
        self, paths: Sequence[str | Path], *, folder: str = "", tags: Sequence[str] = (), caller: Caller = LOCAL
    ) -> list[Document]:
        """Add files and wait until they can be searched; the error of the first that failed is raised at the end.

        `Unreadable` if a file cannot be parsed, `ProviderError` if its passages cannot be embedded.
        """
        for path in paths:
            if await asyncio.to_thread(Path(path).is_dir):
                raise Invalid(f"{path} is a folder; use add_all for folders")
        files = await asyncio.to_thread(collect, [Path(path) for path in paths], folder)
        result = await self.add_all(files, tags=tags, caller=caller, stalled_s=STALL_TIMEOUT_S)
        if result.refused:
            raise result.refused[0][1]
        for added in result.added:
            if failed := added.document.error:
                kind = PROVIDER_ERRORS.get(failed.code, Unreadable)
                raise kind(f"{added.document.name}: {failed.message}", code=failed.code)
        return [added.document for added in result.added]

    async def add_all(
        self,
        files: Collected,
        *,
        tags: Sequence[str] = (),
        caller: Caller = LOCAL,
        report: Callable[[Progress], None] | None = None,
        stalled_s: float | None = None,
    ) -> AddedAll:
        """Add files and wait until all are processed; `report` is called with the progress.

        Several files get the bulk priority: a single file that another user waits for is processed before them.
        `tags` replace those of the files' own and those that an unchanged document has.
        """
        check_list("tags", tags)
        tags = tuple(dict.fromkeys(tags))
        scope, report_progress = await self._services.scope(caller), report or (lambda _progress: None)
        priority = BULK_PRIORITY if len(files.files) > 1 else INTERACTIVE_PRIORITY
        self._services.workers.start()
        added: list[Added] = []
        refused = list(files.refused)
        finished = await self._services.uploads.up_to_date(scope, [(file.folder, file.name) for file in files.files])

        async def upload_file(file: NamedFile, read: ReadFile) -> Added | tuple[str, PinciteError]:
            try:
                if isinstance(read, PinciteError):
                    raise read
                upload, checksum = read
                same = finished.get((upload.folder, upload.name))
                if same and same.checksum == checksum:
                    return Added(same, "unchanged")
                upload = replace(upload, tags=tags or upload.tags)
                return await self._upload(scope, upload, Schedule(priority=priority))
            except (BadRequest, DataFolderError, OverBudget) as error:
                return str(file.path), error

        for part in files.batches():
            for one in await asyncio.gather(*map(upload_file, part, await asyncio.to_thread(read_all, part))):
                if isinstance(one, Added):
                    added.append(one)
                else:
                    refused.append(one)
            report_progress(
                Progress("taking in", len(added) + len(refused) - len(files.refused), len(files.files), 0.0)
            )
        ended = await self.wait_for_added(
            added, caller=caller, priority=priority, report=report_progress, stalled_s=stalled_s
        )
        return AddedAll(await self._tagged(ended, tags, caller), refused, files.skipped)

    async def _tagged(self, added: list[Added], tags: tuple[str, ...], caller: Caller) -> list[Added]:
        """Return what was added, after giving the tags to documents that do not have them, such as unchanged ones."""
        if not tags:
            return added
        change, tagged = DocumentChange(tags=tags), list[Added]()
        for one in added:
            differs = set(one.document.tags) != set(tags)
            document = await self.update(one.document.id, change, caller=caller) if differs else one.document
            tagged.append(replace(one, document=document))
        return tagged

    async def wait_for_added(
        self,
        added: Sequence[Added],
        *,
        caller: Caller = LOCAL,
        priority: int = INTERACTIVE_PRIORITY,
        report: Callable[[Progress], None] | None = None,
        stalled_s: float | None = None,
    ) -> list[Added]:
        """Wait until uploaded files are processed, and return their final outcomes."""
        scope, results = await self._services.scope(caller), list(added)
        self._services.workers.start()
        waiting = [one.document.id for one in added if one.document.status in (Status.PENDING, Status.PROCESSING)]
        await self._services.jobs.start_over(scope, waiting, priority=priority)
        await self.wait(waiting, caller=caller, report=report, stalled_s=stalled_s)
        if waiting:  # this process may end now, and its workers with it
            await self._services.editions.index_vectors(loading=False)
        ended = {d.id: d for d in await self._services.library.get_many(scope, waiting)}
        for number, one in enumerate(added):
            if one.document.id in ended:  # an unchanged file that was still waiting has been processed now
                outcome = "again" if one.outcome == "unchanged" else one.outcome
                results[number] = Added(ended[one.document.id], outcome)
        return results

    async def wait(
        self,
        document_ids: Sequence[str],
        *,
        caller: Caller = LOCAL,
        report: Callable[[Progress], None] | None = None,
        stalled_s: float | None = None,
    ) -> None:
        """Wait until documents are processed, by the workers of any process.

        With `stalled_s`, raise `Unavailable` if all of them have waited longer for a component that is down.
        """
        scope, total, pause = await self._services.scope(caller), len(document_ids), POLL_S
        while waiting := await self._services.jobs.waiting(scope, document_ids):
            if stalled_s is not None and waiting.stalled == waiting.count and waiting.stalled_s > stalled_s:
                kind = ProviderBusy if "embedder" in waiting.stage else Unavailable
                raise kind(f"{waiting.stage}: {waiting.reason}; it is retried automatically", code="stalled")
            if report:
                note = f"{waiting.stage}: {waiting.reason}" if waiting.reason else waiting.stage
                report(Progress("indexing", total - waiting.count, total, waiting.progress, note=note))
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, MAX_POLL_S)
        if report:
            report(Progress("indexing", total, total, 0.0))

    async def cancel(self, job_id: int, *, caller: Caller = LOCAL) -> CancelledJob:
        """Cancel a job, also one that a worker has claimed; the served version of the document stays."""
        job, cancelled = await self._services.job_list.take_over(await self._services.scope(caller), job_id)
        until = "; until then its earlier version is searched" if cancelled.serving else ""
        reason = f"processing was cancelled; add the file again to process it{until}"
        await self._services.editions.fail(job, "cancelled", reason)
        await self._services.workers.drop(job.id)
        return cancelled

    async def get(self, document_id: str, *, caller: Caller = LOCAL) -> Document:
        """Return one document."""
        return await self._services.library.get(await self._services.scope(caller), document_id)

    async def all(self, listing: Listing = Listing(), *, caller: Caller = LOCAL) -> list[Document]:  # noqa: B008
        """Return all documents of a listing, from all pages."""
        documents, cursor = list[Document](), listing.cursor
        while True:
            page, cursor = await self.page(replace(listing, cursor=cursor), caller=caller)
            documents.extend(page)
            if cursor is None:
                return documents

    async def page(self, listing: Listing, *, caller: Caller = LOCAL) -> tuple[list[Document], str | None]:
        """Return one page of a listing, and the cursor of the next page."""
        return await self._services.library.documents(await self._services.scope(caller), listing)

    async def several(self, document_ids: Sequence[str], *, caller: Caller = LOCAL) -> list[Document]:
        """Return the documents with these ids that the caller may read."""
        return await self._services.library.get_many(await self._services.scope(caller), document_ids)

    async def duplicates(self, document: Document, *, caller: Caller = LOCAL) -> list[Document]:
        """Return other documents with the same content."""
        return await self._services.library.duplicates(await self._services.scope(caller), document)

    async def stale(self, *, caller: Caller = LOCAL) -> int:
        """Return the number of documents that were indexed with other settings than the current ones."""
        return await self._services.library.stale(await self._services.scope(caller))

    async def list_versions(self, document_id: str, *, caller: Caller = LOCAL) -> list[Version]:
        """Return the versions of a document, newest first."""
        return await self._services.library.versions(await self._services.scope(caller), document_id)

    async def chunks(
        self,
        document_id: str,
        level: int | None = None,
        *,
        version_id: str | None = None,
        after: int = -1,
        limit: int | None = None,
        caller: Caller = LOCAL,
    ) -> tuple[Version | None, Sequence[Chunk]]:
        """Return the served version of a document, or another one, and its chunks in order."""
        scope = await self._services.scope(caller)
        return await self._services.library.chunks(
            scope, document_id, level, version_id=version_id, after=after, limit=limit
        )

    async def embedding_inputs(self, document_id: str, *, caller: Caller = LOCAL) -> tuple[str, Mapping[int, bytes]]:
        """Return the embedding model of a document, and the digest of the embedded text of each chunk."""
        return await self._services.library.embedded(await self._services.scope(caller), document_id)

    async def text(self, document_id: str, version: str | None = None, *, caller: Caller = LOCAL) -> VersionText:
        """Return the whole normalised text of a version."""
        return await self._services.library.text(await self._services.scope(caller), document_id, version)

    async def original(
        self, document_id: str, version: str | None = None, *, caller: Caller = LOCAL
    ) -> tuple[Version, bytes]:
        """Return a version and its original file."""
        return await self._services.library.raw(await self._services.scope(caller), document_id, version)

    async def start(self, document_ids: Sequence[str] | None = None, *, caller: Caller = LOCAL) -> int:
        """Start the held jobs of documents; without ids, all of the caller's. Return their number."""
        scope = await self._services.scope(caller)
        if document_ids is not None:
            await self._services.library.require_owned(scope, document_ids)
        started = await self._services.jobs.start(scope, document_ids)
        self._services.workers.wake()
        return started

    async def readers(self, request: ShareRequest, *, caller: Caller = LOCAL) -> Readers:
        """Return the users and groups of a share request; an error if one does not exist."""
        return await self._services.permissions.readers(await self._services.scope(caller), request)

    async def read(self, reading: ReadRequest, *, caller: Caller = LOCAL) -> Passage:
        """Return a part of a document's text: lines, a section, or all of it."""
        scope = await self._services.scope(caller)
        document_id = reading.document_id or await self._services.library.find_source(scope, reading.source_uri or "")
        text = await self._services.library.text(scope, document_id, reading.version)
        return await asyncio.to_thread(extract_passage, text, reading)

    async def difference(
        self,
        document_id: str,
        before: str | None = None,
        after: str | None = None,
        *,
        context: int = CONTEXT_LINES,
        caller: Caller = LOCAL,
    ) -> Difference:
        """Compare two versions of a document; by default the last two."""
        scope = await self._services.scope(caller)
        readable = [
            v.id for v in await self._services.library.versions(scope, document_id) if v.status == Status.COMPLETED
        ]
        newest = after or next(iter(readable), None)
        earlier = [version for version in readable if newest is not None and version < newest]
        if newest is None or (before is None and not earlier):
            raise NotFound("there is nothing to compare: the document has no earlier readable version")
        first = await self._services.library.text(scope, document_id, before or earlier[0])
        return await asyncio.to_thread(
            difference, first, await self._services.library.text(scope, document_id, newest), context=context
        )

    async def remove(self, document_id: str, *, caller: Caller = LOCAL) -> Receipt:
        """Remove a document with its versions, chunks and cached answers."""
        scope = await self._services.scope(caller)
        await self._services.library.require_owned(scope, [document_id])
        return await self._services.removal.remove(scope, document_id)

    async def update(self, document_id: str, wanted: DocumentChange, *, caller: Caller = LOCAL) -> Document:
        """Change a document's title, tags, folder or name; its id stays."""
        scope = await self._services.scope(caller)
        await self._services.library.require_owned(scope, [document_id])
        await self._services.editor.update(scope, document_id, wanted)
        return await self.get(document_id, caller=caller)

    async def share(self, document_id: str, request: ShareRequest | None, *, caller: Caller = LOCAL) -> Document:
        """Set the readers of a document; None means the readers of its folder."""
        scope = await self._services.scope(caller)
        await self._services.library.require_owned(scope, [document_id])
        readers = None if request is None else await self._services.permissions.readers(scope, request)
        await self._services.permissions.share(scope, document_id, readers)
        return await self.get(document_id, caller=caller)

    async def share_folder(self, path: str, request: ShareRequest | None, *, caller: Caller = LOCAL) -> None:
        """Set the readers of the caller's own folder and its subfolders; None means those of the parent folder."""
        scope = await self._services.scope(caller)
        readers = None if request is None else await self._services.permissions.readers(scope, request)
        await self._services.permissions.share_folder(scope, path, readers)
        self._services.folders.clear_cache(scope.person)

    async def remove_folder(self, path: str, *, recursive: bool = False, caller: Caller = LOCAL) -> list[Receipt]:
        """Remove an empty folder; with `recursive`, also all documents in it and below it."""
        scope = await self._services.scope(caller)
        await self._services.folders.get(scope, path)
        inside = await self._services.folders.own_documents(scope, path) if recursive else []
        receipts = []
        for document_id in inside:
            with suppress(NotFound):  # it was removed meanwhile
                receipts.append(await self._services.removal.remove(scope, document_id))
        await self._services.folders.remove(scope, path)
        return receipts
