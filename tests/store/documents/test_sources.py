"""Stored sources: private to their owner, claimed by one process at a time."""

import asyncio

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.sources import KnownItem, NewSource
from pincite.errors import NotFound
from pincite.store.database import Database
from pincite.store.documents.sources import SourceStore

MINE, THEIRS = Scope("local", ()), Scope("anna", ())
NEW = NewSource("cloud", "webdav", "https://x.example/", "cloud", {"user": "anna"}, "PINCITE_SECRET_X", 5)


def test_a_source_and_its_files_are_seen_by_their_owner_only(database_url: str) -> None:
    async def go() -> None:
        database = await Database.open(database_url, pool_size=2)
        store = SourceStore(database)
        stored = await store.add(MINE, NEW)
        await store.record(MINE, stored.id, {"a": KnownItem("1", None), "b": KnownItem("1", None)})
        await store.record(MINE, stored.id, {"a": KnownItem("2", None)})
        assert await store.items(MINE, stored.id) == {"a": KnownItem("2", None), "b": KnownItem("1", None)}
        assert await store.items(THEIRS, stored.id) == {}
        assert await store.all(THEIRS) == []
        with pytest.raises(NotFound):
            await store.get(THEIRS, "cloud")
        await store.remove(THEIRS, stored.id)
        await store.forget(MINE, stored.id, ["a"])
        assert list(await store.items(MINE, stored.id)) == ["b"]
        assert (await store.get(MINE, "cloud")).options == {"user": "anna"}
        await database.close()

    asyncio.run(go())


def test_a_claim_excludes_others_until_it_is_released_or_expires(database_url: str) -> None:
    async def go() -> None:
        database = await Database.open(database_url, pool_size=2)
        store = SourceStore(database)
        stored = await store.add(MINE, NEW)
        assert await store.due() == [(stored.id, "local")]
        assert [await store.claim(MINE, stored.id) for _ in range(2)] == [True, False]
        assert (await store.due(), (await store.get(MINE, stored.id)).state) == ([], "running")
        async with database.transaction("local") as connection:
            await connection.execute("update source set claimed_until = now() - interval '1 minute'")
        told = await store.get(MINE, stored.id)
        assert (told.state, told.error) == ("failed", "the synchronisation was interrupted")
        assert await store.claim(MINE, stored.id)
        await store.finish(MINE, stored.id, "ok", None)
        assert await store.due() == []
        await database.close()

    asyncio.run(go())
