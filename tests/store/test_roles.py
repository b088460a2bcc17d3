"""Least privilege: a login that owns nothing but its database, and what it is told where a right is missing."""

import asyncio
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import psycopg.conninfo
import pytest
from psycopg import Connection

from pincite.errors import DataFolderError
from pincite.store.database import Database, fetch_all


@dataclass(frozen=True)
class Owner:
    """A login that owns an empty database, and the superuser's connection there."""

    url: str
    login: str
    role: str
    superuser: Connection

    def open(self) -> None:
        async def go() -> None:
            await (await Database.open(self.url, pool_size=2, role=self.role)).close()

        asyncio.run(go())


@pytest.fixture
def owner(empty_database_url: str) -> Iterator[Owner]:
    login, role = f"o_{secrets.token_hex(4)}", f"app_{secrets.token_hex(4)}"
    url = psycopg.conninfo.make_conninfo(empty_database_url, user=login, password="x")
    with psycopg.connect(empty_database_url, autocommit=True) as superuser:
        superuser.execute(f"create role {login} login password 'x'")
        superuser.execute(f"alter database {superuser.info.dbname} owner to {login}")
        try:
            yield Owner(url, login, role, superuser)
        finally:
            superuser.execute(f"reassign owned by {login} to current_user")
            superuser.execute(f"drop owned by {login}")
            if superuser.execute("select from pg_roles where rolname = %s", (role,)).fetchone():
                superuser.execute(f"drop owned by {role}")
                superuser.execute(f"drop role {role}")
            superuser.execute(f"drop role {login}")


def test_each_missing_right_is_named_with_its_sql_until_the_library_opens(owner: Owner) -> None:
    for wanted in (
        "create extension vector",
        f'create role "{owner.role}" nologin nosuperuser nobypassrls; grant "{owner.role}" to "{owner.login}"',
    ):
        with pytest.raises(DataFolderError) as told:
            owner.open()
        assert str(told.value).endswith(f"an administrator of the server runs: {wanted}")
        owner.superuser.execute(wanted.encode())
    owner.open()  # no right to create roles was needed


def test_a_role_of_another_library_is_not_used(owner: Owner) -> None:
    owner.superuser.execute("create extension vector")
    owner.superuser.execute(f"create role {owner.role}")
    owner.superuser.execute(f"alter role {owner.login} createrole")
    with pytest.raises(DataFolderError, match="choose another name with") as told:
        owner.open()
    assert f'grant "{owner.role}" to "{owner.login}"' in str(told.value)


def test_an_owner_who_may_create_roles_needs_only_the_extension(owner: Owner) -> None:
    owner.superuser.execute("create extension vector")
    owner.superuser.execute(f"alter role {owner.login} createrole")
    owner.open()
    owner.superuser.execute(f"alter role {owner.login} nocreaterole")
    owner.open()


def test_the_owners_connection_without_role_and_person_finds_nothing(owner: Owner) -> None:
    """Behind a pooler a connection begins as the login: row-level security binds the owner of the tables, too."""
    owner.superuser.execute("create extension vector")
    owner.superuser.execute(f"alter role {owner.login} createrole")

    async def fill() -> None:
        database = await Database.open(owner.url, pool_size=2, role=owner.role)
        async with database.transaction("local") as connection:
            await connection.execute("insert into session (id, owner, title) values ('s', 'local', 'Cats')")
        async with database.transaction("local") as connection:
            assert await fetch_all(connection, "select title from session") == [("Cats",)]
        await database.close()

    asyncio.run(fill())
    with psycopg.connect(owner.url) as bare:
        for table in ("session", "document", "version", "chunk", "posting"):
            assert bare.execute(f"select * from pincite.{table}").fetchall() == []
