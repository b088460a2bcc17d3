import asyncio

import psycopg
import psycopg.conninfo
import pytest

from pincite.errors import DataFolderError, StoreDown
from pincite.store import database as database_module
from pincite.store.database import Database, fetch_all, health
from pincite.store.migrate import migration_files


async def opened_and_closed(url: str) -> None:
    await (await Database.open(url, pool_size=2)).close()


def test_opening_twice_applies_each_migration_once(database_url: str) -> None:
    asyncio.run(opened_and_closed(database_url))
    asyncio.run(opened_and_closed(database_url))
    with psycopg.connect(database_url) as connection:
        applied = connection.execute("select number from pincite.migration order by 1").fetchall()
    assert applied == [(number,) for number, _, _ in migration_files()]


def test_several_processes_may_open_a_new_database_at_once(database_url: str) -> None:
    async def many() -> None:
        await asyncio.gather(*(opened_and_closed(database_url) for _ in range(5)))

    asyncio.run(many())
    with psycopg.connect(database_url) as connection:
        assert connection.execute("select count(*) from pincite.migration").fetchone() == (len(migration_files()),)


def test_the_application_works_as_a_role_without_privileges(database_url: str) -> None:
    async def look() -> None:
        database = await Database.open(database_url, pool_size=2)
        async with database.transaction("local") as connection:
            [(role, owns, bypasses)] = await fetch_all(
                connection,
                "select current_user,"
                " exists(select from pg_tables where schemaname = 'pincite' and tableowner = current_user),"
                " (select rolbypassrls or rolsuper from pg_roles where rolname = current_user)",
            )
        assert (role, owns, bypasses) == ("pincite_app", False, False)
        assert (await health(database, "local"))["role"] == "pincite_app"
        await database.close()

    asyncio.run(look())


def test_row_level_security_is_forced_on_every_table_with_user_data(database_url: str) -> None:
    asyncio.run(opened_and_closed(database_url))
    with psycopg.connect(database_url) as connection:
        open_tables = connection.execute(
            "select relname from pg_class where relnamespace = 'pincite'::regnamespace and relkind = 'r'"
            " and not (relrowsecurity and relforcerowsecurity) order by 1"
        ).fetchall()
    assert open_tables == [("embedding_model",), ("library",), ("migration",)]


@pytest.mark.parametrize(
    ("limit", "words"), [("lock_timeout", "locked by another operation"), ("statement_timeout", "took too long")]
)
def test_statements_have_timeouts(database_url: str, monkeypatch: pytest.MonkeyPatch, limit: str, words: str) -> None:
    monkeypatch.setattr(database_module, "TIMEOUTS", {limit: "100ms"})

    async def wait() -> None:
        database = await Database.open(database_url, pool_size=2)
        with psycopg.connect(database_url) as other:
            other.execute("lock table pincite.session")
            with pytest.raises(StoreDown, match=words):
                async with database.transaction("local") as connection:
                    await connection.execute("select * from session")
        async with database.transaction("local") as connection:  # the connection still works
            assert await fetch_all(connection, "select count(*) from session") == [(0,)]
        await database.close()

    asyncio.run(wait())


def test_a_connection_reaches_who_waits_for_it_although_its_last_user_is_cancelled(database_url: str) -> None:
    async def race() -> None:
        database = await Database.open(database_url, pool_size=2)
        ready, leave = asyncio.Semaphore(0), asyncio.Event()

        async def use() -> None:
            async with database.transaction("local") as connection:
                await connection.execute("commit")  # so that nothing is sent when the connection is given back
                ready.release()
                await leave.wait()

        users = [asyncio.create_task(use()) for _ in range(2)]
        for _ in users:
            await ready.acquire()
        waiting = [asyncio.create_task(database.library_id()) for _ in range(2)]  # begin in the next turn of the loop
        leave.set()  # in which the connections are given back, too
        await asyncio.sleep(0)
        for user in users:
            user.cancel()
        async with asyncio.timeout(5):
            first, second = await asyncio.gather(*waiting)
        assert first == second
        await asyncio.gather(*users, return_exceptions=True)
        assert database.connections()["open"] == database.connections()["idle"] == 2
        await database.close()

    asyncio.run(race())


@pytest.mark.parametrize("turns", range(8))
def test_who_is_cancelled_while_a_connection_arrives_does_not_go_on(database_url: str, turns: int) -> None:
    async def race() -> None:
        database = await Database.open(database_url, pool_size=2)
        ready, leave, reached = asyncio.Semaphore(0), asyncio.Event(), asyncio.Event()

        async def use() -> None:
            async with database.transaction("local") as connection:
                await connection.execute("commit")
                ready.release()
                await leave.wait()

        async def wait() -> None:
            await database.library_id()
            reached.set()
            await asyncio.sleep(60)

        users = [asyncio.create_task(use()) for _ in range(2)]
        for _ in users:
            await ready.acquire()
        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0.05)
        leave.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting}, timeout=2)
        assert waiting.cancelled()
        assert not reached.is_set()
        await asyncio.gather(*users)
        await database.close()

    asyncio.run(race())


def test_without_a_person_no_rows_are_visible(database_url: str) -> None:
    async def look() -> None:
        database = await Database.open(database_url, pool_size=2)
        for person in ("", "stranger"):
            async with database.transaction(person) as connection:
                assert await fetch_all(connection, "select * from realm") == []
        await database.close()

    asyncio.run(look())


