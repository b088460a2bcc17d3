"""Token vectors in the database: rights, filters, removal, and the token index."""

from typing import Any

import psycopg

from pincite.core.documents.document import Receipt
from pincite.core.query.question import Filters
from pincite.models.token_vectors import max_sim
from pincite.store.access.permissions import Permissions
from pincite.store.access.users import Users
from pincite.store.engines import late_rows
from pincite.store.engines.late_rows import LateIndex, _best
from tests.store.engines.building import ALL, MODEL, build, late_builder, rows, word_vectors

DOME, BREAD, CAR = "the dome shutter opens", "the kitchen bakes bread", "the cable car stops"


async def near(store: Any, text: str, scope: Any = None, filters: Filters = ALL) -> list[int] | None:
    return await LateIndex(store.database).near(
        word_vectors(text).tolist(), MODEL, scope=scope or await store.scope(), filters=filters, limit=10
    )


async def keys(store: Any) -> dict[str, int]:
    return {text: key for key, text in await rows(store, "select key, text from chunk where level = 2")}


def test_a_passage_has_the_vectors_of_its_tokens_in_one_row(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", DOME, BREAD)
        await build(store, late_builder())
        known = await keys(store)
        found = await LateIndex(store.database).tokens(
            list(known.values()), MODEL, scope=await store.scope(), filters=ALL
        )
        scores = dict(zip(found, max_sim(word_vectors("dome shutter"), list(found.values())), strict=True))
        assert round(scores[known[DOME]], 2) == 1.0
        assert scores[known[BREAD]] < 0.6
        assert await rows(store, "select count(*) from late_passage") == [(2,)]
        assert await rows(store, "select count(*) from late_centroid") == [(0,)]
        other = await LateIndex(store.database).tokens(
            list(known.values()), "other", scope=await store.scope(), filters=ALL
        )
        assert other == {}

    with_store(test)


def test_the_token_index_finds_passages_by_their_tokens_exactly_or_by_hnsw(with_store: Any, monkeypatch: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", DOME, BREAD, CAR)
        await build(store, late_builder(centroids=True))
        known = await keys(store)
        for limit in (2000, 0):
            monkeypatch.setattr(late_rows, "EXACT_PASSAGES", limit)
            found = await near(store, "cable car")
            assert found is not None
            assert found[0] == known[CAR]
            assert set(found) == set(known.values())
        monkeypatch.setattr(late_rows, "MAX_SEARCHED_PASSAGES", 2)
        assert await near(store, "cable car") is None

    with_store(test)


def test_chunks_are_ranked_by_the_sum_over_tokens() -> None:
    # Token 1 finds chunks 5 (.9, .8) and 6 (.5); token 2 finds 6 (.7) only, so 5 counts as .7 there, too.
    assert _best([(1, 5, 0.9), (1, 5, 0.8), (1, 6, 0.5), (2, 6, 0.7)], 2, 10) == [5, 6]


def test_hidden_documents_change_nothing_and_filters_hold(with_store: Any) -> None:
    async def test(store: Any) -> None:
        shared = await store.put("a.md", DOME, folder="in")
        await Users(store.database).add("local", "bob", "reader")
        await Permissions(store.database).share(await store.scope(), shared, ("user:bob",))
        await Permissions(store.database).finish_moves()
        await build(store, late_builder(centroids=True))
        bob = await store.library.scope("bob")
        before = [await near(store, text, bob) for text in ("dome", "canary bread")]
        for n in range(5):
            await store.put(f"{n}.md", f"canary {BREAD}", folder="out")
        await build(store, late_builder(centroids=True))
        bob, everything = await store.library.scope("bob"), await keys(store)
        assert [await near(store, text, bob) for text in ("dome", "canary bread")] == before
        index = LateIndex(store.database)
        seen = await index.tokens(list(everything.values()), MODEL, scope=bob, filters=ALL)
        assert set(seen) == {everything[DOME]}
        inside = await index.tokens(
            list(everything.values()), MODEL, scope=await store.scope(), filters=Filters(folder="in")
        )
        assert set(inside) == {everything[DOME]}
        assert await near(store, "canary", filters=Filters(folder="in")) == [everything[DOME]]
        assert await rows(store, "select count(*) from late_passage", "bob") == [(1,)]

    with_store(test)


def test_removal_takes_every_token_vector(with_store: Any, database_url: str) -> None:
    async def test(store: Any) -> None:
        gone = await store.put("a.md", DOME, BREAD)
        await store.put("b.md", CAR)
        await build(store, late_builder(centroids=True))
        receipt: Receipt = await store.removal.remove(await store.scope(), gone)
        assert (receipt.token_vectors, receipt.verified) == (4, True)  # two passages with a centroid each
        with psycopg.connect(database_url) as admin:
            for table in ("late_passage", "late_centroid"):
                left = admin.execute(f"select count(*) from pincite.{table}").fetchone()
                assert left == (1,)

    with_store(test)
