"""What the check of a database says, before and after the SQL that it names."""

import asyncio
import secrets

import psycopg
import psycopg.conninfo

from pincite.store.operations.requirements import Requirement, check


def found(url: str, role: str) -> dict[str, Requirement]:
    return {one.name: one for one in asyncio.run(check(url, None, role))}


def test_the_named_sql_meets_every_requirement(empty_database_url: str) -> None:
    login, role = f"o_{secrets.token_hex(4)}", f"app_{secrets.token_hex(4)}"
    url = psycopg.conninfo.make_conninfo(empty_database_url, user=login, password="x")
    with psycopg.connect(empty_database_url, autocommit=True) as superuser:
        superuser.execute(f"create role {login} login password 'x'")
        try:
            before = found(url, role)
            assert {name: one.state for name, one in before.items()} == {
                "connection": "ok",
                "server": "ok",
                "pgvector": "broken",
                "role": "broken",
                "schema": "broken",
            }
            superuser.execute(f"create role {role} bypassrls")
            assert "passes by row-level security" in found(url, role)["role"].found
            superuser.execute(f"drop role {role}")
            for one in before.values():
                superuser.execute(one.remedy.encode()) if one.remedy else None
            assert all(one.state == "ok" for one in found(url, role).values())
        finally:
            superuser.execute(f"drop owned by {login}")
            superuser.execute(f"drop role {login}")
            superuser.execute(f"drop role if exists {role}")


def test_a_read_only_database_and_a_newer_schema_are_told(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as superuser:
        superuser.execute("insert into pincite.migration (number, name) values (9999, 'from the future')")
        name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
        superuser.execute(f"alter database {name} set default_transaction_read_only = on")
    told = found(database_url, "pincite_app")
    assert (told["server"].state, told["schema"].state) == ("broken", "broken")
    assert "target_session_attrs=read-write" in told["server"].remedy
    assert told["schema"].remedy == "upgrade pincite"
