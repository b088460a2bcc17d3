import asyncio
from typing import Any

import numpy as np

from pincite.core.documents.document import Parsed
from pincite.core.query.question import Filters
from pincite.store.database import fetch_all
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.search import packed_postings
from pincite.store.search.bm25 import POSTING
from pincite.store.search.packed_postings import PackedPostings
from tests.store.search.test_postgres_index import bm25, keys_of, texts

ALL = Filters()


async def held(store: Any) -> set[int]:
    """Return the keys of all packed chunks."""
    async with store.database.transaction("local") as connection:
        found = await fetch_all(connection, "select postings from packed")
    return {int(key) for (postings,) in found for key in np.frombuffer(postings, POSTING)["chunk"]}


async def ranges(store: Any) -> list[tuple[int, int, str]]:
    async with store.database.transaction("local") as connection:
        return await fetch_all(connection, "select first, last, state from pack order by first")


async def agrees(store: Any, *, seed: int = 99) -> None:
    """Fail unless lexical search is BM25 over exactly the served chunks."""
    scope = await store.scope()
    async with store.database.transaction("local") as connection:
        served = "select c.key, c.text from chunk c join document d on d.served = c.edition where c.level = 2"
        corpus: dict[int, str] = dict(await fetch_all(connection, served))
    for query in texts(10, seed=seed):
        found = await store.index.lexical(query, scope=scope, filters=ALL, limit=10)
        assert [match.key for match in found] == (bm25(query, corpus) if corpus else [])


