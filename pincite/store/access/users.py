"""Stores users and groups; the database lets only administrators add, change, suspend or remove them."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from psycopg import errors as pg_errors
from psycopg import sql

from pincite.core.accounts.access import Role
from pincite.core.accounts.audit import AuditEntry, EventName
from pincite.core.accounts.users import Group, Person, PersonRole
from pincite.errors import Conflict, Invalid, NotAllowed, NotFound
from pincite.store.access.audit_log import record
from pincite.store.database import Connection, Database, fetch_all, fetch_one

MAX_NAME_CHARS = 100
"""Characters of the name of a user or a group at most."""
LOCAL = "local"
"""The owner of the data folder, who cannot be suspended or removed: that person has the files anyway."""


@dataclass(frozen=True, slots=True)
class OwnProfile:
    """The profile that a person may read about themselves."""

    id: str
    name: str
    role: Role
    groups: tuple[str, ...]


class Users:
    """Manages users and groups; `by` is the person who acts, and the database refuses anyone but an administrator."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, by: str) -> list[Person]:
        """Return all users by name."""
        [found] = await self._database.run_batch(by, _PEOPLE + sql.SQL(" order by lower(p.name)"), values={})
        return [_to_person(row) for row in found]

    async def get(self, by: str, person: str) -> Person:
        """Return one user by id or name."""
        [found] = await self._database.run_batch(by, _PEOPLE + sql.SQL(_BY_ID_OR_NAME), values={"person": person})
        if not found:
            raise NotFound(f"there is no user '{person}'")
        return _to_person(found[0])

    async def own_profile(self, person: str, role: Role) -> OwnProfile:
        """Return a person's own profile, with the role of this request."""
        query = sql.SQL("select name, {} from person p where id = me()").format(sql.SQL(_THEIR_GROUPS))
        [found] = await self._database.run_batch(person, query, values={})
        if not found:
            raise NotFound("this user was removed")
        return OwnProfile(person, found[0][0], role, tuple(found[0][1]))

    async def add(self, by: str, name: str, role: PersonRole) -> Person:
        """Add a user; an API key or a password is set afterwards."""
        wanted = _checked_name(name, "user")
        async with self._database.transaction(by) as connection:
            await _require_administrator(connection)
            taken = "select 1 from person where id = %(name)s or lower(name) = lower(%(name)s)"
            if await fetch_one(connection, taken, {"name": wanted}):
                raise Conflict(f"there is, or was, a user '{wanted}'; choose another name")
            try:
                await connection.execute(
                    "insert into person (id, name, role) values (%s, %s, %s)", (wanted, wanted, role)
                )
            except pg_errors.UniqueViolation:
                raise Conflict(f"there is a user '{wanted}' already") from None
            await record(connection, AuditEntry("user.add", f"user:{wanted}", details={"role": role}))
        return await self.get(by, wanted)

    async def change_role(self, by: str, person: str, role: PersonRole) -> Person:
        """Change a user's role; it also limits the role of the user's API keys."""
        known = await self.get(by, person)
        entry = AuditEntry("user.role", f"user:{known.id}", details={"before": known.role, "after": role})
        await self._change(by, known, "update person set role = %(value)s where id = %(id)s", role, entry)
        return replace(known, role=role)  # not read again: `by` may have lost the role of administrator

    async def suspend(self, by: str, person: str, *, suspended: bool) -> Person:
        """Suspend a user or lift the suspension; the user's documents stay."""
        known = await self.get(by, person)
        entry = AuditEntry("user.suspend" if suspended else "user.resume", f"user:{known.id}")
        await self._change(by, known, _SUSPEND, suspended, entry)
        return replace(known, suspended=suspended)

    async def remove(self, by: str, person: str) -> Person:
        """Remove a user with keys, logins, conversations and traces; `Conflict` if the user owns documents."""
        known = await self.get(by, person)
        if known.documents:
            raise Conflict(
                f"'{known.name}' owns documents ({known.documents}), which others may read; remove these first,"
                f" transfer them with: pincite user remove {known.name} --to NAME, or suspend the user"
            )
        removed = "update person set removed_at = now() where id = %(id)s"
        await self._change(by, known, removed, None, AuditEntry("user.remove", f"user:{known.id}"))
        async with self._database.transaction(known.id) as connection:  # only the owner may delete these rows
            for table in ("session", "evaluation", "evaluation_set", "trace", "folder", "flow"):
                await connection.execute(f"delete from {table} where owner = %s", (known.id,))  # noqa: S608
        async with self._database.transaction(by) as connection:
            for table in ("api_key", "login", "password", "identity", "membership"):
                await connection.execute(f"delete from {table} where person = %s", (known.id,))  # noqa: S608
        return known

    async def _change(self, by: str, person: Person, statement: str, value: object, entry: AuditEntry) -> None:
        if person.id == LOCAL:
            raise Conflict(f"'{person.name}' owns the data folder and stays its administrator")
        async with self._database.transaction(by) as connection:
            await _require_administrator(connection)
            await connection.execute(statement, {"id": person.id, "value": value})
            await connection.execute(
                "delete from login where person = %(id)s"
                " and exists (select from person where id = %(id)s and coalesce(suspended_at, removed_at) is not null)",
                {"id": person.id},
            )
            await record(connection, entry)

    # --- groups -------------------------------------------------------------------------------------------------

    async def groups(self, by: str) -> list[Group]:
        """Return all groups by name."""
        [found] = await self._database.run_batch(by, _GROUPS + " order by lower(g.name)", values={})
        return [Group(row[0], row[1], tuple(row[2]), row[3]) for row in found]

    async def group(self, by: str, group: str) -> Group:
        """Return one group by id or name."""
        query = _GROUPS + " where g.id = %(group)s or lower(g.name) = lower(%(group)s)"
        [found] = await self._database.run_batch(by, query, values={"group": group})
        if not found:
            raise NotFound(f"there is no group '{group}'")
        return Group(found[0][0], found[0][1], tuple(found[0][2]), found[0][3])

    async def add_group(self, by: str, name: str) -> Group:
        """Add a group without members."""
        wanted, group_id = _checked_name(name, "group"), secrets.token_hex(8)
        async with self._database.transaction(by) as connection:
            await _require_administrator(connection)
            try:
                await connection.execute("insert into people_group (id, name) values (%s, %s)", (group_id, wanted))
            except pg_errors.UniqueViolation:
                raise Conflict(f"there is a group '{wanted}' already") from None
            await record(connection, AuditEntry("group.add", f"group:{group_id}", details={"name": wanted}))
        return await self.group(by, wanted)

    async def remove_group(self, by: str, group: str) -> Group:
        """Remove a group; its members lose what was shared with it."""
        known = await self.group(by, group)
        async with self._database.transaction(by) as connection:
            await _require_administrator(connection)
            await connection.execute("delete from people_group where id = %s", (known.id,))
            await record(connection, AuditEntry("group.remove", f"group:{known.id}", details={"name": known.name}))
        return known

    async def join(self, by: str, group: str, person: str) -> Group:
        """Add a user to a group, who may then read what is shared with it."""
        statement = "insert into membership values (%s, %s) on conflict do nothing"
        return await self._change_membership(by, group, person, statement, "group.join")

    async def leave(self, by: str, group: str, person: str) -> Group:
        """Remove a user from a group."""
        statement = "delete from membership where person = %s and group_id = %s"
        return await self._change_membership(by, group, person, statement, "group.leave")

    async def set_groups(self, by: str, person: str, names: Collection[str]) -> None:
        """Make a user a member of exactly the groups with these names; unknown names are ignored."""
        wanted = {name.casefold() for name in names}
        for group in await self.groups(by):
            if (group.name.casefold() in wanted) != (person in group.members):
                await (self.leave if person in group.members else self.join)(by, group.id, person)

    async def _change_membership(self, by: str, group: str, person: str, statement: str, event: EventName) -> Group:
        which, who = await self.group(by, group), await self.get(by, person)
        async with self._database.transaction(by) as connection:
            await _require_administrator(connection)
            if (await connection.execute(statement, (who.id, which.id))).rowcount:
                await record(connection, AuditEntry(event, f"user:{who.id}", details={"group": which.id}))
        return await self.group(by, which.id)


