"""API keys: random, stored as hashes, shown once."""

import hashlib
import secrets
from collections.abc import Sequence

from pincite.concurrency import Batcher
from pincite.core.accounts.access import Caller, Role
from pincite.core.accounts.audit import AuditEntry
from pincite.core.accounts.users import ApiKey
from pincite.errors import NotFound, Unauthorized
from pincite.store.access.audit_log import record
from pincite.store.database import Database, fetch_all

KEY_PREFIX = "pc_"


class ApiKeys:
    """Creates, lists, revokes and recognises API keys."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recognising = Batcher(self._recognise_all)

    async def create(
        self, person: str, name: str, role: Role, expires_days: int | None, *, by: str | None = None
    ) -> tuple[str, str]:
        """Create a key for a person; return the key, which is not stored, and its id.

        `by` is the person who creates it, if that is another one.
        """
        key, key_id = KEY_PREFIX + secrets.token_urlsafe(32), secrets.token_hex(8)
        async with self._database.transaction(by or person) as connection:
            await connection.execute(
                "insert into api_key (id, person, name, role, hash, expires_at)"
                " values (%s, %s, %s, %s, %s, now() + make_interval(days => %s::int))",
                (key_id, person, name, role, _hash(key), expires_days),
            )
            details = {"user": person, "role": role, "expires_days": expires_days}
            await record(connection, AuditEntry("key.create", f"key:{key_id}", details=details))
        return key, key_id

    async def all(self, by: str) -> list[ApiKey]:
        """Return all keys for an administrator, otherwise the person's own keys; newest first."""
        async with self._database.transaction(by) as connection:
            found = await fetch_all(
                connection,
                "select id, person, name, role, created_at, expires_at, revoked_at from api_key"
                " where person = me() or (select am_administrator()) order by created_at desc",
            )
        return [ApiKey(*row) for row in found]

    async def revoke(self, by: str, key_id: str) -> None:
        """Revoke a key with immediate effect; only its owner or an administrator may."""
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
        """Return the caller of a key; `Unauthorized` if it is unknown, expired or revoked, without saying which."""
        return await self._recognising(_hash(key))

    async def _recognise_all(self, hashes: Sequence[bytes]) -> list[Caller | Exception]:
        """Look up the keys of concurrent requests in one query on one connection."""
        query = "select h.hash, k.* from unnest(%(hashes)s::bytea[]) h (hash), find_key(h.hash) k"
        [found] = await self._database.run_batch("", query, values={"hashes": list(set(hashes))}, by_key=True)
        known = {bytes(digest): Caller(person=person, role=role, key_id=key) for digest, key, person, role in found}
        unknown = "the API key is unknown, expired or revoked; create one with: pincite key create --name NAME"
        return [known.get(digest) or Unauthorized(unknown) for digest in hashes]


def _hash(key: str) -> bytes:
    """Return the SHA-256 hash of a key; no slow hash is needed, because a key is 256 random bits."""
    return hashlib.sha256(key.encode()).digest()
