"""Opening a library without embedder, model and workers, for backup, restore, purge and checks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pincite.config.settings import Settings
from pincite.store.database import Database
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.embedded.server import EmbeddedServer

POOL_SIZE = 4
"""Database connections at most."""


@asynccontextmanager
async def address(settings: Settings) -> AsyncIterator[str]:
    """Yield the database's direct address; the embedded server runs as long as this context is open."""
    if own := settings.database.direct_url or settings.database.url:
        yield own.get_secret_value()
        return
    buffers = settings.database.shared_buffers_mb
    server = await asyncio.to_thread(EmbeddedServer.open, settings.data, shared_buffers_mb=buffers)
    try:
        yield server.url
    finally:
        await asyncio.to_thread(server.close)


@asynccontextmanager
async def library(settings: Settings) -> AsyncIterator[tuple[Database, BlobFiles]]:
    """Open the migrated database and the original files."""
    async with address(settings) as url:
        database = await Database.open(url, pool_size=POOL_SIZE, role=settings.database.role)
        try:
            yield database, BlobFiles(settings.data, await database.library_id())
        finally:
            await database.close()
