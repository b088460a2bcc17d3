"""Replicas: read when they have everything that the request must see, and left out otherwise."""

import asyncio
from collections.abc import Iterator

import pytest

from benchmarks._machines import Postgres, place
from pincite.core.accounts.access import Scope
from pincite.store.database import Database
from pincite.store.documents.library import Library

pytestmark = pytest.mark.slow
TITLES = "select title from session order by 1"
IS_REPLICA = "select pg_is_in_recovery()"


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Postgres, Postgres]]:
    """A primary with a database `library`, and its replica."""
    with place() as folder:
        primary = replica = Postgres(folder / "primary")
        try:
            primary.make()
            primary.run("create database library")
            replica = primary.replica(folder / "replica", "replica")
            yield primary, replica
        finally:
            primary.kill()
            replica.kill()


async def now(database: Database) -> Scope:
    return await Library(database, None, "s").scope("local")  # type: ignore[arg-type]


async def write(database: Database, title: str) -> None:
    async with database.transaction("local") as connection:
        await connection.execute("insert into session (id, owner, title) values (%s, 'local', %s)", (title, title))


def test_a_read_sees_all_that_was_written_before_its_scope(pair: tuple[Postgres, Postgres]) -> None:
    primary, replica = pair

    async def go() -> None:
        database = await Database.open(primary.url(), pool_size=2, read_urls=[replica.url()])
        assert database.replicas is not None
        for title in ("a", "b", "c", "d"):
            await write(database, title)
            [titles] = await database.read_batch(await now(database), TITLES, values={})
            assert titles[-1] == (title,)
        async with asyncio.timeout(60):  # it replays, and is then what is read
            while await database.read_batch(scope := await now(database), IS_REPLICA, values={}) != [[(True,)]]:
                await asyncio.sleep(0.05)
        replica.run("select pg_wal_replay_pause()")
        await write(database, "e")
        before = database.replicas.reads["behind"]
        [titles] = await database.read_batch(await now(database), TITLES, values={})
        assert titles[-1] == ("e",)
        assert database.replicas.reads["behind"] == before + 1
        assert await database.read_batch(scope, IS_REPLICA, values={}) == [[(True,)]]  # as of its own moment
        assert await database.read_batch(Scope("local", ()), IS_REPLICA, values={}) == [[(False,)]]
        replica.run("select pg_wal_replay_resume()")
        await database.close()

    asyncio.run(go())


def test_permissions_hold_on_a_replica(pair: tuple[Postgres, Postgres]) -> None:
    primary, replica = pair

    async def go() -> None:
        database = await Database.open(primary.url(), pool_size=2, read_urls=[replica.url()])
        await write(database, "secret")
        position = (await now(database)).position
        stranger = Scope("stranger", (), position=position)
        async with asyncio.timeout(60):
            while await database.read_batch(stranger, IS_REPLICA, values={}) != [[(True,)]]:
                await asyncio.sleep(0.05)
        seen = "select current_user::text, (select count(*) from session)"
        assert await database.read_batch(stranger, seen, values={}) == [[("pincite_app", 0)]]
        await database.close()

    asyncio.run(go())


def test_a_replica_that_is_gone_is_told_and_the_primary_read(pair: tuple[Postgres, Postgres]) -> None:
    primary, replica = pair

    async def go() -> None:
        database = await Database.open(primary.url(), pool_size=2, read_urls=[replica.url()])
        assert database.replicas is not None
        assert database.replicas.missing == 0
        replica.kill()
        assert await database.read_batch(await now(database), IS_REPLICA, values={}) == [[(False,)]]
        await database.replicas.check()
        assert (database.replicas.missing, database.replicas.numbers()["gone"]) == (1, 1.0)
        replica.start()
        async with asyncio.timeout(60):
            while database.replicas.missing:
                await asyncio.sleep(0.05)
        await database.close()

    asyncio.run(go())
