"""pgbouncer between pincite and PostgreSQL."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from benchmarks._machines import Bouncer, PoolMode, Postgres, place
from pincite import AsyncPincite
from pincite.core.accounts.access import LOCAL
from pincite.errors import SettingsError
from pincite.store.database import Database, fetch_all
from tests.conftest import NO_POOLER

needs_pgbouncer = pytest.mark.skipif(Bouncer.missing(), reason=NO_POOLER)


@contextmanager
def bouncer(server: Postgres, mode: PoolMode, size: int = 4) -> Iterator[str]:
    with place() as folder:
        pooler = Bouncer(folder / "pooler")
        pooler.start(server, mode, size=size)
        try:
            yield pooler.url()
        finally:
            pooler.kill()


@needs_pgbouncer
def test_role_path_and_person_hold_behind_transaction_pooling(server: Postgres) -> None:
    """Many people at once share two connections of the server, and each transaction has its own role and person."""
    seen = "select current_user, current_setting('search_path'), current_setting('pincite.person'), pg_backend_pid()"

    async def one(database: Database, number: int) -> int:
        person = f"p{number}"
        async with database.transaction(person) as connection:
            [(role, path, whose, server_process)] = await fetch_all(connection, seen)
        [[batch]] = await database.run_batch(person, seen, values={})
        assert (role, path, whose) == batch[:3] == ("pincite_app", "pincite, public", person)
        return int(server_process)

    async def go(url: str) -> None:
        database = await Database.open(url, pool_size=8)
        used = {process for _ in range(5) for process in await asyncio.gather(*(one(database, n) for n in range(16)))}
        assert len(used) <= 2
        assert not database.can_listen
        with pytest.raises(SettingsError, match="direct_url"):
            async with database.administrator():
                pass
        await database.close()

    with bouncer(server, "transaction", size=2) as url:
        asyncio.run(go(url))
        with psycopg.connect(url) as bare:  # nothing of it stayed at the server's connections
            assert bare.execute("select current_user").fetchone() == ("postgres",)


@needs_pgbouncer
def test_documents_are_added_found_and_settings_followed_behind_transaction_pooling(
    server: Postgres, tmp_path: Path
) -> None:
    async def go(url: str) -> None:
        options = {"database.url": url, "database.direct_url": server.url(), "embedding.provider": "scripted"}
        async with (
            AsyncPincite(data=tmp_path / "a", settings=options) as here,
            AsyncPincite(data=tmp_path / "b", settings=options) as there,
        ):
            file = tmp_path / "cat.md"
            file.write_text("The cat is fed at half past six.")
            await here.add(file)
            found = [await there.search("When is the cat fed?") for _ in range(12)]
            assert all("half past six" in one.hits[0].chunk.text for one in found)
            await here.admin.settings.set({"rag.top_k": 3}, LOCAL)
            async with asyncio.timeout(30):
                while there.settings.rag.top_k != 3:
                    await asyncio.sleep(0.05)

    with bouncer(server, "transaction") as url:
        asyncio.run(go(url))


@needs_pgbouncer
def test_statement_pooling_is_refused_with_the_reason(server: Postgres) -> None:
    with (
        bouncer(server, "statement") as url,
        pytest.raises(SettingsError, match=r"another connection .*set pool_mode = transaction"),
    ):
        asyncio.run(Database.open(url, pool_size=2))
