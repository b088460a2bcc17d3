"""The vectors of a person's queries, kept for a remote embedder: the same query is embedded once."""

import hashlib
from collections.abc import Mapping, Sequence

import psycopg

from pincite.core.protocols import Vector
from pincite.errors import StoreDown
from pincite.store.conversations.answer_cache import SHORT_TIMEOUTS
from pincite.store.database import Database

KEPT_DAYS = 30
"""Days after which the vector of a query is removed."""


class QueryVectorCache:
    """Finds and stores vectors of one embedding model by the hash of the text; the text is not stored."""

    def __init__(self, database: Database, model: int) -> None:
        self._database = database
        self._model = model

    async def find(self, person: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the stored vectors of these texts; texts without one are absent."""
        hashes = {_hash(text): text for text in texts}
        values = {"model": self._model, "hashes": list(hashes)}
        try:
            [found] = await self._database.run_batch(person, _FIND, values=values, local=SHORT_TIMEOUTS)
        except psycopg.Error as error:
            raise StoreDown(f"the vectors of queries cannot be read ({type(error).__name__})") from error
        return {hashes[bytes(digest)]: vector for digest, vector in found}

    async def save(self, person: str, vectors: Mapping[str, Vector]) -> None:
        """Store the vectors of texts."""
        values = {
            "owner": person,
            "model": self._model,
            "hashes": [_hash(text) for text in vectors],
            "vectors": [f"{{{','.join(map(str, vector))}}}" for vector in vectors.values()],
        }
        try:
            async with self._database.transaction(person, durable=False, local=SHORT_TIMEOUTS) as connection:
                await connection.execute(_SAVE, values)
        except psycopg.Error as error:
            raise StoreDown(f"the vectors of queries cannot be stored ({type(error).__name__})") from error


async def remove_old_query_vectors(database: Database) -> int:
    """Remove the vectors of every person that are older than `KEPT_DAYS`; return their number."""
    [[(removed,)]] = await database.run_batch("", "select forget_query_vectors(%(days)s)", values={"days": KEPT_DAYS})
    return int(removed)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


_FIND = """
    select hash, embedding from query_vector where model = %(model)s and hash = any(%(hashes)s::bytea[])
    and owner = (select me())
"""
_SAVE = """
    insert into query_vector (owner, model, hash, embedding)
    select %(owner)s, %(model)s, s.hash, s.embedding::real[]
    from unnest(%(hashes)s::bytea[], %(vectors)s::text[]) as s (hash, embedding) on conflict do nothing
"""
