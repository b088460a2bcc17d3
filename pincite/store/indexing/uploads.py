"""Storing uploads: a new document, a new version, or nothing new; an acknowledged upload is durable."""

import asyncio
import base64
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from psycopg import errors as pg_errors
from psycopg.types.json import Jsonb

from pincite.concurrency import Batcher
from pincite.core.accounts.access import Scope
from pincite.core.accounts.audit import AuditEntry
from pincite.core.documents.document import Document, Status, Upload, UploadOutcome
from pincite.core.request_context import RequestOrigin, origin
from pincite.errors import NotFound, OverBudget, OverQuota
from pincite.store.access.audit_log import record, record_from
from pincite.store.access.usage import Quota, check_quota
from pincite.store.database import Connection, Database, fetch_all, fetch_one
from pincite.store.documents.blobs import Blobs, Original
from pincite.store.documents.library import Library
from pincite.store.documents.row import SELECT_DOCUMENT, to_document
from pincite.store.indexing import insert_documents
from pincite.store.indexing.insert_documents import NewUpload, Schedule
from pincite.store.indexing.jobs import SMALL_FILE_BYTES
from pincite.store.search.corpus_stats import bump_revision

Accepted = tuple[Document, UploadOutcome]


def make_document_id(owner: str, folder: str, name: str, data: bytes) -> str:
    """Return the id of a new document: a hash of its owner, folder, name and first bytes."""
    digest = hashlib.sha256("\0".join((owner, folder, name, "")).encode() + data).digest()
    return base64.urlsafe_b64encode(digest).decode()[:16]


async def _unused_id(connection: Connection, scope: Scope, upload: Upload) -> str:
    """Return an unused id: an equal upload that was moved since keeps the hash of these values."""
    document_id = make_document_id(scope.person, upload.folder, upload.name, upload.data)
    while await fetch_one(connection, "select 1 from document where id = %s", (document_id,)):
        document_id = make_document_id(scope.person, upload.folder, upload.name, upload.data + secrets.token_bytes(16))
    return document_id


