"""Logins: what a browser holds instead of a key, how one is got, and who tried too often."""

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
from pincite.store.access.passwords import check_new, hashed, matches
from pincite.store.database import Connection, Database, one, rows

WINDOW_S = 15 * 60
"""Failures are remembered for so long."""
MOST_HERE, MOST_ANYWHERE = 5, 50
"""Failures after which a name is not tried again from one address, and an address not with any name."""
LoginLimits = Mapping[bytes, int]
"""How many failures each subject, by its hash, is allowed."""
_REFUSED = "name or password are not right"


class LoginSessions:
    """Logs people in and out by name and password; makes the first administrator."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recognising = Batcher(self._recognise_all)

    async def log_in(self, name: str, password: str, address: str) -> tuple[str, Caller]:
        """What the browser shall hold, and who it is; `Unauthorized` alike for a wrong name and a wrong password."""
        here = _digest(f"{address}\0{name.casefold()}")
        limits = {here: MOST_HERE, _digest(address): MOST_ANYWHERE}
        await self._not_too_often(limits)
        async with self._database.transaction("") as connection:
            row = await one(connection, "select person, hash from password_of(%s)", (name,))
        person, kept = row or (None, None)
        if not await asyncio.to_thread(matches, password, kept) or person is None:
            await self._failed(limits, AuditEntry("login", person and f"user:{person}", "failed"))
            raise Unauthorized(_REFUSED, code="wrong_login")
        async with self._database.transaction("") as connection:
            await connection.execute("select forget_failed_logins(%s)", ([here],))
        token = await self._begin(person, AuditEntry("login", f"user:{person}"))
        return token, await self.recognise(token)

    async def _not_too_often(self, limits: LoginLimits) -> None:
        async with self._database.transaction("") as connection:
            shut = await _too_often(connection, limits)
        if shut:
            raise OverBudget(
                f"too many logins failed; try again in {WINDOW_S // 60} minutes",
                code="too_many_logins",
                retry_after_s=WINDOW_S,
            )

    async def _failed(self, limits: LoginLimits, told: AuditEntry) -> None:
        """Remember a failure. The one that shuts the door is told as that, too; what knocks afterwards is not."""
        async with self._database.transaction("") as connection:
            await connection.execute("select note_failed_login(%s, %s)", (list(limits), WINDOW_S))
            shut = await _too_often(connection, limits)
            await record(connection, told, *([replace(told, outcome="refused")] if shut else []))

    async def _begin(self, person: str, told: AuditEntry) -> str:
        token = secrets.token_urlsafe(32)
        async with self._database.transaction(person) as connection:
            await connection.execute("delete from login where person = %s and expires_at < now()", (person,))
            await connection.execute(
                "insert into login (hash, person, expires_at) values (%s, %s, now() + make_interval(days => %s))",
                (_digest(token), person, LOGIN_DAYS),
            )
            await record(connection, told)
        return token

    async def recognise(self, token: str) -> Caller:
        """Whose login this is; `Unauthorized` for one that is unknown or over."""
        return await self._recognising(_digest(token))

    async def _recognise_all(self, hashes: Sequence[bytes]) -> list[Caller | Exception]:
        """Those that are asked about at about the same time, on one connection."""
        query = "select h.hash, l.* from unnest(%(hashes)s::bytea[]) h (hash), find_login(h.hash) l"
        [found] = await self._database.run_batch("", query, values={"hashes": list(set(hashes))})
        known = {bytes(given): Caller(person=person, role=role) for given, person, role in found}
        return [known.get(one) or Unauthorized("the login is over; log in again") for one in hashes]

    # --- those whom a provider vouches for -----------------------------------------------------------------------

    @asynccontextmanager
    async def vouched(self, issuer: str, address: str) -> AsyncIterator[None]:
        """What is refused meanwhile counts like failed logins."""
        limits = {_digest(address): MOST_ANYWHERE}
        await self._not_too_often(limits)
        try:
            yield
        except Unauthorized:
            await self._failed(limits, AuditEntry("login", None, "failed", {"by": issuer}))
            raise

    async def vouched_for(self, identity: Identity) -> str | None:
        """Who an identity is here, from its first time on whatever they are called then; None for nobody."""
        async with self._database.transaction("") as connection:
            query = "select take_identity(%s, %s, %s)"
            row = await one(connection, query, (identity.issuer, identity.subject, identity.name))
        assert row is not None
        return None if row[0] is None else str(row[0])

    async def log_in_as(self, person: str, issuer: str) -> tuple[str, Caller]:
        """Log in somebody whom a provider vouches for."""
        token = await self._begin(person, AuditEntry("login", f"user:{person}", details={"by": issuer}))
        return token, await self.recognise(token)

    async def log_out(self, person: str, token: str) -> None:
        """End a login, from this moment on."""
        async with self._database.transaction(person) as connection:
            await connection.execute("delete from login where person = %s and hash = %s", (person, _digest(token)))
            await record(connection, AuditEntry("logout", f"user:{person}"))

    async def set_password(self, by: str, person: str, password: str) -> None:
        """Give a person a password; whoever is logged in as them is no more."""
        check_new(password)
        kept = await asyncio.to_thread(hashed, password)
        async with self._database.transaction(by) as connection:
            await connection.execute(
                "insert into password (person, hash) values (%s, %s)"
                " on conflict (person) do update set hash = excluded.hash, changed_at = now()",
                (person, kept),
            )
            await connection.execute("delete from login where person = %s", (person,))
            await record(connection, AuditEntry("password.change", f"user:{person}"))

    async def change_password(self, person: str, old: str, new: str, address: str) -> None:
        """Change one's own password; guesses at the old one count like failed logins."""
        limits = {_digest(f"{address}\0\0{person}"): MOST_HERE, _digest(address): MOST_ANYWHERE}
        await self._not_too_often(limits)
        async with self._database.transaction(person) as connection:
            row = await one(connection, "select hash from password where person = me()")
        if not await asyncio.to_thread(matches, old, row[0] if row else None):
            await self._failed(limits, AuditEntry("password.change", f"user:{person}", "failed"))
            raise Invalid("the old password is not right", code="wrong_password")
        await self.set_password(person, person, new)

    # --- the first administrator --------------------------------------------------------------------------------

    async def needs_setup(self) -> bool:
        """Whether nobody has a password yet."""
        async with self._database.transaction("") as connection:
            return await one(connection, "select needs_setup()") == (True,)

    async def offer_setup(self) -> str | None:
        """A token that makes the first administrator, once; None where somebody has a password already."""
        token = secrets.token_urlsafe(32)
        async with self._database.transaction("") as connection:
            row = await one(connection, "select needs_setup()")
            if row != (True,):
                return None
            await connection.execute("select offer_setup(%s)", (_digest(token),))
        return token

    async def set_up(self, token: str, name: str, password: str) -> tuple[str, Caller]:
        """Make the first administrator, who owns what the data folder holds, and log them in; of many who try, one."""
        check_new(password)
        kept = await asyncio.to_thread(hashed, password)
        async with self._database.transaction("") as connection:
            row = await one(connection, "select take_setup(%s, %s, %s)", (_digest(token), name, kept))
        if row != (True,):
            raise Conflict("this link does not count: it was used, or an administrator is there already",
                           code="setup_done")  # fmt: skip
        login = await self._begin("local", AuditEntry("setup", "user:local"))
        return login, await self.recognise(login)


async def _too_often(connection: Connection, limits: LoginLimits) -> bool:
    query = "select subject, failures from count_failed_logins(%s, %s)"
    failed = {bytes(s): n for s, n in await rows(connection, query, (list(limits), WINDOW_S))}
    return any(failed.get(subject, 0) >= most for subject, most in limits.items())


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()
