"""The uploaded files: on this machine's disk, or in a database that several machines share."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.concurrency import Batcher
from pincite.errors import NotFound, Unreadable
from pincite.store.database import Connection, Database
from pincite.store.documents.blob_files import BlobFiles

PIECE_BYTES = 1024 * 1024
"""Bytes of a file that are stored in one row of the database."""
ANY_PLACE = ""
"""The place of a job whose file is in the database: a worker on any machine can do it."""
_Asked = tuple[str, str, str]
"""A person, the id of a document and that of its version."""
_Piece = tuple[str, bytes | None]
"""The checksum of a version and a piece of its file; None where the database has no pieces."""


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
        self._finding = Batcher(self._find)

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
        asked = person, document_id, version_id
        if self._shared:  # the rows hold the files: a small one does not wait for a large one
            [found] = await self._rows(person, [asked])
        else:
            found = await self._finding(asked)
        if not found:
            raise NotFound(f"the document has no version '{version_id}'")
        checksum, first = found[0]
        if first is None:  # the database has no pieces: the file is on disk
            return await self._from_disk(document_id, version_id)
        data = b"".join(piece for _, piece in found if piece is not None)
        if hashlib.sha256(data).hexdigest() != checksum:
            raise Unreadable(
                f"the file of version '{version_id}' differs from the uploaded one; add it again", code="corrupt"
            )
        return data

    async def _find(self, asked: Sequence[_Asked]) -> list[list[_Piece] | Exception]:
        found: dict[_Asked, list[_Piece]] = {}
        for person in {one[0] for one in asked}:
            own = [one for one in asked if one[0] == person]
            found |= zip(own, await self._rows(person, own), strict=True)
        return [found[one] for one in asked]

    async def _rows(self, person: str, asked: Sequence[_Asked]) -> list[list[_Piece]]:
        """Return the checksum and the pieces of each version; nothing for one that is removed."""
        query = (
            "select a.place, v.checksum, p.bytes"
            " from unnest(%(documents)s::text[], %(versions)s::text[]) with ordinality as a (document, version, place)"
            " join version v on v.document_id = a.document and v.id = a.version"
            " left join piece p on p.version = v.key order by a.place, p.number"
        )
        values = {"documents": [one[1] for one in asked], "versions": [one[2] for one in asked]}
        [rows] = await self._database.run_batch(person, query, values=values)
        found: list[list[_Piece]] = [[] for _ in asked]
        for place, checksum, piece in rows:
            found[place - 1].append((checksum, piece))
        return found

    async def _from_disk(self, document_id: str, version_id: str) -> bytes:
        try:
            return await asyncio.to_thread(self.files.read, document_id, version_id)
        except FileNotFoundError:
            raise NotFound(f"the file of version '{version_id}' is not in this data folder") from None
