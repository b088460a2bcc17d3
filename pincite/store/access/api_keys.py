"""API keys: random, kept as hashes, shown once."""

import hashlib
import secrets
from collections.abc import Sequence

from pincite.concurrency import Batcher
from pincite.core.accounts.access import Caller, Role
from pincite.core.accounts.audit import AuditEntry
from pincite.core.accounts.users import ApiKey
from pincite.errors import NotFound, Unauthorized
from pincite.store.access.audit_log import record
from pincite.store.database import Database, rows

PREFIX = "pc_"


class ApiKeys:
    """Makes, lists, revokes and recognises keys."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recognising = Batcher(self._recognise_all)

    async def create(
        self, person: str, name: str, role: Role, expires_days: int | None, *, by: str | None = None
    ) -> tuple[str, str]:
        """A new key of a person and its id; this is the only moment the key itself is known.

        `by` is who makes it, where that is not the person.
        """
        key, key_id = PREFIX + secrets.token_urlsafe(32), secrets.token_hex(8)
        async with self._database.transaction(by or person) as connection:
            await connection.execute(
                "insert into api_key (id, person, name, role, hash, expires_at)"
                " values (%s, %s, %s, %s, %s, now() + make_interval(days => %s::int))",
                (key_id, person, name, role, _hash(key), expires_days),
            )
            made = {"user": person, "role": role, "expires_days": expires_days}
            await record(connection, AuditEntry("key.create", f"key:{key_id}", details=made))
        return key, key_id

    async def all(self, by: str) -> list[ApiKey]:
        """Every key, newest first, for an administrator; for anybody else their own."""
        async with self._database.transaction(by) as connection:
            found = await rows(
                connection,
                "select id, person, name, role, created_at, expires_at, revoked_at from api_key"
                " where person = me() or (select am_administrator()) order by created_at desc",
            )
        return [ApiKey(*row) for row in found]

    async def revoke(self, by: str, key_id: str) -> None:
        """A revoked key counts no more, from this moment on; its owner or an administrator revokes it."""
        async with self._database.transaction(by) as connection:
            done = await connection.execute(
                "update api_key set revoked_at = coalesce(revoked_at, now())"
                " where id = %s and (person = me() or (select am_administrator()))",
                (key_id,),
            )
            if done.rowcount == 0:
                raise NotFound(f"there is no key '{key_id}'")
            await record(connection, AuditEntry("key.revoke", f"key:{key_id}"))

    async def recognise(self, key: str) -> Caller:
        """Whose key this is; `Unauthorized` for one that is unknown, expired or revoked, all alike."""
        return await self._recognising(_hash(key))

    async def _recognise_all(self, hashes: Sequence[bytes]) -> list[Caller | Exception]:
        """Those that are asked about at about the same time: however many come at once, they take one connection."""
        query = "select h.hash, k.* from unnest(%(hashes)s::bytea[]) h (hash), find_key(h.hash) k"
        [found] = await self._database.run_batch("", query, values={"hashes": list(set(hashes))})
        known = {bytes(given): Caller(person=person, role=role, key_id=key) for given, key, person, role in found}
        unknown = "the key does not count; make one with: pincite key create --name NAME"
        return [known.get(one) or Unauthorized(unknown) for one in hashes]


def _hash(key: str) -> bytes:
    """SHA-256 is enough: the key is 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(key.encode()).digest()
