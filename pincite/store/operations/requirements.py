"""What a database must have for pincite, checked without changing it, with the SQL that gives what is missing."""

from dataclasses import dataclass
from typing import Literal

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from pincite.store.connect import administrator_of, check_pooler
from pincite.store.database import fetch_one
from pincite.store.migrate import migration_files
from pincite.store.roles import (
    CREATE_EXTENSION,
    CREATE_ROLE,
    GRANT_CREATE,
    GRANT_ROLE,
    fill,
    may_use,
    role_exists,
)

MIN_SERVER_VERSION = 150_000
"""PostgreSQL's oldest version that pincite is tried with."""
State = Literal["ok", "note", "broken"]
_Administrator = AsyncConnection[TupleRow]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement: its state, what was found, and the SQL or setting that meets it."""

    name: str
    state: State
    found: str
    remedy: str = ""


async def check(url: str, direct_url: str | None, role: str) -> list[Requirement]:
    """Return every requirement and its state; raise if the database cannot be reached or its pooler cannot be used."""
    behind_pooler = await check_pooler(url)
    async with administrator_of(direct_url or url) as admin:
        return [
            _pooler(behind_pooler, direct_url is not None),
            await _server(admin),
            await _extension(admin),
            await _role(admin, role),
            await _schema(admin),
        ]


def _pooler(found: bool, direct: bool) -> Requirement:
    if not found:
        return Requirement("connection", "ok", "no pooler is in between")
    if direct:
        return Requirement("connection", "ok", "a pooler is in between; notifications use database.direct_url")
    return Requirement(
        "connection",
        "note",
        "a pooler is in between: changed settings are read twice a second, backup and purge are refused",
        "set database.direct_url to the address of PostgreSQL itself",
    )


async def _server(admin: _Administrator) -> Requirement:
    row = await fetch_one(
        admin,
        "select current_setting('server_version'), current_setting('server_version_num')::int, pg_is_in_recovery(),"
        " current_setting('default_transaction_read_only')::bool, current_setting('synchronous_standby_names') <> ''",
    )
    assert row is not None
    version, number, replica, read_only, synchronous = row
    if number < MIN_SERVER_VERSION:
        return Requirement("server", "broken", f"PostgreSQL {version}", "use PostgreSQL 15 or newer")
    if replica or read_only:
        remedy = "name all hosts in database.url, with target_session_attrs=read-write"
        return Requirement("server", "broken", f"PostgreSQL {version}, read-only{' replica' * replica}", remedy)
    commits = "commits wait for a replica" if synchronous else "commits wait for no replica: a failover may lose some"
    return Requirement("server", "ok", f"PostgreSQL {version}; {commits}")


async def _extension(admin: _Administrator) -> Requirement:
    row = await fetch_one(
        admin,
        "select (select extversion from pg_extension where extname = 'vector'),"
        " (select default_version from pg_available_extensions where name = 'vector')",
    )
    assert row is not None
    if row[0] is not None:
        return Requirement("pgvector", "ok", f"version {row[0]}")
    if row[1] is not None:
        return Requirement("pgvector", "broken", "not created in this database", CREATE_EXTENSION)
    return Requirement("pgvector", "broken", "not installed on the server", "install the package of pgvector there")


async def _role(admin: _Administrator, role: str) -> Requirement:
    if not await role_exists(admin, role):
        wanted = [await fill(admin, one, role) for one in (CREATE_ROLE, GRANT_ROLE)]
        return Requirement("role", "broken", f"there is no role '{role}'", "; ".join(wanted))
    row = await fetch_one(admin, "select rolsuper, rolbypassrls, rolcanlogin from pg_roles where rolname = %s", (role,))
    assert row is not None
    if row[0] or row[1]:
        wanted = [await fill(admin, "alter role {role} nosuperuser nobypassrls", role)]
        return Requirement("role", "broken", f"'{role}' passes by row-level security", "; ".join(wanted))
    if not await may_use(admin, role):
        return Requirement("role", "broken", f"the login may not use '{role}'", await fill(admin, GRANT_ROLE, role))
    return Requirement("role", "ok", f"'{role}' has no privileges, and the login may use it")


async def _schema(admin: _Administrator) -> Requirement:
    row = await fetch_one(
        admin,
        "select to_regclass('pincite.migration') is not null, to_regnamespace('pincite') is not null,"
        " has_database_privilege(current_database(), 'create')",
    )
    assert row is not None
    has_table, has_schema, may_create = row
    newest = migration_files()[-1][0]
    if not has_table:
        if has_schema:
            return Requirement("schema", "broken", "'pincite' is another application's", "use another database")
        if not may_create:
            return Requirement("schema", "broken", "the login may not create it", await fill(admin, GRANT_CREATE))
        return Requirement("schema", "ok", f"none yet; the first start creates version {newest}")
    found = await fetch_one(admin, "select max(number) from pincite.migration")
    number = int(found[0] or 0) if found else 0
    if number > newest:
        return Requirement("schema", "broken", f"version {number}, this pincite knows {newest}", "upgrade pincite")
    later = "" if number == newest else f"; the next start migrates it to {newest}"
    return Requirement("schema", "ok", f"version {number}{later}")
