"""Login sessions of browsers: login by password or identity provider, and limits for failed logins."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from pincite.concurrency import Batcher
from pincite.core.accounts.access import Caller
from pincite.core.accounts.audit import AuditEntry
from pincite.core.accounts.users import LOGIN_DAYS, Identity
from pincite.errors import Conflict, Invalid, OverBudget, Unauthorized
from pincite.store.access.audit_log import record
from pincite.store.access.passwords import check_new_password, hash_password, verify_password
from pincite.store.database import Connection, Database, fetch_all, fetch_one

FAILURE_WINDOW_S = 15 * 60
"""Seconds for which a failed login counts."""
MAX_FAILURES_PER_NAME, MAX_FAILURES_PER_ADDRESS = 5, 50
"""Failed logins from an address after which it is refused for that name, and after which it is refused for any."""
LoginLimits = Mapping[bytes, int]
"""Hash of a subject → its allowed number of failures."""
_WRONG_LOGIN = "the name or the password is wrong"


class LoginSessions:
    """Logs people in and out, changes passwords, and sets up the first administrator."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recognising = Batcher(self._recognise_all)

    async def log_in(self, name: str, password: str, address: str) -> tuple[str, Caller]:
        """Return the session token and the caller; the same `Unauthorized` for a wrong name and a wrong password."""
        here = _digest(f"{address}\0{name.casefold()}")
        limits = {here: MAX_FAILURES_PER_NAME, _digest(address): MAX_FAILURES_PER_ADDRESS}
        await self._check_failures(limits)
        async with self._database.transaction("") as connection:
            row = await fetch_one(connection, "select person, hash from password_of(%s)", (name,))
        person, stored = row or (None, None)
        if not await asyncio.to_thread(verify_password, password, stored) or person is None:
            await self._failed(limits, AuditEntry("login", person and f"user:{person}", "failed"))
            raise Unauthorized(_WRONG_LOGIN, code="wrong_login")
        async with self._database.transaction("") as connection:
            await connection.execute("select forget_failed_logins(%s)", ([here],))
        token = await self._begin(person, AuditEntry("login", f"user:{person}"))
        return token, await self.recognise(token)

    async def _check_failures(self, limits: LoginLimits) -> None:
        """Raise `OverBudget` if a subject has too many failed logins."""
        async with self._database.transaction("") as connection:
            refused = await _has_too_many_failures(connection, limits)
        if refused:
            raise OverBudget(
                f"too many logins failed; try again in {FAILURE_WINDOW_S // 60} minutes",
                code="too_many_logins",
                retry_after_s=FAILURE_WINDOW_S,
            )

    async def _failed(self, limits: LoginLimits, entry: AuditEntry) -> None:
        """Record a failed login, and the start of a refusal if it reaches a limit; later attempts are not recorded."""
        async with self._database.transaction("") as connection:
            await connection.execute("select note_failed_login(%s, %s)", (list(limits), FAILURE_WINDOW_S))
            refused = await _has_too_many_failures(connection, limits)
            await record(connection, entry, *([replace(entry, outcome="refused")] if refused else []))

    async def _begin(self, person: str, entry: AuditEntry) -> str:
        """Create a login session and return its token."""
        token = secrets.token_urlsafe(32)
        async with self._database.transaction(person) as connection:
            await connection.execute("delete from login where person = %s and expires_at < now()", (person,))
            await connection.execute(
                "insert into login (hash, person, expires_at) values (%s, %s, now() + make_interval(days => %s))",
                (_digest(token), person, LOGIN_DAYS),
            )
            await record(connection, entry)
        return token

    async def recognise(self, token: str) -> Caller:
        """Return the caller of a session token; `Unauthorized` if it is unknown or expired."""
        return await self._recognising(_digest(token))

    async def _recognise_all(self, hashes: Sequence[bytes]) -> list[Caller | Exception]:
        """Look up the tokens of concurrent requests in one query on one connection."""
        query = "select h.hash, l.* from unnest(%(hashes)s::bytea[]) h (hash), find_login(h.hash) l"
        [found] = await self._database.run_batch("", query, values={"hashes": list(set(hashes))})
        known = {bytes(digest): Caller(person=person, role=role) for digest, person, role in found}
        return [known.get(digest) or Unauthorized("the login has expired; log in again") for digest in hashes]

    # --- login by an identity provider ----------------------------------------------------------------------------

    @asynccontextmanager
    async def count_refusals(self, issuer: str, address: str) -> AsyncIterator[None]:
        """Count an `Unauthorized` raised in this context as a failed login of the address."""
        limits = {_digest(address): MAX_FAILURES_PER_ADDRESS}
        await self._check_failures(limits)
        try:
            yield
        except Unauthorized:
            await self._failed(limits, AuditEntry("login", None, "failed", {"by": issuer}))
            raise

    async def person_of(self, identity: Identity) -> str | None:
        """Return the person of an identity: matched by name at its first login, by subject afterwards; None if none."""
        async with self._database.transaction("") as connection:
            query = "select take_identity(%s, %s, %s)"
            row = await fetch_one(connection, query, (identity.issuer, identity.subject, identity.name))
        assert row is not None
        return None if row[0] is None else str(row[0])

    async def log_in_as(self, person: str, issuer: str) -> tuple[str, Caller]:
        """Log in a person whom an identity provider authenticated."""
        token = await self._begin(person, AuditEntry("login", f"user:{person}", details={"by": issuer}))
        return token, await self.recognise(token)

    async def log_out(self, person: str, token: str) -> None:
        """End a login session with immediate effect."""
        async with self._database.transaction(person) as connection:
            await connection.execute("delete from login where person = %s and hash = %s", (person, _digest(token)))
            await record(connection, AuditEntry("logout", f"user:{person}"))

    async def set_password(self, by: str, person: str, password: str) -> None:
        """Set a person's password, and end all of the person's login sessions."""
        check_new_password(password)
        digest = await asyncio.to_thread(hash_password, password)
        async with self._database.transaction(by) as connection:
            await connection.execute(
                "insert into password (person, hash) values (%s, %s)"
                " on conflict (person) do update set hash = excluded.hash, changed_at = now()",
                (person, digest),
            )
            await connection.execute("delete from login where person = %s", (person,))
            await record(connection, AuditEntry("password.change", f"user:{person}"))

    async def change_password(self, person: str, old: str, new: str, address: str) -> None:
        """Change a person's own password; a wrong old password counts as a failed login."""
        limits = {_digest(f"{address}\0\0{person}"): MAX_FAILURES_PER_NAME, _digest(address): MAX_FAILURES_PER_ADDRESS}
        await self._check_failures(limits)
        async with self._database.transaction(person) as connection:
            row = await fetch_one(connection, "select hash from password where person = me()")
        if not await asyncio.to_thread(verify_password, old, row[0] if row else None):
            await self._failed(limits, AuditEntry("password.change", f"user:{person}", "failed"))
            raise Invalid("the old password is wrong", code="wrong_password")
        await self.set_password(person, person, new)

    # --- the first administrator --------------------------------------------------------------------------------

    async def needs_setup(self) -> bool:
        """Whether nobody has a password yet."""
        async with self._database.transaction("") as connection:
            return await fetch_one(connection, "select needs_setup()") == (True,)

    async def offer_setup(self) -> str | None:
        """Return a single-use token to create the first administrator; None if anybody has a password already."""
        token = secrets.token_urlsafe(32)
        async with self._database.transaction("") as connection:
            row = await fetch_one(connection, "select needs_setup()")
            if row != (True,):
                return None
            await connection.execute("select offer_setup(%s)", (_digest(token),))
        return token

    async def set_up(self, token: str, name: str, password: str) -> tuple[str, Caller]:
        """Create the first administrator, who owns the data folder, and log them in; only one request can succeed."""
        check_new_password(password)
        digest = await asyncio.to_thread(hash_password, password)
        async with self._database.transaction("") as connection:
            row = await fetch_one(connection, "select take_setup(%s, %s, %s)", (_digest(token), name, digest))
        if row != (True,):
            raise Conflict(
                "this link is no longer valid: it was used, or there is an administrator already", code="setup_done"
            )
        login = await self._begin("local", AuditEntry("setup", "user:local"))
        return login, await self.recognise(login)


async def _has_too_many_failures(connection: Connection, limits: LoginLimits) -> bool:
    query = "select subject, failures from count_failed_logins(%s, %s)"
    failed = {bytes(s): n for s, n in await fetch_all(connection, query, (list(limits), FAILURE_WINDOW_S))}
    return any(failed.get(subject, 0) >= most for subject, most in limits.items())


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()
