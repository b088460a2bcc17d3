"""Fixtures of the store's tests: a library on a real database, filled without parsing files."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Parsed, Upload
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.store.database import Database
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.documents.blobs import Blobs
from pincite.store.documents.library import Library
from pincite.store.documents.remove import Removal
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Jobs
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.indexing.uploads import UploadStore
from pincite.store.indexing.write_edition import EditionWriter
from pincite.store.search.postgres_index import PostgresIndex
from pincite.text.sentences import fingerprint
from pincite.text.terms import forms, terms
from tests.builders import chunk


class StoreUnderTest:
    """The parts of the store on one database, and short methods to add documents."""

    def __init__(self, database: Database, files: BlobFiles, model: int, **rag: Any) -> None:
        self.database, self.files = database, files
        self.originals = Blobs(database, files, shared=False)
        self.library = Library(database, self.originals, "s1")
        self.intake = UploadStore(database, self.originals, "s1")
        self.removal = Removal(database, files)
        self.jobs = Jobs(database, files.place)
        self.indexing = EditionWriter(database, model, "s1")
        self.embedder = ScriptedEmbedder(Options(dimensions=32))
        self.index = PostgresIndex(database, model, 32, Rag(**rag))

    async def scope(self) -> Scope:
        return await self.library.scope("local")

    async def vector(self, text: str) -> list[float]:
        return (await self.embedder.embed([text], as_query=True))[0]

    async def accept(self, name: str, text: str, folder: str = "") -> str:
        upload = Upload(name, text.encode(), folder)
        checksum = hashlib.sha256(upload.data).hexdigest()
        document, _ = await self.intake.accept(await self.scope(), upload, mime="text/markdown", checksum=checksum)
        return document.id

    async def put(self, name: str, *texts: str, folder: str = "", language: str = "en") -> str:
        """Add a document whose chunks are these texts, and publish it."""
        document_id = await self.accept(name, "\n".join(texts), folder)
        job = await self.jobs.claim("tester", 60)
        assert job is not None
        edition = await self.indexing.begin(await self.indexing.target(job))
        entries = [
            ChunkRow(
                chunk(n, text, language=language),
                fingerprint(text),
                Counter(terms(text, language)),
                hashlib.sha256(text.encode()).digest(),
                [await self.vector(text)],
                forms=forms(text, language),
            )
            for n, text in enumerate(texts)
        ]
        await self.indexing.write(edition, entries)
        await self.indexing.serve(edition, ParsedVersion(Parsed("\n".join(texts), "markdown")))
        return document_id


@pytest.fixture
def store(database_url: str, tmp_path: Path) -> Callable[..., Any]:
    """Return a context manager that opens the store on a new database."""

    @asynccontextmanager
    async def opened(**rag: Any) -> AsyncIterator[StoreUnderTest]:
        database = await Database.open(database_url, pool_size=6)
        try:
            model = await database.register_model("scripted/test", 32)
            yield StoreUnderTest(database, BlobFiles(tmp_path, "lib"), model, **rag)
        finally:
            await database.close()

    return opened


@pytest.fixture
def with_store(store: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs an async test with an open store."""

    def run(test: Callable[[StoreUnderTest], Any], **rag: Any) -> Any:
        async def main() -> Any:
            async with store(**rag) as opened:
                return await test(opened)

        return asyncio.run(main())

    return run
