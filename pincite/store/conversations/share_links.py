"""Share links to answers: created by the asker, opened with the reader's permissions, revocable at any time."""

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
from pincite.store.database import Database, fetch_all, fetch_one


class ShareLinks:
    """Share links to single answers; a link stores no text of its own, it shows a turn of its owner's sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, scope: Scope, answer_id: str, days: int) -> tuple[str, Share]:
        """Share an own answer for some days; return the link, which is not stored, and its entry."""
        link, share_id = SHARE_LINK_PREFIX + secrets.token_urlsafe(32), secrets.token_hex(8)
        async with self._database.transaction(scope.person) as connection:
            turn = "select id from turn where answer ->> 'id' = %s and owner = %s and complete"
            found = await fetch_one(connection, turn, (answer_id, scope.person))
            if found is None:
                raise NotFound(
                    f"there is no answer '{answer_id}' in your conversations; share a complete answer of your own"
                )
            row = await fetch_one(
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
        """Return the valid links of this person, newest first; for an administrator those of all, without answers."""
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(connection, _ALL)
        return [Share(*row) for row in found]

    async def open(self, scope: Scope, link: str) -> SharedAnswer:
        """Return the shared answer as this reader may see it; the same `NotFound` for an unknown or expired link."""
        return await self._shared_answer(scope, _hash(link))

    async def show(self, scope: Scope, share_id: str) -> SharedAnswer:
        """Return the shared answer of an own link by the link's id."""
        mine = "select hash from share where id = %(id)s and owner = me()"
        [found] = await self._database.run_batch(scope.person, mine, values={"id": share_id})
        return await self._shared_answer(scope, found[0][0] if found else b"")

    async def remove(self, scope: Scope, named: str) -> str:
        """Remove a share, named by its link or its id, and return the id; only its owner or an administrator may."""
        async with self._database.transaction(scope.person) as connection:
            removed = await fetch_one(connection, _DELETE, {"id": named, "hash": _hash(named)})
            if removed is None:
                raise _not_found()
            await record(connection, AuditEntry("answer.unshare", f"share:{removed[0]}"))
        return str(removed[0])

    async def remove_expired(self) -> None:
        """Remove expired links."""
        await self._database.run_batch("", "select forget_expired_shares()", values={})

    async def _shared_answer(self, scope: Scope, hashed: bytes) -> SharedAnswer:
        [found] = await self._database.run_batch(
            scope.person, "select * from shared_turn(%(hash)s)", values={"hash": hashed}
        )
        if not found:
            raise _not_found()
        share_id, owner, name, created, expires, question, stored, documents, answered = found[0]
        answer = await self._as_owner_may(owner, from_json(stored), documents)
        named = {source.document_id for source in answer.sources} | {
            one.document_id for one in answer.related_documents
        }
        answer = only_readable(answer, await self._readable(scope.person, named))
        return SharedAnswer(share_id, name, question, answer, answered, created, expires)

    async def _as_owner_may(self, owner: str, answer: Answer, documents: Collection[str]) -> Answer:
        """Return an answer without documents that its owner may not read now, as in the owner's own sessions."""
        return without_documents(answer, set(documents) - await self._readable(owner, documents))

    async def _readable(self, person: str, documents: Collection[str]) -> set[str]:
        query = "select id from document where id = any(%(ids)s)"
        [found] = await self._database.run_batch(person, query, values={"ids": list(documents)})
        return {document_id for (document_id,) in found}


def _not_found() -> NotFound:
    return NotFound("this share does not exist, or it has expired")


def _hash(link: str) -> bytes:
    """Return the SHA-256 hash of a link; no slow hash is needed, because a link is 256 random bits."""
    return hashlib.sha256(link.encode()).digest()


_DELETE = """
    delete from share where (id = %(id)s or hash = %(hash)s) and (owner = me() or (select am_administrator()))
    returning id
"""
_ALL = """
    select s.id, s.owner, coalesce((select t.answer ->> 'id' from turn t where t.id = s.turn_id), ''), s.created_at,
           s.expires_at
    from share s where s.expires_at > now() and (s.owner = me() or (select am_administrator()))
    order by s.created_at desc, s.id
"""
