"""A library without its tools: whoever backs it up, restores, purges or checks it needs no embedder, model or worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pincite.config.settings import Settings
from pincite.store.database import Database
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.embedded.server import EmbeddedServer

CONNECTIONS = 4


@asynccontextmanager
async def address(settings: Settings) -> AsyncIterator[str]:
    """The database's address, whatever is in it; the embedded server is started for as long as it is needed."""
    if settings.database.url is not None:
        yield settings.database.url.get_secret_value()
        return
    buffers = settings.database.shared_buffers_mb
    server = await asyncio.to_thread(EmbeddedServer.open, settings.data, shared_buffers_mb=buffers)
    try:
        yield server.url
    finally:
        await asyncio.to_thread(server.close)


@asynccontextmanager
async def library(settings: Settings) -> AsyncIterator[tuple[Database, BlobFiles]]:
    """The database, brought up to date, and the raw files."""
    async with address(settings) as url:
        database = await Database.open(url, pool_size=CONNECTIONS)
        try:
            yield database, BlobFiles(settings.data, await database.library_id())
        finally:
            await database.close()