class UploadStore:
    """Stores uploads for one person at a time; `signature` is that of the current index, `quota` limits the storage."""

    def __init__(
        self,
        database: Database,
        originals: Blobs,
        signature: str,
        quota: Quota = Quota(),  # noqa: B008
    ) -> None:
        self._database = database
        self._originals = originals
        self._signature = signature
        self._quota = quota
        self._library = Library(database, originals, signature)
        self._arriving = Batcher(self._accept_all)

    async def accept(
        self,
        scope: Scope,
        upload: Upload,
        *,
        mime: str,
        checksum: str,
        schedule: Schedule = Schedule(),  # noqa: B008
    ) -> tuple[Document, UploadOutcome]:
        """Store an upload as a new document, a new version, or nothing new; when this returns, it is durable.

        Concurrent uploads are stored in one transaction.
        """
        arrival = NewUpload(upload, mime, checksum, schedule, origin())
        if len(upload.data) <= SMALL_FILE_BYTES and (new := await self._arriving((scope, arrival))):
            return new, "new"
        return await self._accept_one(scope, arrival)

    async def _accept_all(self, asked: Sequence[tuple[Scope, NewUpload]]) -> list[Document | Exception | None]:
        """Store the uploads that are certainly new; None for the others. Each person's uploads are independent."""
        new: dict[tuple[str, str, str], Document] = {}
        for scope in {scope.person: scope for scope, _ in asked}.values():
            own = {_name(arrival): arrival for theirs, arrival in reversed(asked) if theirs.person == scope.person}
            # A concurrent upload of the same name, or a quota that does not admit all: each upload is then tried alone.
            with suppress(pg_errors.UniqueViolation, OverQuota, OverBudget):
                new |= {(scope.person, d.folder, d.name): d for d in await self._accept_new(scope, own)}
        return [new.pop((scope.person, *_name(arrival)), None) for scope, arrival in asked]

    async def _accept_new(self, scope: Scope, arrivals: Mapping[tuple[str, str], NewUpload]) -> list[Document]:
        """Store the uploads that are certainly new, in one transaction."""
        async with self._database.transaction(scope.person) as connection:
            known = await insert_documents.existing_names(connection, scope, list(arrivals.values()))
            minted = {
                make_document_id(scope.person, *name, arrival.upload.data): arrival
                for name, arrival in arrivals.items()
                if name not in known
            }
            for document_id in await insert_documents.existing_ids(connection, list(minted)):
                del minted[document_id]
            if minted:
                await self._check_quota(connection, list(minted.values()), documents=len(minted))
                await insert_documents.insert(connection, scope, self._originals, list(minted.items()))
                await record_from(connection, _audit_entries(minted))
        if not minted:
            return []
        return await self._library.get_many(await self._library.scope(scope.person), list(minted))

    async def _check_quota(self, connection: Connection, arrivals: Sequence[NewUpload], *, documents: int) -> None:
        size = sum(len(arrival.upload.data) for arrival in arrivals)
        await check_quota(connection, self._quota, documents=documents, size=size, jobs=len(arrivals))

    async def _accept_one(self, scope: Scope, arrival: NewUpload) -> Accepted:
        """Store one upload that may be new, changed or unchanged."""
        upload = arrival.upload
        if same := await self._unchanged(scope, upload, arrival.checksum):
            return same, "unchanged"
        for _ in range(5):
            try:
                document_id, outcome = await self._accept_any(scope, arrival)
                return await self._library.get(await self._library.scope(scope.person), document_id), outcome
            except (pg_errors.UniqueViolation, NotFound):
                continue  # a concurrent upload or removal of the same name
        raise NotFound(f"'{upload.name}' was changed by others during the upload; try again")

    async def _unchanged(self, scope: Scope, upload: Upload, checksum: str) -> Document | None:
        """Return the document if these bytes are its latest version and are indexed or queued."""
        known = await self.up_to_date(scope, [(upload.folder, upload.name)])
        document = known.get((upload.folder, upload.name))
        return document if document and document.checksum == checksum else None

    async def up_to_date(self, scope: Scope, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Document]:
        """Return the documents of these folders and names that are queued, or indexed with the current signature."""
        query = (
            SELECT_DOCUMENT + " join unnest(%(folders)s::text[], %(names)s::text[]) as n (folder, name)"
            " on n.folder = d.folder and n.name = d.name where d.owner = %(owner)s"
            " and (d.status in ('pending', 'processing') or (d.status = 'completed' and s.signature = %(signature)s))"
        )
        values = {
            "folders": [folder for folder, _ in names],
            "names": [name for _, name in names],
            "owner": scope.person,
            "signature": self._signature,
        }
        [found] = await self._database.run_batch(scope.person, query, values=values)
        return {
            (document.folder, document.name): document
            for document in (to_document(row, self._signature) for row in found)
        }

    async def _accept_any(self, scope: Scope, arrival: NewUpload) -> tuple[str, UploadOutcome]:
        upload = arrival.upload
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(  # the row is read after it is locked, because others may have changed it
                "select from document where owner = %s and folder = %s and name = %s for update",
                (scope.person, upload.folder, upload.name),
            )
            found = await fetch_one(
                connection,
                "select d.id, d.status, v.key, v.id, v.checksum, e.signature, d.realm, d.source_uri"
                " from document d join version v"
                " on v.key = d.latest left join edition e on e.key = d.served"
                " where d.owner = %s and d.folder = %s and d.name = %s",
                (scope.person, upload.folder, upload.name),
            )
            if found is None:
                await self._check_quota(connection, [arrival], documents=1)
                document_id = await _unused_id(connection, scope, upload)
                await insert_documents.insert(connection, scope, self._originals, [(document_id, arrival)])
                await record_from(connection, _audit_entries({document_id: arrival}))
                return document_id, "new"
            document_id, status, key, latest_id, latest_checksum, signature, realm, source_uri = found
            if latest_checksum != arrival.checksum:
                await self._check_quota(connection, [arrival], documents=0)
                await self._insert_version(connection, scope, (document_id, realm, latest_id), arrival)
                await record(
                    connection, AuditEntry("document.change", f"document:{document_id}", details={"changed": ["file"]})
                )
                if upload.source_uri not in (None, source_uri):  # passages show it
                    await bump_revision(connection, realm)
                return document_id, "new_version"
            if status in (Status.PENDING, Status.PROCESSING) or (
                status == Status.COMPLETED and signature == self._signature
            ):
                return document_id, "unchanged"
            await self._queue(connection, scope, document_id, key, arrival.schedule)
            return document_id, "again"

    async def _insert_version(
        self, connection: Connection, scope: Scope, of: tuple[str, int, str], arrival: NewUpload
    ) -> None:
        """Insert a new version; `of` is the document's id, its realm and the id of its latest version."""
        document_id, realm, after = of
        upload, version_id = arrival.upload, _version_id(after)
        row = await fetch_one(
            connection,
            "insert into version (id, document_id, realm, checksum, bytes, mime)"
            " values (%s, %s, %s, %s, %s, %s) returning key",
            (version_id, document_id, realm, arrival.checksum, len(upload.data), arrival.mime),
        )
        assert row is not None
        await self._originals.keep(connection, Original(document_id, version_id, row[0], realm), upload.data)
        await connection.execute(
            "update document set latest = %s, given = given || %s, source_uri = coalesce(%s, source_uri) where id = %s",
            (row[0], Jsonb(insert_documents.uploader_metadata(upload)), upload.source_uri, document_id),
        )
        await self._queue(connection, scope, document_id, row[0], arrival.schedule)

    async def reindex(
        self, scope: Scope, document_ids: Sequence[str] | None, *, stale: str | None, priority: int
    ) -> list[str]:
        """Queue documents for reindexing from their stored files, and return the ids of the queued ones.

        `document_ids` None means all; `stale` restricts them to documents with another signature.
        """
        query = (
            "select d.id, d.latest from document d left join edition s on s.key = d.served where d.owner = %(owner)s"
            " and (%(ids)s::text[] is null or d.id = any(%(ids)s)) and d.status in ('completed', 'error')"
            " and (%(stale)s::text is null or s.signature is distinct from %(stale)s) order by d.id for update of d"
        )
        ids = None if document_ids is None else list(document_ids)
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(connection, query, {"owner": scope.person, "ids": ids, "stale": stale})
            for document_id, version in found:
                await self._queue(connection, scope, document_id, version, Schedule(priority=priority))
        return [document_id for document_id, _ in found]

    async def _queue(
        self, connection: Connection, scope: Scope, document_id: str, version: int, schedule: Schedule
    ) -> None:
        await connection.execute(
            "insert into job (owner, document_id, version, place, priority, state) values (%s, %s, %s, %s, %s, %s)"
            " on conflict do nothing",
            (
                scope.person,
                document_id,
                version,
                self._originals.place,
                schedule.priority,
                schedule.state,
            ),
        )
        await connection.execute(
            "update document set status = 'pending', stage = null, progress = 0, error_code = null,"
            " error_message = null, updated_at = now() where id = %s",
            (document_id,),
        )

    async def remove_stray_files(self) -> int:
        """Remove files without a version, left by a process that died; return their number."""
        async with self._database.transaction("") as connection:
            known = {(str(d), str(v)) for d, v in await fetch_all(connection, "select * from known_versions()")}
        hour_ago = (datetime.now(UTC) - timedelta(hours=1)).timestamp()
        stray = await asyncio.to_thread(self._originals.files.stray, known, older_than=hour_ago)
        for document_id, version_id in stray:
            await asyncio.to_thread(self._originals.files.remove, document_id, version_id)
        return len(stray)


def _audit_entries(arrivals: Mapping[str, NewUpload]) -> list[tuple[RequestOrigin, AuditEntry]]:
    """Return the audit entries of new documents: one entry for all uploads of one request."""
    places: dict[RequestOrigin, list[str]] = {}
    for document_id, arrival in arrivals.items():
        places.setdefault(arrival.origin, []).append(document_id)
    return [
        (place, AuditEntry("document.add", f"document:{ids[0]}" if len(ids) == 1 else None, details={"documents": ids}))
        for place, ids in places.items()
    ]


def _name(arrival: NewUpload) -> tuple[str, str]:
    return arrival.upload.folder, arrival.upload.name


def _version_id(after: str) -> str:
    """Return the id of a version that follows `after`: the current time, or just after it if the clock was set back."""
    before = datetime.strptime(after, "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
    made = max(datetime.now(UTC), before + timedelta(microseconds=1))
    return made.strftime("%Y%m%dT%H%M%S%fZ")
