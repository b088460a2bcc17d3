"""Earlier versions: archived in separate tables, searched only with `as_of`, and removed after the retention limit."""

import asyncio

from psycopg import sql

from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.engines.tables import remove_builds
from pincite.store.search.packed_postings import remove_editions
from pincite.store.search.vocabulary import remove_words

_EDITION_TABLES = ("posting", "vector", "past_posting", "past_vector", "chunk")


async def archive_edition(connection: Connection, edition: int) -> None:
    """Move a retired edition to the tables of earlier versions, which only a search with `as_of` reads."""
    retired = "select 1 from edition where key = %s and state = 'retired' for update"
    if await fetch_one(connection, retired, (edition,)) is None:
        return
    await remove_editions(connection, [edition])
    await connection.execute(_MOVE_POSTINGS, (edition,))
    await connection.execute(_MOVE_VECTORS, (edition,))
    await connection.execute("update edition set state = 'kept' where key = %s", (edition,))


async def remove_edition(connection: Connection, edition: int) -> None:
    """Remove an edition with its chunks, postings and vectors; the text of its version stays readable."""
    if await fetch_one(connection, "select 1 from edition where key = %s for update", (edition,)) is None:
        return
    await remove_editions(connection, [edition])
    await remove_words(connection, [edition])
    await remove_builds(connection, [edition])
    for table in _EDITION_TABLES:
        await connection.execute(sql.SQL("delete from {} where edition = %s").format(sql.Identifier(table)), (edition,))
    await connection.execute("delete from edition where key = %s", (edition,))


class VersionArchive:
    """Removes versions beyond the retention limit, with the permissions of the document's owner."""

    def __init__(self, database: Database, files: BlobFiles) -> None:
        self._database = database
        self._files = files

    async def remove_old(self, *, keep: int, days: int) -> int:
        """Remove versions, with their files, beyond the newest `keep` or replaced more than `days` ago; 0: no limit."""
        if not keep and not days:
            return 0
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            beyond = await fetch_all(connection, "select * from versions_beyond(%s, %s)", (keep, days))
        for owner, document_id, version, version_id in beyond:
            async with self._database.transaction(owner, local=LONG_TIMEOUTS) as connection:
                await self._remove(connection, document_id, version)
            await asyncio.to_thread(self._files.remove, document_id, version_id)
        return len(beyond)

    async def _remove(self, connection: Connection, document_id: str, version: int) -> None:
        await connection.execute("select from document where id = %s for update", (document_id,))
        for (edition,) in await fetch_all(connection, "select key from edition where version = %s", (version,)):
            await remove_edition(connection, edition)
        await connection.execute("delete from version where key = %s", (version,))


_MOVE_POSTINGS = """
    with moved as (delete from posting where edition = %s returning term, chunk, edition, realm, frequency, words)
    insert into past_posting (term, chunk, edition, realm, frequency, words) select * from moved
"""
_MOVE_VECTORS = """
    with moved as (delete from vector where edition = %s returning chunk, edition, realm, part, model, hash, embedding)
    insert into past_vector (chunk, edition, realm, part, model, hash, embedding) select * from moved
"""
