"""The files as they were uploaded: on this machine's disk, or in a database that several machines share."""

import asyncio
import hashlib
from dataclasses import dataclass

from pincite.errors import NotFound, Unreadable
from pincite.store.database import Connection, Database
from pincite.store.documents.blob_files import BlobFiles

PIECE = 1024 * 1024
"""Bytes of a file that lie in one row."""
ANYWHERE = ""
"""The place of a job whose file is in the database: whoever reaches that can do it."""


@dataclass(frozen=True, slots=True)
class Original:
    """Which version's bytes are meant."""

    document_id: str
    version_id: str
    key: int
    realm: int


class Blobs:
    """Keeps uploaded bytes and gives them back.

    An embedded database serves one machine: files lie beside it. Machines that share a database share no disk, so
    there the bytes are in the database, and nowhere else: what is removed is gone from every machine at once.
    """

    def __init__(self, database: Database, files: BlobFiles, *, shared: bool) -> None:
        self._database = database
        self.files = files
        self._shared = shared

    @property
    def place(self) -> str:
        """Where a job about a file that is kept now can be done."""
        return ANYWHERE if self._shared else self.files.place

    async def keep(self, connection: Connection, original: Original, data: bytes) -> None:
        """Keep the bytes of a version that this transaction takes in; durable when that is."""
        if not self._shared:
            await asyncio.to_thread(self.files.write, original.document_id, original.version_id, data)
            return
        async with connection.cursor() as cursor:
            await cursor.executemany(
                "insert into piece (version, number, realm, bytes) values (%s, %s, %s, %s)",
                [
                    (original.key, number, original.realm, data[start : start + PIECE])
                    for number, start in enumerate(range(0, len(data), PIECE))
                ],
            )

    async def read(self, person: str, document_id: str, version_id: str) -> bytes:
        """The bytes of a version, checked to be those that came in; `NotFound` where it is gone."""
        query = (
            "select v.checksum, p.bytes from version v left join piece p on p.version = v.key"
            " where v.document_id = %(document)s and v.id = %(version)s order by p.number"
        )
        values = {"document": document_id, "version": version_id}
        [found] = await self._database.at_once(person, query, values=values)
        if not found:
            raise NotFound(f"the document has no version '{version_id}'")
        checksum, first = found[0]
        if first is None:  # on disk, as ever with an embedded database
            return await self._from_disk(document_id, version_id)
        data = b"".join(piece for _, piece in found)
        if hashlib.sha256(data).hexdigest() != checksum:
            raise Unreadable(f"the file of version '{version_id}' is not what came in; add it again", code="corrupt")
        return data

    async def _from_disk(self, document_id: str, version_id: str) -> bytes:
        try:
            return await asyncio.to_thread(self.files.read, document_id, version_id)
        except FileNotFoundError:
            raise NotFound(f"the file of version '{version_id}' is not in this data folder") from None
