"""The uploaded files: on this machine's disk, or in a database that several machines share."""

import asyncio
import hashlib
from dataclasses import dataclass

from pincite.errors import NotFound, Unreadable
from pincite.store.database import Connection, Database
from pincite.store.documents.blob_files import BlobFiles

PIECE_BYTES = 1024 * 1024
"""Bytes of a file that are stored in one row of the database."""
ANY_PLACE = ""
"""The place of a job whose file is in the database: a worker on any machine can do it."""


@dataclass(frozen=True, slots=True)
class Original:
    """The version that a file belongs to."""

    document_id: str
    version_id: str
    key: int
    realm: int


class Blobs:
    """Stores and reads uploaded files.

    An embedded database serves one machine, so files are on its disk. Machines that share a database share no disk, so
    files are in the database only: a removed file is then gone from every machine.
    """

    def __init__(self, database: Database, files: BlobFiles, *, shared: bool) -> None:
        self._database = database
        self.files = files
        self._shared = shared

    @property
    def place(self) -> str:
        """The place where a job about a newly stored file can be done."""
        return ANY_PLACE if self._shared else self.files.place

    async def keep(self, connection: Connection, original: Original, data: bytes) -> None:
        """Store the bytes of a version; in a shared database they are durable with this transaction."""
        if not self._shared:
            await asyncio.to_thread(self.files.write, original.document_id, original.version_id, data)
            return
        async with connection.cursor() as cursor:
            await cursor.executemany(
                "insert into piece (version, number, realm, bytes) values (%s, %s, %s, %s)",
                [
                    (original.key, number, original.realm, data[start : start + PIECE_BYTES])
                    for number, start in enumerate(range(0, len(data), PIECE_BYTES))
                ],
            )

    async def read(self, person: str, document_id: str, version_id: str) -> bytes:
        """Return the bytes of a version, verified by checksum in a shared database; `NotFound` where it is removed."""
        query = (
            "select v.checksum, p.bytes from version v left join piece p on p.version = v.key"
            " where v.document_id = %(document)s and v.id = %(version)s order by p.number"
        )
        values = {"document": document_id, "version": version_id}
        [found] = await self._database.run_batch(person, query, values=values)
        if not found:
            raise NotFound(f"the document has no version '{version_id}'")
        checksum, first = found[0]
        if first is None:  # the database has no pieces: the file is on disk
            return await self._from_disk(document_id, version_id)
        data = b"".join(piece for _, piece in found)
        if hashlib.sha256(data).hexdigest() != checksum:
            raise Unreadable(
                f"the file of version '{version_id}' differs from the uploaded one; add it again", code="corrupt"
            )
        return data

    async def _from_disk(self, document_id: str, version_id: str) -> bytes:
        try:
            return await asyncio.to_thread(self.files.read, document_id, version_id)
        except FileNotFoundError:
            raise NotFound(f"the file of version '{version_id}' is not in this data folder") from None