def test_search_by_words_is_the_same_with_packs_whatever_comes_and_goes(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, making = await store.scope(), PackedPostings(store.database, least=1)
        ids = {n: await store.put(f"{n}.md", *texts(8, seed=n)) for n in range(12)}
        assert await making.make() == 96
        await agrees(store)
        await store.put("new.md", *texts(8, seed=50))
        await agrees(store)
        await store.put("3.md", *texts(5, seed=51))  # replaced, with its first version not removed yet
        await agrees(store)
        await store.indexing.clear_abandoned()
        await agrees(store)
        await store.removal.remove(scope, ids[7])
        await agrees(store)
        assert await making.make() > 0
        await agrees(store)
        for document in list(ids.values())[:6]:
            await store.removal.remove(scope, document)
            await agrees(store)
        while await making.make():
            pass
        await agrees(store)
        assert await held(store) == set((await keys_of(store)).values())

    with_store(test)


def test_a_filtered_search_finds_packed_documents(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        inside = await store.put("a.md", "green leaves", folder="in")
        await store.put("b.md", "green grass")
        before = await store.index.lexical("green", scope=scope, filters=Filters(document_ids=(inside,)), limit=5)
        assert await PackedPostings(store.database, least=1).make() == 2
        assert len(before) == 1
        for filters in (Filters(document_ids=(inside,)), Filters(folder="in")):
            assert await store.index.lexical("green", scope=scope, filters=filters, limit=5) == before

    with_store(test)


def test_a_removed_document_is_removed_from_its_pack(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = [await store.put(f"{n}.md", *texts(4, seed=n)) for n in range(20)]
        await PackedPostings(store.database, least=1).make()
        before = await held(store)
        await store.removal.remove(await store.scope(), ids[4])
        assert len(before) - len(await held(store)) == 4
        assert await held(store) == set((await keys_of(store)).values())
        assert len(await ranges(store)) == 1

    with_store(test)


def test_a_pack_with_too_many_removed_chunks_is_deleted_and_packed_again(with_store: Any) -> None:
    async def test(store: Any) -> None:
        making = PackedPostings(store.database, least=1)
        ids = [await store.put(f"{n}.md", *texts(4, seed=n)) for n in range(4)]
        await making.make()
        await store.removal.remove(await store.scope(), ids[1])
        assert (await ranges(store), await held(store)) == ([], set())
        await agrees(store)
        assert await making.make() == 12
        await agrees(store)

    with_store(test)


def test_too_few_chunks_are_not_packed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", *texts(4))
        assert await PackedPostings(store.database, least=5).make() == 0
        await store.put("b.md", *texts(1, seed=7))
        assert await PackedPostings(store.database, least=5).make() == 5
        assert await PackedPostings(store.database, least=5).make() == 0

    with_store(test)


def test_a_pack_ends_before_what_is_still_being_written(with_store: Any) -> None:
    async def test(store: Any) -> None:
        making = PackedPostings(store.database, least=1)
        await store.put("a.md", "green leaves")
        await store.accept("slow.md", "green grass")
        job = await store.jobs.claim("slow", 60)
        slow = await store.indexing.begin(await store.indexing.target(job))
        await store.put("b.md", "green sea")
        assert await making.make() == 1
        assert [last < slow.key for _, last, _ in await ranges(store)] == [True]
        await store.indexing.serve(slow, ParsedVersion(Parsed("green grass", "markdown")))
        assert await making.make() == 1  # the slow document has no chunks
        assert max(last for _, last, _ in await ranges(store)) > slow.key
        scope = await store.scope()
        assert len(await store.index.lexical("green", scope=scope, filters=ALL, limit=5)) == 2

    with_store(test)


def test_a_document_removed_while_it_is_packed_invalidates_the_pack(with_store: Any) -> None:
    async def test(store: Any) -> None:
        making = PackedPostings(store.database, least=1)
        ids = [await store.put(f"{n}.md", *texts(4, seed=n)) for n in range(3)]
        number = await making._begin("local")
        assert number is not None
        await agrees(store)  # an unfinished pack is not searched
        await store.removal.remove(await store.scope(), ids[0])
        assert await making._fill("local", number) == 0
        assert await held(store) == set()
        assert await making.make() == 8
        await agrees(store)

    with_store(test)


def test_no_pack_is_begun_while_a_document_is_being_removed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", *texts(4))
        async with store.database.transaction("local") as connection:
            await connection.execute("select from edition for update")  # as a removal begins, after it looked for packs
            assert await PackedPostings(store.database, least=1).make() == 0
        assert await PackedPostings(store.database, least=1).make() == 4

    with_store(test)


def test_an_unfinished_pack_of_a_dead_process_is_begun_again(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", *texts(4))
        assert await PackedPostings(store.database, least=1)._begin("local") is not None
        assert await PackedPostings(store.database, least=1).make() == 4
        assert [state for *_, state in await ranges(store)] == ["ready"]

    with_store(test)


def test_several_may_pack_add_remove_and_search_at_once(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        ids = [await store.put(f"{n}.md", *texts(4, seed=n)) for n in range(12)]

        async def pack() -> None:
            for _ in range(6):
                await PackedPostings(store.database, least=4).make()

        async def come_and_go() -> None:
            for n, document in enumerate(ids[:6]):
                await store.removal.remove(scope, document)
                await store.put(f"new{n}.md", *texts(4, seed=100 + n))

        async def search() -> None:
            for query in texts(20, seed=5):
                await store.index.lexical(query, scope=scope, filters=ALL, limit=10)

        await asyncio.gather(pack(), come_and_go(), search())
        await agrees(store)
        await PackedPostings(store.database, least=1).make()
        await agrees(store)
        assert await held(store) <= set((await keys_of(store)).values())

    with_store(test)


def test_a_pack_respects_its_limit_except_for_one_large_document(with_store: Any, monkeypatch: Any) -> None:
    async def test(store: Any) -> None:
        monkeypatch.setattr(packed_postings, "MAX_CHUNKS", 6)
        for n in range(4):
            await store.put(f"{n}.md", *texts(9 if n == 2 else 3, seed=n))
        assert await PackedPostings(store.database, least=1).make() == 18
        async with store.database.transaction("local") as connection:
            assert await fetch_all(connection, "select chunks from pack order by first") == [(6,), (9,), (3,)]
        await agrees(store)

    with_store(test)


def test_packs_of_others_are_not_visible(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "secret words")
        await PackedPostings(store.database, least=1).make()
        for table in ("pack", "packed", "corpus"):
            async with store.database.transaction("somebody") as connection:
                assert await (await connection.execute(f"select count(*) from {table}")).fetchone() == (0,)
            async with store.database.transaction("local") as connection:
                assert await (await connection.execute(f"select count(*) from {table}")).fetchone() != (0,)

    with_store(test)
