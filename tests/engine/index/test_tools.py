"""Index tools: built once per embedder, and closed when no longer used."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pincite.config.settings import Settings
from pincite.config.sources import load_settings
from pincite.engine.index import tools
from pincite.engine.index.tools import IndexTools, IndexToolsPool
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.store.database import Database

Opened = Callable[[], Any]


class Makers:
    """Builds embedders and records the threads; `local` ones have a process for bulk embedding."""

    def __init__(self) -> None:
        self.local = True
        self.threads: list[int] = []

    def __call__(self, settings: Settings) -> ScriptedEmbedder:
        self.threads.append(threading.get_ident())
        embedder = ScriptedEmbedder(Options())
        embedder.local = self.local
        return embedder


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Makers:
    makers = Makers()
    monkeypatch.setattr(tools, "plain_embedder", makers)
    return makers


@pytest.fixture
def opened(database_url: str) -> Opened:
    @asynccontextmanager
    async def open_pool() -> AsyncIterator[tuple[IndexToolsPool, Database]]:
        database, pool = await Database.open(database_url, pool_size=2), IndexToolsPool()
        try:
            yield pool, database
        finally:
            await pool.close()
            await database.close()

    return open_pool


def chosen(**settings: Any) -> Settings:
    named = {"embedding.provider": "scripted"} | {key.replace("__", "."): value for key, value in settings.items()}
    return load_settings(named, env={})


def test_concurrent_requests_share_tools_built_in_a_thread(opened: Opened, made: Makers) -> None:
    async def go() -> None:
        async with opened() as (pool, database):
            one, other = await asyncio.gather(*(pool.get(chosen(), database) for _ in range(2)))
            assert one is other

    asyncio.run(go())
    assert len(made.threads) == 1
    assert made.threads[0] != threading.get_ident()


@pytest.mark.parametrize("local", [True, False])
def test_changed_retry_settings_load_no_other_embedder(opened: Opened, made: Makers, local: bool) -> None:
    made.local = local

    async def go() -> tuple[IndexTools, IndexTools]:
        async with opened() as (pool, database):
            return await pool.get(chosen(), database), await pool.get(chosen(resilience__retries=1), database)

    one, other = asyncio.run(go())
    assert (one is other) is local
    assert len(made.threads) == 1


def test_only_unused_tools_are_closed(opened: Opened, made: Makers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "MIN_KEEP_S", -1.0)

    async def go() -> None:
        async with opened() as (pool, database):
            closed: list[str] = []

            async def adopt(name: str, question_s: float) -> IndexTools:
                settings = chosen(embedding__model=name, llm__question_timeout_s=question_s)
                tools = await pool.get(settings, database)

                async def close() -> None:
                    closed.append(name)

                tools.bulk_embedder.close = close  # type: ignore[method-assign]
                assert pool.adopt(settings) is tools
                return tools

            busy = await adopt("busy", 0.001)
            await adopt("asked", 100)
            await adopt("idle", 0.001)
            await adopt("in force", 0.001)
            await asyncio.sleep(0.01)
            await pool.close_unused([busy.bulk_embedder])
            assert closed == ["idle"]
            await pool.close_unused([])
            assert closed == ["idle", "busy"]
            await pool.get(chosen(embedding__model="idle"), database)
            assert len(made.threads) == 5

    asyncio.run(go())


def test_a_check_writes_and_keeps_nothing(opened: Opened, made: Makers, database_url: str) -> None:
    async def go() -> None:
        async with opened() as (pool, database):
            await pool.check(chosen(), database)
            async with database.transaction("") as connection:
                row = await (await connection.execute("select count(*) from embedding_model")).fetchone()
            assert row == (0,)
            await pool.close_unused([])
            await pool.check(chosen(), database)
            assert len(made.threads) == 2

    asyncio.run(go())