async def _require_administrator(connection: Connection) -> None:
    if (await fetch_all(connection, "select am_administrator()")) != [(True,)]:
        raise NotAllowed("only an administrator may manage users and groups")


def _checked_name(given: str, what: str) -> str:
    """Return a name with normalised spaces; `Invalid` if it is empty, too long or has forbidden characters."""
    name = " ".join(given.split())
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable() or "," in name or ":" in name:
        raise Invalid(f"a {what} needs a name of 1 to {MAX_NAME_CHARS} printable characters, without ',' and ':'")
    return name


def _to_person(row: tuple[Any, ...]) -> Person:
    person_id, name, role, groups, suspended, documents, created = row
    return Person(person_id, name, role, tuple(groups), suspended, documents, created)


_THEIR_GROUPS = """
    array(select g.name from membership m join people_group g on g.id = m.group_id where m.person = p.id order by 1)
"""
_PEOPLE = sql.SQL("""
    select p.id, p.name, p.role, {groups}, p.suspended_at is not null, documents_of(p.id), p.created_at
    from (select * from person where removed_at is null and (select am_administrator())) p
""").format(groups=sql.SQL(_THEIR_GROUPS))
_BY_ID_OR_NAME = " where p.id = %(person)s or lower(p.name) = lower(%(person)s)"
_SUSPEND = (
    "update person set suspended_at = case when %(value)s then coalesce(suspended_at, now()) end where id = %(id)s"
)
_GROUPS = """
    select g.id, g.name, array(select m.person from membership m where m.group_id = g.id order by 1), g.created_at
    from (select * from people_group where (select am_administrator())) g
"""
