"""Removing a document with everything derived from it; a receipt counts what was removed."""

import asyncio
from collections.abc import Mapping
from typing import Any

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.accounts.audit import AuditEntry
from pincite.core.documents.document import Receipt
from pincite.errors import NotFound
from pincite.store.access.audit_log import record
from pincite.store.conversations.answer_cache import remove_cached_answers
from pincite.store.conversations.sessions import remove_quotes
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.engines.tables import count_rows, remove_builds
from pincite.store.search.corpus_stats import bump_revision
from pincite.store.search.packed_postings import remove_editions
from pincite.store.search.vocabulary import remove_words


class Removal:
    """Removes documents of one person at a time."""

    def __init__(self, database: Database, files: BlobFiles) -> None:
        self._database = database
        self._files = files

    async def remove(self, scope: Scope, document_id: str) -> Receipt:
        """Remove a document and everything derived from it, then verify that nothing remains."""
        async with self._database.transaction(scope.person, local=LONG_TIMEOUTS) as connection:
            realm, version_keys, editions = await _lock_document(connection, scope, document_id)
            versions = list(version_keys)
            terms = [term for (term,) in await fetch_all(connection, _TERMS, {"editions": editions})]
            await remove_editions(connection, editions)
            await remove_words(connection, editions)
            built = await remove_builds(connection, editions)
            removed = {
                table: (await connection.execute(statement, {"editions": editions, "id": document_id})).rowcount
                for table, statement in _REMOVALS.items()
            }
            turns, quotes = await remove_quotes(connection, scope.person, document_id)
            answers = await remove_cached_answers(connection, document_id)
            await connection.execute("delete from document where id = %s", (document_id,))
            await bump_revision(connection, realm)
            entry = AuditEntry("document.remove", f"document:{document_id}", details={"versions": len(versions)})
            await record(connection, entry)
        removed_files = [await asyncio.to_thread(self._files.remove, document_id, version) for version in versions]
        wanted = {
            "id": document_id,
            "realm": realm,
            "versions": versions,
            "keys": list(version_keys.values()),
            "editions": editions,
            "turns": turns,
            "terms": terms,
        }
        remaining = await self._remaining(scope, wanted)
        return Receipt(
            document_id,
            versions=len(versions),
            chunks=removed["chunk"],
            vectors=removed["vector"] + removed["past_vector"],
            postings=removed["posting"] + removed["past_posting"],
            facts=built["graph"],
            summaries=built["tree"],
            token_vectors=built["late"],
            cache_entries=answers + removed["enrichment"],
            quotes=quotes,
            file=all(removed_files),
            verified=remaining == 0 and all(removed_files),
        )

    async def _remaining(self, scope: Scope, wanted: Mapping[str, Any]) -> int:
        """Return the number of rows left of the removed versions; a version uploaded again meanwhile does not count."""
        async with self._database.transaction(scope.person, local=LONG_TIMEOUTS) as connection:
            row = await fetch_one(connection, sql.SQL(_REMAINING).format(engines=count_rows()), wanted)
        assert row is not None
        return int(row[0])


_TERMS = """
    select term from posting where edition = any(%(editions)s)
    union select term from past_posting where edition = any(%(editions)s)
"""
_REMOVALS = {
    "posting": "delete from posting where edition = any(%(editions)s)",
    "past_posting": "delete from past_posting where edition = any(%(editions)s)",
    "vector": "delete from vector where edition = any(%(editions)s)",
    "past_vector": "delete from past_vector where edition = any(%(editions)s)",
    "enrichment": "delete from enrichment where document_id = %(id)s",
    "section": "delete from chunk where edition = any(%(editions)s) and level < 2",
    "chunk": "delete from chunk where edition = any(%(editions)s)",
}
# A term that only the removed document had must be neither in the vocabulary nor in a pack.
_REMAINING = """
    select (select count(*) from version where document_id = %(id)s and id = any(%(versions)s))
         + (select count(*) from page where version = any(%(keys)s))
         + (select count(*) from edition where key = any(%(editions)s))
         + (select count(*) from chunk where edition = any(%(editions)s))
         + (select count(*) from vector where edition = any(%(editions)s))
         + (select count(*) from past_vector where edition = any(%(editions)s))
         + (select count(*) from posting where edition = any(%(editions)s))
         + (select count(*) from past_posting where edition = any(%(editions)s))
         + (select count(*) from turns_quoting(%(id)s) where turn_id = any(%(turns)s))
         + cached_from(%(id)s)
         + {engines}
         + (select count(*) from trace where documents @> array[%(id)s] and content ?| array['answer', 'thoughts'])
         + (select count(*) from evaluation_question where document_id = %(id)s and version = any(%(versions)s))
         + (select count(*) from unnest(%(terms)s::text[]) as gone (term)
            where not exists (select from posting p where p.realm = %(realm)s and p.term = gone.term)
              and not exists (select from past_posting p where p.realm = %(realm)s and p.term = gone.term)
              and (exists (select from vocabulary v where v.realm = %(realm)s and v.term = gone.term)
                   or exists (select from packed k where k.realm = %(realm)s and k.term = gone.term)))
"""


async def _lock_document(
    connection: Connection, scope: Scope, document_id: str
) -> tuple[int, dict[str, int], list[int]]:
    """Lock a document and return its realm, its versions' keys by id, and its editions' keys.

    A concurrent writer waits for the lock, and then finds that the document is removed.
    """
    found = await fetch_one(
        connection,
        "select realm from document where id = %s and realm = any(%s) and owner = %s for update",
        (document_id, list(scope.realms), scope.person),
    )
    if found is None:
        raise NotFound(f"there is no document '{document_id}'")
    versions = await fetch_all(connection, "select id, key from version where document_id = %s", (document_id,))
    editions = await fetch_all(connection, "select key from edition where document_id = %s for update", (document_id,))
    return found[0], dict(versions), [key for (key,) in editions]