def test_person_role_and_path_are_set_for_one_transaction_only(database_url: str) -> None:
    """Between transactions a connection has no role, path or person: it finds no table, and loses nothing by it."""
    seen = "select current_user, current_setting('search_path'), current_setting('pincite.person', true)"

    async def look() -> None:
        database = await Database.open(database_url, pool_size=2)
        async with database.transaction("local") as connection:
            assert await fetch_all(connection, "select * from realm")
            assert await fetch_all(connection, seen) == [("pincite_app", "pincite, public", "local")]
        [inside] = await database.run_batch("local", seen, values={})
        assert inside == [("pincite_app", "pincite, public", "local")]
        async with database._pool.connection() as connection:
            with pytest.raises(psycopg.errors.UndefinedTable):
                await connection.execute("select * from realm")
            assert await fetch_all(connection, seen) in ([("pincite_app", "", "")], [("pincite_app", "", None)])
            for table in ("realm", "document", "chunk", "session"):  # without a person there is nothing to see
                assert await fetch_all(connection, f"select * from pincite.{table}") == []
        await database.close()

    asyncio.run(look())


def test_a_batch_of_statements_is_one_transaction_of_one_person(database_url: str) -> None:
    owned, settings = "select owner from realm", "select current_setting('work_mem'), current_setting('pincite.person')"

    async def look() -> None:
        database = await Database.open(database_url, pool_size=2)
        person = "50%% (of %(a)s) 'quoted' \\"
        for who, found in (("local", [("local",)]), (person, []), ("", [])):
            seen, set_to = await database.run_batch(who, owned, settings, values={}, local={"work_mem": "7MB"})
            assert (seen, set_to) == (found, [("7MB", who)])
        [again] = await database.run_batch("local", "select %(a)s::int[], %(b)s", values={"a": [1, 2], "b": "%s"})
        assert again == [([1, 2], "%s")]
        with pytest.raises(psycopg.errors.DivisionByZero):
            await database.run_batch(
                "local",
                "insert into session (id, owner) values ('s', 'local')",
                "select 1 / %(zero)s",
                values={"zero": 0},
            )
        assert await database.run_batch("local", "select count(*) from session", values={}) == [[(0,)]]
        [nothing] = await database.run_batch(
            "local", "insert into session (id, owner) values ('s', 'local')", values={}, durable=False
        )
        assert nothing == []
        async with database._pool.connection() as connection:  # nothing of it remains
            assert await fetch_all(connection, settings) != [("7MB", "local")]
        await database.close()

    asyncio.run(look())


def test_a_newer_schema_is_refused(database_url: str) -> None:
    asyncio.run(opened_and_closed(database_url))
    with psycopg.connect(database_url) as connection:
        connection.execute("insert into pincite.migration (number, name) values (9999, 'from the future')")
    with pytest.raises(DataFolderError, match="written by a newer pincite"):
        asyncio.run(opened_and_closed(database_url))


def test_a_foreign_schema_is_refused(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("create schema pincite")
        connection.execute("create table pincite.theirs (x int)")
    with pytest.raises(DataFolderError, match="of another application"):
        asyncio.run(opened_and_closed(empty_database_url))


def test_an_administrator_need_not_be_a_superuser(postgres: str, empty_database_url: str) -> None:
    """A hosted server gives only the owner of a database, no superuser; keys and jobs must work there, too."""
    from pincite.core.accounts.access import Caller
    from pincite.store.access.api_keys import ApiKeys

    name = psycopg.conninfo.conninfo_to_dict(empty_database_url)["dbname"]
    role = f"owner_{name}"
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute("create extension vector")
        connection.execute(f"create role {role} login createrole password 'x'")
        connection.execute(f"grant pincite_app to {role} with admin option, set true") if connection.execute(
            "select 1 from pg_roles where rolname = 'pincite_app'"
        ).fetchone() else None
        connection.execute(f"alter database {name} owner to {role}")
    url = psycopg.conninfo.make_conninfo(empty_database_url, user=role, password="x")

    async def use() -> Caller:
        database = await Database.open(url, pool_size=2)
        keys = ApiKeys(database)
        key, _ = await keys.create("local", "k", "reader", None)
        caller = await keys.recognise(key)
        await database.close()
        return caller

    try:
        assert asyncio.run(use()).role == "reader"
    finally:
        with psycopg.connect(empty_database_url, autocommit=True) as connection:
            connection.execute(f"reassign owned by {role} to current_user")
            connection.execute(f"drop owned by {role}")
            connection.execute(f"drop role {role}")


def test_an_unreachable_server_is_reported() -> None:
    with pytest.raises(StoreDown, match="cannot be reached"):
        asyncio.run(opened_and_closed("postgresql://nobody@/nothing?host=/nonexistent"))


def test_a_conflict_or_a_full_disk_does_not_restart_the_server(database_url: str) -> None:
    restarted = []

    async def restart() -> None:
        restarted.append(1)

    async def go() -> None:
        database = await Database.open(database_url, pool_size=2, restart=restart)
        for error, kind in (
            (psycopg.errors.DeadlockDetected("x"), StoreDown),
            (psycopg.errors.DiskFull("x"), DataFolderError),
            (psycopg.errors.QueryCanceled("x"), StoreDown),
        ):
            with pytest.raises(kind):
                async with database.transaction("local"):
                    raise error
        await database.close()
        with pytest.raises(StoreDown):
            async with database.transaction("local"):
                pytest.fail("it is closed")

    asyncio.run(go())
    assert restarted == []


@pytest.mark.parametrize("url", ["mysql://u:canary@127.0.0.1/x", "postgresql://u:canary@[::1/x", "canary"])
def test_an_invalid_address_is_refused_without_repeating_the_password(url: str) -> None:
    from pincite.errors import SettingsError

    with pytest.raises(SettingsError, match="write it like postgresql://") as raised:
        asyncio.run(opened_and_closed(url))
    assert "canary" not in str(raised.value)
