"""Inserting new documents, several in one transaction, so that its fixed cost is shared."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count

from psycopg import sql
from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Upload
from pincite.core.documents.jobs import INTERACTIVE_PRIORITY
from pincite.core.request_context import RequestOrigin
from pincite.store.access.permissions import lock_folder_readers
from pincite.store.database import Connection, fetch_all, fetch_one
from pincite.store.documents.blobs import Blobs, Original

_METADATA_FIELDS = ("title", "author", "description", "tags")
"""Metadata that an uploader may send; it takes precedence over the metadata in the file."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a file is processed: held until it is started, or queued with a priority."""

    held: bool = False
    priority: int = INTERACTIVE_PRIORITY

    @property
    def state(self) -> str:
        """The initial state of the job."""
        return "held" if self.held else "ready"


@dataclass(frozen=True, slots=True)
class NewUpload:
    """An upload with its media type, checksum, schedule and the request it came from."""

    upload: Upload
    mime: str
    checksum: str
    schedule: Schedule
    origin: RequestOrigin


def uploader_metadata(upload: Upload) -> dict[str, object]:
    """Return the metadata that the uploader sent with a file."""
    return {name: value for name in _METADATA_FIELDS if (value := getattr(upload, name))}


async def existing_names(connection: Connection, scope: Scope, arrivals: Sequence[NewUpload]) -> set[tuple[str, str]]:
    """Return folder and name of the uploads whose document exists already."""
    folders = [arrival.upload.folder for arrival in arrivals]
    names = [arrival.upload.name for arrival in arrivals]
    return {
        (folder, name) for folder, name in await fetch_all(connection, _EXISTING_NAMES, (folders, names, scope.person))
    }


async def existing_ids(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Return the ids that documents have already, such as an equal upload that was moved since."""
    return {one for (one,) in await fetch_all(connection, "select id from document where id = any(%s)", (list(ids),))}


async def insert(
    connection: Connection, scope: Scope, originals: Blobs, arrivals: Sequence[tuple[str, NewUpload]]
) -> None:
    """Insert documents with these ids, each with its first version, its file and its job."""
    moments = count(int(datetime.now(UTC).timestamp() * 1_000_000))
    versions = {document_id: version_id(next(moments)) for document_id, _ in arrivals}
    realms = await _realms(connection, scope, [arrival.upload for _, arrival in arrivals])
    uploaded = [
        _row(document_id, versions[document_id], arrival) | {"realm": realm}
        for (document_id, arrival), realm in zip(arrivals, realms, strict=True)
    ]
    values = {"uploaded": Jsonb(uploaded), "owner": scope.person, "place": originals.place}
    await connection.execute(_DOCUMENTS, values)
    keys: dict[str, int] = dict(await fetch_all(connection, _VERSIONS, values))
    await asyncio.gather(
        *(
            originals.keep(
                connection, Original(document_id, versions[document_id], keys[document_id], realm), arrival.upload.data
            )
            for (document_id, arrival), realm in zip(arrivals, realms, strict=True)
        )
    )
    await connection.execute(_LATEST, (list(keys),))
    await connection.execute(_JOBS, values)


async def _realms(connection: Connection, scope: Scope, uploads: Sequence[Upload]) -> list[int]:
    """Return the realm of each upload: that of its own readers, or of its folder's."""
    await lock_folder_readers(connection, scope.person)
    wanted = [(upload.folder, upload.readers) for upload in uploads]
    found: dict[tuple[str, tuple[str, ...] | None], int] = {}
    for folder, readers in dict.fromkeys(wanted):
        own_readers = None if readers is None else list(readers)
        row = await fetch_one(connection, _REALM, {"readers": own_readers, "owner": scope.person, "folder": folder})
        assert row is not None
        found[folder, readers] = row[0]
    return [found[key] for key in wanted]


def version_id(microseconds: int) -> str:
    """Return the id of a version: the time of its upload."""
    whole, rest = divmod(microseconds, 1_000_000)
    return datetime.fromtimestamp(whole, UTC).replace(microsecond=rest).strftime("%Y%m%dT%H%M%S%fZ")


def _row(document_id: str, version: str, arrival: NewUpload) -> dict[str, object]:
    upload = arrival.upload
    return {
        "id": document_id,
        "version": version,
        "folder": upload.folder,
        "name": upload.name,
        "title": upload.title or upload.name,
        "author": upload.author or None,
        "description": upload.description or None,
        "tags": upload.tags,
        "given": uploader_metadata(upload),
        "uri": upload.source_uri,
        "readers": upload.readers,
        "checksum": arrival.checksum,
        "bytes": len(upload.data),
        "mime": arrival.mime,
        "priority": arrival.schedule.priority,
        "state": arrival.schedule.state,
    }


_REALM = "select realm_of(coalesce(%(readers)s::text[], readers_of(%(owner)s, %(folder)s)))"
_EXISTING_NAMES = """
    select d.folder, d.name from document d join unnest(%s::text[], %s::text[]) as n (folder, name)
    on n.folder = d.folder and n.name = d.name where d.owner = %s
"""
_UPLOADED = sql.SQL("""
    jsonb_to_recordset(%(uploaded)s) as s (id text, version text, folder text, name text, title text, author text,
        description text, tags jsonb, given jsonb, uri text, checksum text, bytes bigint, mime text, priority int,
        state text, realm int, readers jsonb)
""")
_DOCUMENTS = sql.SQL("""
    insert into document (id, owner, realm, folder, name, title, author, description, tags, status, given, source_uri,
                          readers)
    select s.id, %(owner)s, s.realm, s.folder, s.name, s.title, s.author, s.description,
           array(select jsonb_array_elements_text(s.tags)), 'pending', s.given, s.uri,
           case when jsonb_typeof(s.readers) = 'array' then array(select jsonb_array_elements_text(s.readers)) end
    from {uploaded}
""").format(uploaded=_UPLOADED)
_VERSIONS = sql.SQL("""
    insert into version (id, document_id, realm, checksum, bytes, mime)
    select s.version, s.id, s.realm, s.checksum, s.bytes, s.mime from {uploaded} returning document_id, key
""").format(uploaded=_UPLOADED)
_LATEST = "update document d set latest = v.key from version v where v.document_id = d.id and d.id = any(%s)"
_JOBS = sql.SQL("""
    insert into job (owner, document_id, version, place, priority, state)
    select %(owner)s, d.id, d.latest, %(place)s, s.priority, s.state from {uploaded} join document d on d.id = s.id
    order by d.latest
""").format(uploaded=_UPLOADED)
