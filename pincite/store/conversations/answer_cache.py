"""Answers kept for a while, each for whoever asked and for the state of all they may read."""

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
from pincite.store.database import Connection, Database, one, rows
from pincite.text.sentences import storable

NEAREST = 5
"""Kept questions that are looked at more closely."""
IMPATIENT: Mapping[str, str] = MappingProxyType({"lock_timeout": "250ms", "statement_timeout": "2s"})
"""It is there to save time: what takes longer is not waited for."""


class AnswerCache:
    """Keeps answers and finds them again. Row-level security hides what is somebody else's, too old, or from before a change."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def look_up(self, scope: Scope, key: bytes, question: str) -> CacheLookup:
        """The state of all that may be read now, and whether there is something to compare with."""
        values = {"realms": list(scope.realms), "key": key, "question": storable(question)}
        async with self._told():
            [[(state,)], [(same, others)]] = await self._database.at_once(
                scope.person, _STATE, _SAME, values=values, local=IMPATIENT
            )
        return CacheLookup(state, same if state else None, bool(state and others))

    async def similar(self, scope: Scope, key: bytes, vector: Vector, least: float) -> list[SimilarQuestion]:
        """Kept questions that are at least so similar, the nearest first."""
        values = {"key": key, "vector": f"[{','.join(map(str, vector))}]", "least": least, "nearest": NEAREST}
        async with self._told():
            [found] = await self._database.at_once(scope.person, _ALIKE, values=values, local=IMPATIENT)
        return [SimilarQuestion(*row) for row in found]

    async def read(self, scope: Scope, entry: int) -> Answer | None:
        """A kept answer; None where it went meanwhile, or is not as it was written."""
        async with self._told():
            [found] = await self._database.at_once(scope.person, _READ, values={"id": entry}, local=IMPATIENT)
        if not found or _digest(found[0][0], found[0][1]) != bytes(found[0][2]):
            return None
        return from_json(json.loads(found[0][1]))

    async def save(self, scope: Scope, entry: CacheEntry, limits: Cache) -> bool:
        """Keep an answer, unless anything that may be read has changed since the question was asked; whether it was kept.

        Its documents are held meanwhile, so that whoever removes one finds it, and takes it along.
        """
        question, answer = storable(entry.question), json.dumps(to_json(entry.answer), ensure_ascii=False)
        values = {
            "realms": list(scope.realms), "state": entry.state, "owner": scope.person, "key": entry.key,
            "question": question, "vector": f"[{','.join(map(str, entry.vector))}]", "answer": answer,
            "digest": _digest(question, answer), "documents": documents_of(entry.answer),
            "seconds": limits.default_ttl_seconds,
        }  # fmt: skip
        async with (
            self._told(),
            self._database.transaction(scope.person, durable=False, local=IMPATIENT) as connection,
        ):
            if not await _all_there(connection, values):
                return False
            kept = await connection.execute(_KEEP, values)
            await connection.execute("select trim_cached(%s)", (limits.max_entries,))
        return kept.rowcount > 0

    async def forget_expired(self) -> int:
        """Remove what is too old to be given again, whoever's it is."""
        async with self._told():
            [[(gone,)]] = await self._database.at_once("", "select forget_expired()", values={})
        return int(gone)

    @asynccontextmanager
    async def _told(self) -> AsyncIterator[None]:
        """Whatever is wrong with the table, answers can be made without it."""
        try:
            yield
        except psycopg.Error as error:
            raise StoreDown(
                f"kept answers cannot be used ({type(error).__name__})"
            ) from error  # its text may hold words


def documents_of(answer: Answer) -> list[str]:
    """The documents that an answer stands on or names."""
    named = [one.document_id for one in answer.related_documents]
    return sorted({*(source.document_id for source in answer.sources), *named})


async def _all_there(connection: Connection, values: Mapping[str, Any]) -> bool:
    held = await rows(connection, "select id from hold_documents(%(documents)s, %(realms)s)", values)
    return {document_id for (document_id,) in held} == set(values["documents"])


async def forget_answers(connection: Connection, document_id: str) -> int:
    """Remove what anybody was told from a document: how many answers. Part of the transaction that removes it."""
    row = await one(connection, "select forget_cached(%s)", (document_id,))
    assert row is not None
    return int(row[0])


def _digest(question: str, answer: str) -> bytes:
    return hashlib.sha256(f"{question}\0{answer}".encode()).digest()


_STATE = "select reading_state(%(realms)s::integer[])"
_SAME = """
    select max(id) filter (where question = %(question)s), count(*) filter (where question <> %(question)s)
    from cached_answer where key = %(key)s
"""
_ALIKE = """
    select id, question, -(embedding <#> %(vector)s::halfvec) as similarity from cached_answer
    where key = %(key)s and -(embedding <#> %(vector)s::halfvec) >= %(least)s order by similarity desc, id desc
    limit %(nearest)s
"""
_READ = "select question, answer, digest from cached_answer where id = %(id)s"
# What was there when the question was asked must be what is there now, or it could be about what is gone.
_KEEP = """
    insert into cached_answer (owner, key, state, question, embedding, answer, digest, documents, expires_at)
    select %(owner)s, %(key)s, %(state)s, %(question)s, %(vector)s::halfvec, %(answer)s, %(digest)s, %(documents)s::text[],
           clock_timestamp() + make_interval(secs => %(seconds)s)
    where reading_state(%(realms)s::integer[]) = %(state)s
"""
