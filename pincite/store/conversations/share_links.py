"""Answers shared by link: made by whoever asked, opened with the reader's own rights, ended at any time."""

import hashlib
import secrets
from collections.abc import Collection

from pincite.core.accounts.access import Scope
from pincite.core.accounts.audit import AuditEntry
from pincite.core.accounts.conversations import SHARE_LINK_PREFIX, Share, SharedAnswer
from pincite.core.query.answer import Answer
from pincite.errors import NotFound
from pincite.store.access.audit_log import record
from pincite.store.conversations.answer_json import from_json, only_readable, without_documents
from pincite.store.database import Database, one, rows


class ShareLinks:
    """Links to single answers. Text of documents is never kept for them: a link shows a turn of its owner's history."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, scope: Scope, answer_id: str, days: int) -> tuple[str, Share]:
        """Share an answer of one's own for some days: the link, known at this moment only, and what is kept of it."""
        link, share_id = SHARE_LINK_PREFIX + secrets.token_urlsafe(32), secrets.token_hex(8)
        async with self._database.transaction(scope.person) as connection:
            turn = "select id from turn where answer ->> 'id' = %s and owner = %s and complete"
            found = await one(connection, turn, (answer_id, scope.person))
            if found is None:
                raise NotFound(f"there is no answer '{answer_id}' in your conversations; only such can be shared")
            row = await one(
                connection,
                "insert into share (id, hash, owner, turn_id, expires_at)"
                " values (%s, %s, %s, %s, now() + make_interval(days => %s)) returning created_at, expires_at",
                (share_id, _hash(link), scope.person, found[0], days),
            )
            await record(
                connection, AuditEntry("answer.share", f"answer:{answer_id}", details={"share": share_id, "days": days})
            )
        assert row is not None
        return link, Share(share_id, scope.person, answer_id, *row)

    async def all(self, scope: Scope) -> list[Share]:
        """One's own links that count, newest first; for an administrator everybody's, without what they show."""
        async with self._database.transaction(scope.person) as connection:
            found = await rows(connection, _ALL)
        return [Share(*row) for row in found]

    async def open(self, scope: Scope, link: str) -> SharedAnswer:
        """What a link shows to this reader; `NotFound` alike for one that never was, ended, or expired."""
        return await self._shown(scope, _hash(link))

    async def show(self, scope: Scope, share_id: str) -> SharedAnswer:
        """The same for the owner of a link, who may have kept no more than its id."""
        mine = "select hash from share where id = %(id)s and owner = me()"
        [found] = await self._database.run_batch(scope.person, mine, values={"id": share_id})
        return await self._shown(scope, found[0][0] if found else b"")

    async def remove(self, scope: Scope, named: str) -> str:
        """End a link, by itself or by its id, and tell the id; its owner or an administrator does."""
        async with self._database.transaction(scope.person) as connection:
            gone = await one(connection, _END, {"id": named, "hash": _hash(named)})
            if gone is None:
                raise _missing()
            await record(connection, AuditEntry("answer.unshare", f"share:{gone[0]}"))
        return str(gone[0])

    async def forget_expired(self) -> None:
        """Clear away links that count no more."""
        await self._database.run_batch("", "select forget_expired_shares()", values={})

    async def _shown(self, scope: Scope, hashed: bytes) -> SharedAnswer:
        [found] = await self._database.run_batch(
            scope.person, "select * from shared_turn(%(hash)s)", values={"hash": hashed}
        )
        if not found:
            raise _missing()
        share_id, owner, name, created, expires, question, stored, documents, answered = found[0]
        answer = await self._as_owner_may(owner, from_json(stored), documents)
        named = {source.document_id for source in answer.sources} | {
            one.document_id for one in answer.related_documents
        }
        answer = only_readable(answer, await self._readable(scope.person, named))
        return SharedAnswer(share_id, name, question, answer, answered, created, expires)

    async def _as_owner_may(self, owner: str, answer: Answer, documents: Collection[str]) -> Answer:
        """Nobody shares what they may not read themselves any more: the same rule as in their history."""
        return without_documents(answer, set(documents) - await self._readable(owner, documents))

    async def _readable(self, person: str, documents: Collection[str]) -> set[str]:
        query = "select id from document where id = any(%(ids)s)"
        [found] = await self._database.run_batch(person, query, values={"ids": list(documents)})
        return {document_id for (document_id,) in found}


def _missing() -> NotFound:
    return NotFound("there is no such share, or it has ended")


def _hash(link: str) -> bytes:
    """SHA-256 is enough: a link is 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(link.encode()).digest()


_END = """
    delete from share where (id = %(id)s or hash = %(hash)s) and (owner = me() or (select am_administrator())) returning id
"""
_ALL = """
    select s.id, s.owner, coalesce((select t.answer ->> 'id' from turn t where t.id = s.turn_id), ''), s.created_at, s.expires_at
    from share s where s.expires_at > now() and (s.owner = me() or (select am_administrator())) order by s.created_at desc, s.id
"""
