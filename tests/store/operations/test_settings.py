"""Settings in the database: one writer at a time, an immutable history, notifications of changes."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from pincite.core.accounts.access import LOCAL, Caller
from pincite.store.database import Database, fetch_one
from pincite.store.migrate import migration_files
from pincite.store.operations.settings import SettingsChange, Stored, StoredSettings

Run = Callable[[Callable[[StoredSettings, Database], Any]], Any]


@pytest.fixture
def with_store(database_url: str) -> Run:
    def run(test: Callable[[StoredSettings, Database], Any]) -> Any:
        async def main() -> Any:
            database = await Database.open(database_url, pool_size=4)
            try:
                return await test(StoredSettings(database), database)
            finally:
                await database.close()

        return asyncio.run(main())

    return run


def wish(kind: Any = "set", undoes: int | None = None, **values: Any) -> Callable[[Stored], Any]:
    async def decide(stored: Stored) -> SettingsChange:
        return SettingsChange(kind, values, undoes=undoes)

    return decide


def test_settings_are_written_and_read_and_unchanged_values_are_not_written(with_store: Run) -> None:
    async def go(store: StoredSettings, _: Database) -> None:
        [change] = await store.revise(LOCAL, wish(a=5))
        assert (change.batch, change.key, change.before, change.after, change.person) == (1, "a", None, 5, "local")
        assert await store.revise(LOCAL, wish(a=5)) == ()
        assert await store.revise(LOCAL, wish(b=None)) == ()
        changes = await store.revise(LOCAL, wish(a={"x": "é"}, b=0.25, c=False, d=[]))
        assert [one.after for one in changes] == [{"x": "é"}, 0.25, False, []]
        assert await store.revise(LOCAL, wish("reset", a=None))
        stored = await store.current()
        assert (stored.revision, stored.values) == (3, {"b": 0.25, "c": False, "d": []})

    with_store(go)


def test_concurrent_changes_of_settings_are_all_stored(with_store: Run) -> None:
    async def go(store: StoredSettings, database: Database) -> None:
        other = StoredSettings(database)  # like another process: it does not share the local lock

        async def add(writer: StoredSettings) -> None:
            async def decide(stored: Stored) -> SettingsChange:
                await asyncio.sleep(0)
                return SettingsChange("set", {"n": stored.values.get("n", 0) + 1})

            await writer.revise(LOCAL, decide)

        await asyncio.gather(*(add(writer) for writer in (store, other) for _ in range(10)))
        stored = await store.current()
        assert (stored.revision, stored.values) == (20, {"n": 20})

    with_store(go)


def test_a_refused_change_writes_nothing(with_store: Run) -> None:
    async def go(store: StoredSettings, _: Database) -> None:
        async def refuse(stored: Stored) -> SettingsChange:
            raise LookupError("no")

        with pytest.raises(LookupError):
            await store.revise(LOCAL, refuse)
        assert (await store.current()).revision == 0
        await store.revise(LOCAL, wish(a=1))

    with_store(go)


def test_the_history_goes_by_batches_and_knows_what_was_undone(with_store: Run) -> None:
    async def go(store: StoredSettings, _: Database) -> None:
        for number in range(1, 4):
            await store.revise(LOCAL, wish(a=number, b=number))
        await store.revise(Caller("local", "administrator", "k1"), wish("undo", a=2, b=2, undoes=3))
        found = await store.history("local", limit=2)
        assert [(one.batch, one.kind, one.key, one.undone, one.key_id) for one in found] == [
            (4, "undo", "a", False, "k1"),
            (4, "undo", "b", False, "k1"),
            (3, "set", "a", True, None),
            (3, "set", "b", True, None),
        ]
        assert {one.batch for one in await store.history("local", limit=9, before=3)} == {1, 2}

        async def look(stored: Stored) -> SettingsChange:
            assert {one.batch for one in stored.last} == {2}
            return SettingsChange("set", {})

        await store.revise(LOCAL, look)

    with_store(go)


def test_only_administrators_write_or_see_the_history(with_store: Run, database_url: str) -> None:
    async def go(store: StoredSettings, database: Database) -> None:
        await store.revise(LOCAL, wish(a=1))
        with psycopg.connect(database_url, autocommit=True) as admin:
            admin.execute("insert into pincite.person (id, name, role) values ('rita', 'Rita', 'reader')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await store.revise(Caller("rita", "administrator"), wish(a=2))
        assert await store.history("rita", limit=9) == []
        assert (await store.current()).values == {"a": 1}
        async with database.transaction("local") as connection:
            for statement in ("delete from setting_change", "update setting_change set after = '9'"):
                assert (await connection.execute(statement)).rowcount == 0  # the history is immutable
            row = await fetch_one(connection, "select after from setting_change")
        assert row == (1,)

    with_store(go)


def test_a_migration_sets_the_embedding_model_of_existing_documents(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        everything = migration_files()
        with monkeypatch.context() as patch:
            patch.setattr("pincite.store.migrate.migration_files", lambda: everything[:1])
            await (await Database.open(empty_database_url, pool_size=2)).close()
        with psycopg.connect(empty_database_url, autocommit=True) as admin:
            admin.execute("set search_path = pincite, public")
            admin.execute("insert into embedding_model (name, dimensions) values ('old/1', 2), ('older/1', 2)")
            admin.execute(
                "insert into document (id, owner, realm, folder, name, title, status, served) values"
                " ('d', 'local', 1, '', 'n', 't', 'completed', 7), ('e', 'local', 1, '', 'm', 't', 'pending', null)"
            )
            admin.execute(
                "insert into vector (chunk, edition, realm, part, model, hash, embedding)"
                " values (1, 7, 1, 0, 2, 'h', '[1,0]')"
            )
        await (await Database.open(empty_database_url, pool_size=2)).close()
        with psycopg.connect(empty_database_url) as admin:
            assert admin.execute("select id, model from pincite.document order by id").fetchall() == [
                ("d", 2),
                ("e", None),
            ]

    asyncio.run(go())


def test_followers_are_notified_and_survive_a_lost_connection(with_store: Run, database_url: str) -> None:
    async def go(store: StoredSettings, _: Database) -> None:
        heard: asyncio.Queue[int] = asyncio.Queue()
        following = asyncio.create_task(store.follow(heard.put))

        async def hears(revision: int) -> None:
            async with asyncio.timeout(20):
                while await heard.get() != revision:
                    pass

        await hears(0)
        await store.revise(LOCAL, wish(a=1))
        await hears(1)
        with psycopg.connect(database_url, autocommit=True) as admin:
            ended = admin.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
                " and query ilike '%settings_revision%' and pid <> pg_backend_pid()"
            ).fetchall()
        assert (True,) in ended
        await hears(1)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)

    with_store(go)


@pytest.mark.slow
def test_an_unresponsive_connection_is_replaced(
    with_store: Run, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pincite.store.operations.settings.QUERY_TIMEOUT_S", 0.5)
    listening = (
        "select pid from pg_stat_activity where datname = current_database() and query like '%settings_revision()'"
    )

    async def go(store: StoredSettings, _: Database) -> None:
        heard: list[int] = []
        changed = asyncio.Event()

        async def hear(revision: int) -> None:
            heard.append(revision)
            if revision:
                changed.set()

        following = asyncio.create_task(store.follow(hear))
        while not heard:
            await asyncio.sleep(0.01)
        with psycopg.connect(database_url) as admin:
            [(pid,)] = admin.execute(listening).fetchall()
        os.kill(pid, signal.SIGSTOP)
        try:
            await store.revise(LOCAL, wish(a=5))
            await asyncio.wait_for(changed.wait(), 60)
        finally:
            os.kill(pid, signal.SIGCONT)
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    with_store(go)
