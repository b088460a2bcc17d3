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


async def held(shelf: Any) -> set[int]:
    """Every chunk that some pack knows of."""
    async with shelf.database.transaction("local") as connection:
        found = await fetch_all(connection, "select postings from packed")
    return {int(key) for (postings,) in found for key in np.frombuffer(postings, POSTING)["chunk"]}


async def ranges(shelf: Any) -> list[tuple[int, int, str]]:
    async with shelf.database.transaction("local") as connection:
        return await fetch_all(connection, "select first, last, state from pack order by first")


async def agrees(shelf: Any, *, seed: int = 99) -> None:
    """Fail unless search by words is BM25 over exactly what is served."""
    scope = await shelf.scope()
    async with shelf.database.transaction("local") as connection:
        served = "select c.key, c.text from chunk c join document d on d.served = c.edition where c.level = 2"
        corpus: dict[int, str] = dict(await fetch_all(connection, served))
    for query in texts(10, seed=seed):
        found = await shelf.index.lexical(query, scope=scope, filters=ALL, limit=10)
        assert [match.key for match in found] == (bm25(query, corpus) if corpus else [])


def test_search_by_words_is_the_same_with_packs_whatever_comes_and_goes(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, making = await shelf.scope(), PackedPostings(shelf.database, least=1)
        ids = {n: await shelf.put(f"{n}.md", *texts(8, seed=n)) for n in range(12)}
        assert await making.make() == 96
        await agrees(shelf)
        await shelf.put("new.md", *texts(8, seed=50))
        await agrees(shelf)
        await shelf.put("3.md", *texts(5, seed=51))  # replaced, and its first version not cleared yet
        await agrees(shelf)
        await shelf.indexing.clear_abandoned()
        await agrees(shelf)
        await shelf.removal.remove(scope, ids[7])
        await agrees(shelf)
        assert await making.make() > 0
        await agrees(shelf)
        for document in list(ids.values())[:6]:
            await shelf.removal.remove(scope, document)
            await agrees(shelf)
        while await making.make():
            pass
        await agrees(shelf)
        assert await held(shelf) == set((await keys_of(shelf)).values())

    with_shelf(test)


def test_a_filter_looks_into_what_is_packed_as_well(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        inside = await shelf.put("a.md", "green leaves", folder="in")
        await shelf.put("b.md", "green grass")
        before = await shelf.index.lexical("green", scope=scope, filters=Filters(document_ids=(inside,)), limit=5)
        assert await PackedPostings(shelf.database, least=1).make() == 2
        assert len(before) == 1
        for filters in (Filters(document_ids=(inside,)), Filters(folder="in")):
            assert await shelf.index.lexical("green", scope=scope, filters=filters, limit=5) == before

    with_shelf(test)


def test_nothing_of_a_removed_document_stays_in_a_pack(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        ids = [await shelf.put(f"{n}.md", *texts(4, seed=n)) for n in range(20)]
        await PackedPostings(shelf.database, least=1).make()
        before = await held(shelf)
        await shelf.removal.remove(await shelf.scope(), ids[4])
        assert len(before) - len(await held(shelf)) == 4
        assert await held(shelf) == set((await keys_of(shelf)).values())
        assert len(await ranges(shelf)) == 1

    with_shelf(test)


def test_a_pack_that_lost_too_much_is_thrown_away_and_its_rest_packed_anew(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        making = PackedPostings(shelf.database, least=1)
        ids = [await shelf.put(f"{n}.md", *texts(4, seed=n)) for n in range(4)]
        await making.make()
        await shelf.removal.remove(await shelf.scope(), ids[1])
        assert (await ranges(shelf), await held(shelf)) == ([], set())
        await agrees(shelf)
        assert await making.make() == 12
        await agrees(shelf)

    with_shelf(test)


def test_too_little_is_not_packed(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", *texts(4))
        assert await PackedPostings(shelf.database, least=5).make() == 0
        await shelf.put("b.md", *texts(1, seed=7))
        assert await PackedPostings(shelf.database, least=5).make() == 5
        assert await PackedPostings(shelf.database, least=5).make() == 0

    with_shelf(test)


def test_a_pack_ends_before_what_is_still_being_written(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        making = PackedPostings(shelf.database, least=1)
        await shelf.put("a.md", "green leaves")
        await shelf.accept("slow.md", "green grass")
        job = await shelf.jobs.claim("slow", 60)
        slow = await shelf.indexing.begin(await shelf.indexing.target(job))
        await shelf.put("b.md", "green sea")
        assert await making.make() == 1
        assert [last < slow.key for _, last, _ in await ranges(shelf)] == [True]
        await shelf.indexing.serve(slow, ParsedVersion(Parsed("green grass", "markdown")))
        assert await making.make() == 1  # the slow one has no passages
        assert max(last for _, last, _ in await ranges(shelf)) > slow.key
        scope = await shelf.scope()
        assert len(await shelf.index.lexical("green", scope=scope, filters=ALL, limit=5)) == 2

    with_shelf(test)


def test_a_document_that_goes_while_it_is_packed_spoils_the_pack(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        making = PackedPostings(shelf.database, least=1)
        ids = [await shelf.put(f"{n}.md", *texts(4, seed=n)) for n in range(3)]
        number = await making._begin("local")
        assert number is not None
        await agrees(shelf)  # one that is being made is nobody's to find in
        await shelf.removal.remove(await shelf.scope(), ids[0])
        assert await making._fill("local", number) == 0
        assert await held(shelf) == set()
        assert await making.make() == 8
        await agrees(shelf)

    with_shelf(test)


def test_no_pack_is_begun_while_somebody_is_taking_a_document_away(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", *texts(4))
        async with shelf.database.transaction("local") as connection:
            await connection.execute(
                "select from edition for update"
            )  # as removing begins; it looked for packs already
            assert await PackedPostings(shelf.database, least=1).make() == 0
        assert await PackedPostings(shelf.database, least=1).make() == 4

    with_shelf(test)


def test_what_a_packer_left_who_died_is_begun_anew(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", *texts(4))
        assert await PackedPostings(shelf.database, least=1)._begin("local") is not None
        assert await PackedPostings(shelf.database, least=1).make() == 4
        assert [state for *_, state in await ranges(shelf)] == ["ready"]

    with_shelf(test)


def test_several_may_pack_add_remove_and_search_at_once(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        ids = [await shelf.put(f"{n}.md", *texts(4, seed=n)) for n in range(12)]

        async def pack() -> None:
            for _ in range(6):
                await PackedPostings(shelf.database, least=4).make()

        async def come_and_go() -> None:
            for n, document in enumerate(ids[:6]):
                await shelf.removal.remove(scope, document)
                await shelf.put(f"new{n}.md", *texts(4, seed=100 + n))

        async def search() -> None:
            for query in texts(20, seed=5):
                await shelf.index.lexical(query, scope=scope, filters=ALL, limit=10)

        await asyncio.gather(pack(), come_and_go(), search())
        await agrees(shelf)
        await PackedPostings(shelf.database, least=1).make()
        await agrees(shelf)
        assert await held(shelf) <= set((await keys_of(shelf)).values())

    with_shelf(test)


def test_a_pack_holds_no_more_than_it_may_but_for_one_large_document(with_shelf: Any, monkeypatch: Any) -> None:
    async def test(shelf: Any) -> None:
        monkeypatch.setattr(packed_postings, "MAX_CHUNKS", 6)
        for n in range(4):
            await shelf.put(f"{n}.md", *texts(9 if n == 2 else 3, seed=n))
        assert await PackedPostings(shelf.database, least=1).make() == 18
        async with shelf.database.transaction("local") as connection:
            assert await fetch_all(connection, "select chunks from pack order by first") == [(6,), (9,), (3,)]
        await agrees(shelf)

    with_shelf(test)


def test_nobody_sees_what_others_have_packed(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", "secret words")
        await PackedPostings(shelf.database, least=1).make()
        for table in ("pack", "packed", "corpus"):
            async with shelf.database.transaction("somebody") as connection:
                assert await (await connection.execute(f"select count(*) from {table}")).fetchone() == (0,)
            async with shelf.database.transaction("local") as connection:
                assert await (await connection.execute(f"select count(*) from {table}")).fetchone() != (0,)

    with_shelf(test)
