import hashlib
from pathlib import Path
from typing import Any

import pytest

from pincite.core.documents.document import Upload
from pincite.errors import NotFound, Unreadable
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.documents.blobs import PIECE_BYTES, Blobs
from pincite.store.documents.library import Library
from pincite.store.indexing.jobs import Jobs
from pincite.store.indexing.uploads import UploadStore

DATA = b"first piece" * (PIECE_BYTES // 11 + 5) + b"and the last"


async def taken_in(store: Any, originals: Blobs, data: bytes = DATA) -> Any:
    upload, checksum = Upload("big.md", data), hashlib.sha256(data).hexdigest()
    intake = UploadStore(store.database, originals, "s1")
    document, _ = await intake.accept(await store.scope(), upload, mime="text/markdown", checksum=checksum)
    return document


async def pieces(store: Any) -> int:
    async with store.database.transaction("local") as connection:
        return int((await (await connection.execute("select count(*) from piece")).fetchone())[0])


def test_a_shared_database_stores_the_files_instead_of_a_disk(with_store: Any, tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        document = await taken_in(store, Blobs(store.database, store.files, shared=True))
        assert list(tmp_path.glob("files/*/*/*")) == []
        assert await pieces(store) == 2
        elsewhere = Blobs(store.database, BlobFiles(tmp_path / "another machine", "lib"), shared=True)
        assert await elsewhere.read("local", document.id, document.version) == DATA
        assert (await Library(store.database, elsewhere, "s1").raw(scope, document.id))[1] == DATA
        assert await Jobs(store.database, elsewhere.files.place).claim("w", 60) is not None
        assert (await store.removal.remove(scope, document.id)).verified
        assert await pieces(store) == 0

    with_store(test)


def test_files_from_before_the_database_was_shared_are_still_read(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document = await taken_in(store, store.originals)
        assert await pieces(store) == 0
        shared = Blobs(store.database, store.files, shared=True)
        assert await shared.read("local", document.id, document.version) == DATA

    with_store(test)


def test_bytes_that_were_tampered_with_are_refused(with_store: Any) -> None:
    async def test(store: Any) -> None:
        originals = Blobs(store.database, store.files, shared=True)
        document = await taken_in(store, originals)
        async with store.database.transaction("local") as connection:
            await connection.execute("update piece set bytes = 'x' where number = 1")
        with pytest.raises(Unreadable, match="differs from the uploaded one"):
            await originals.read("local", document.id, document.version)

    with_store(test)


def test_missing_and_foreign_files_are_not_found(with_store: Any, tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        originals = Blobs(store.database, store.files, shared=True)
        document = await taken_in(store, originals)
        for person, version in (
            ("local", "20200101T000000000000Z"),
            ("stranger", document.version),
            ("", document.version),
        ):
            with pytest.raises(NotFound):
                await originals.read(person, document.id, version)
        on_disk = await taken_in(store, store.originals, b"other bytes")
        elsewhere = Blobs(store.database, BlobFiles(tmp_path / "b", "lib"), shared=False)
        with pytest.raises(NotFound, match="not in this data folder"):
            await elsewhere.read("local", on_disk.id, on_disk.version)

    with_store(test)
