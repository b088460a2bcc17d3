"""What pincite needs in a database that others administer: the extension, the unprivileged role, and rights.

Each error names the SQL that an administrator of the server runs once.
"""

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from pincite.errors import DataFolderError

APP_ROLE = "pincite_app"
"""Default of `database.role`."""
SET_OPTION_VERSION = 160_000
"""The PostgreSQL version in which a member may lack the right to become the role."""
CREATE_EXTENSION = "create extension vector"
CREATE_ROLE = "create role {role} nologin nosuperuser nobypassrls"
GRANT_ROLE = "grant {role} to {login}"
GRANT_CREATE = "grant create on database {database} to {login}"
_Administrator = AsyncConnection[TupleRow]


async def create_extension(admin: _Administrator) -> None:
    """Create pgvector in this database, if it is missing."""
    if await _one(admin, "select exists (select from pg_extension where extname = 'vector')"):
        return
    try:
        async with admin.transaction():
            await admin.execute("create extension if not exists vector")
    except psycopg.errors.InsufficientPrivilege as error:
        raise DataFolderError(
            f"pgvector is installed on the server, but the login may not create it in this database; "
            f"{await ask_for(admin, CREATE_EXTENSION)}"
        ) from error
    except psycopg.Error as error:
        raise DataFolderError(
            f"PostgreSQL has no pgvector here ({first_line(error)}); install the extension 'vector' 0.8 or newer"
        ) from error


async def create_role(admin: _Administrator, role: str) -> None:
    """Create the unprivileged role and let the login use it, as far as either is missing."""
    if not await role_exists(admin, role):
        try:
            async with admin.transaction():
                await admin.execute(sql.SQL(CREATE_ROLE).format(role=sql.Identifier(role)))
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            pass  # another database of this server just created it
        except psycopg.errors.InsufficientPrivilege as error:
            wanted = await ask_for(admin, CREATE_ROLE, GRANT_ROLE, role=role)
            raise DataFolderError(f"the login may not create the role '{role}'; {wanted}") from error
    if await may_use(admin, role):
        return
    try:
        async with admin.transaction():
            await admin.execute(sql.SQL("grant {} to current_user").format(sql.Identifier(role)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise DataFolderError(
            f"the role '{role}' is another login's, perhaps of another library on this server; choose another name "
            f"with database.role, or {await ask_for(admin, GRANT_ROLE, role=role)}"
        ) from error


async def role_exists(admin: _Administrator, role: str) -> bool:
    """Whether the server has a role of this name."""
    return await _one(admin, "select exists (select from pg_roles where rolname = %s)", role)


async def may_use(admin: _Administrator, role: str) -> bool:
    """Whether the login may become an existing role."""
    right = "SET" if admin.info.server_version >= SET_OPTION_VERSION else "MEMBER"
    return await _one(admin, "select pg_has_role(current_user, %s, %s)", role, right)


async def ask_for(admin: _Administrator, *statements: str, role: str = "") -> str:
    """Return the sentence that asks an administrator to run these statements, with the names filled in."""
    return "an administrator of the server runs: " + "; ".join([await fill(admin, one, role) for one in statements])


async def fill(admin: _Administrator, statement: str, role: str = "") -> str:
    """Return a statement with the names of this database, this login and the role."""
    found = await (await admin.execute("select current_database(), current_user::text")).fetchone()
    assert found is not None
    names = {"role": role, "database": str(found[0]), "login": str(found[1])}
    quoted = {name: sql.Identifier(value).as_string(admin) for name, value in names.items() if value}
    return statement.format(**quoted)


async def _one(admin: _Administrator, query: str, *values: str) -> bool:
    row = await (await admin.execute(query.encode(), values)).fetchone()
    return row is not None and bool(row[0])


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, without PostgreSQL's details; its class name if there is no text."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
