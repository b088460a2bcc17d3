"""The answer cache: answers of one person, valid for one state of the documents that the person may read."""

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

import psycopg

from pincite.config.branches.retrieval import Cache
from pincite.core.accounts.access import Scope
from pincite.core.protocols import CacheEntry, CacheLookup, SimilarQuestion, Vector
from pincite.core.query.answer import Answer
from pincite.errors import StoreDown
from pincite.store.conversations.answer_json import from_json, to_json
from pincite.store.database import Connection, Database, fetch_all, fetch_one
from pincite.text.sentences import storable

MAX_CANDIDATES = 5
"""Similar cached questions that are returned for a closer comparison."""
SHORT_TIMEOUTS: Mapping[str, str] = MappingProxyType({"lock_timeout": "250ms", "statement_timeout": "2s"})
"""Timeouts of cache queries: the cache saves time, so a slow query is abandoned."""


class AnswerCache:
    """Stores and finds cached answers; row-level security hides those of others, expired and outdated ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def look_up(self, scope: Scope, key: bytes, question: str) -> CacheLookup:
        """Return the state of the readable documents, the entry of the same question, and whether others exist."""
        values = {"realms": list(scope.realms), "key": key, "question": storable(question)}
        async with self._errors_as_store_down():
            [[(state,)], [(same, others)]] = await self._database.run_batch(
                scope.person, _STATE, _SAME, values=values, local=SHORT_TIMEOUTS
            )
        return CacheLookup(state, same if state else None, bool(state and others))

    async def similar(self, scope: Scope, key: bytes, vector: Vector, least: float) -> list[SimilarQuestion]:
        """Return cached questions with a similarity of at least `least`, the most similar first."""
        values = {"key": key, "vector": f"[{','.join(map(str, vector))}]", "least": least, "nearest": MAX_CANDIDATES}
        async with self._errors_as_store_down():
            [found] = await self._database.run_batch(scope.person, _SIMILAR, values=values, local=SHORT_TIMEOUTS)
        return [SimilarQuestion(*row) for row in found]

    async def read(self, scope: Scope, entry: int) -> Answer | None:
        """Return a cached answer; None if it was removed meanwhile or its digest does not match."""
        async with self._errors_as_store_down():
            [found] = await self._database.run_batch(scope.person, _READ, values={"id": entry}, local=SHORT_TIMEOUTS)
        if not found or _digest(found[0][0], found[0][1]) != bytes(found[0][2]):
            return None
        return from_json(json.loads(found[0][1]))

    async def save(self, scope: Scope, entry: CacheEntry, limits: Cache) -> bool:
        """Store an answer unless the readable documents changed since the question; return whether it was stored.

        Its documents are locked meanwhile, so that a concurrent removal waits and then removes the cached answer, too.
        """
        question, answer = storable(entry.question), json.dumps(to_json(entry.answer), ensure_ascii=False)
        values = {
            "realms": list(scope.realms),
            "state": entry.state,
            "owner": scope.person,
            "key": entry.key,
            "question": question,
            "vector": f"[{','.join(map(str, entry.vector))}]",
            "answer": answer,
            "digest": _digest(question, answer),
            "documents": documents_of(entry.answer),
            "seconds": limits.default_ttl_seconds,
        }
        async with (
            self._errors_as_store_down(),
            self._database.transaction(scope.person, durable=False, local=SHORT_TIMEOUTS) as connection,
        ):
            if not await _lock_documents(connection, values):
                return False
            stored = await connection.execute(_INSERT, values)
            await connection.execute("select trim_cached(%s)", (limits.max_entries,))
        return stored.rowcount > 0

    async def remove_expired(self) -> int:
        """Remove the expired answers of every person; return their number."""
        async with self._errors_as_store_down():
            [[(removed,)]] = await self._database.run_batch("", "select forget_expired()", values={})
        return int(removed)

    @asynccontextmanager
    async def _errors_as_store_down(self) -> AsyncIterator[None]:
        """Raise any database error as `StoreDown`, because answers are possible without the cache."""
        try:
            yield
        except psycopg.Error as error:  # its text may contain words of documents
            raise StoreDown(f"the answer cache cannot be used ({type(error).__name__})") from error


def documents_of(answer: Answer) -> list[str]:
    """Return the documents that an answer cites or lists as related."""
    named = [one.document_id for one in answer.related_documents]
    return sorted({*(source.document_id for source in answer.sources), *named})


async def _lock_documents(connection: Connection, values: Mapping[str, Any]) -> bool:
    """Lock the documents of an answer; return whether all of them still exist."""
    locked = await fetch_all(connection, "select id from hold_documents(%(documents)s, %(realms)s)", values)
    return {document_id for (document_id,) in locked} == set(values["documents"])


async def remove_cached_answers(connection: Connection, document_id: str) -> int:
    """Remove everyone's cached answers from a document, in the transaction that removes it; return their number."""
    row = await fetch_one(connection, "select forget_cached(%s)", (document_id,))
    assert row is not None
    return int(row[0])


def _digest(question: str, answer: str) -> bytes:
    return hashlib.sha256(f"{question}\0{answer}".encode()).digest()


_STATE = "select reading_state(%(realms)s::integer[])"
_SAME = """
    select max(id) filter (where question = %(question)s), count(*) filter (where question <> %(question)s)
    from cached_answer where key = %(key)s
"""
_SIMILAR = """
    select id, question, -(embedding <#> %(vector)s::halfvec) as similarity from cached_answer
    where key = %(key)s and -(embedding <#> %(vector)s::halfvec) >= %(least)s order by similarity desc, id desc
    limit %(nearest)s
"""
_READ = "select question, answer, digest from cached_answer where id = %(id)s"
# The readable documents must be in the same state as when the question was asked, or the answer could be outdated.
_INSERT = """
    insert into cached_answer (owner, key, state, question, embedding, answer, digest, documents, expires_at)
    select %(owner)s, %(key)s, %(state)s, %(question)s, %(vector)s::halfvec, %(answer)s, %(digest)s,
           %(documents)s::text[], clock_timestamp() + make_interval(secs => %(seconds)s)
    where reading_state(%(realms)s::integer[]) = %(state)s
"""
