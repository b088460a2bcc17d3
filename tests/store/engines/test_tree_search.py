"""Search over the nodes of the summary tree: scores, filters, rights, and what other people's documents change."""

from datetime import UTC, datetime
from typing import Any

import pytest

from pincite.core.query.question import Filters
from pincite.store.access.permissions import Permissions
from pincite.store.access.users import Users
from pincite.store.engines.tree_search import _lexical, _passages
from pincite.store.search.bm25 import Corpus
from tests.store.engines.building import build, rows, texts_of, tree_builder, tree_search

DOME = ("The dome shutter opens at dusk every evening.", "A hand crank closes the dome shutter in snow.")
BREAD = ("The kitchen bakes bread with fresh yeast daily.", "Bread rises in the kitchen cellar for hours.")


def test_a_nodes_score_goes_to_its_passages_the_nearest_first() -> None:
    found = _passages({7: 0.8, 9: 0.5}, {7: [1, 2], 9: [2, 3, 4]}, {1: 0.9, 2: 0.45, 3: 0.6})
    # 1 is the nearest below 7: 0.8. 2 has half its cosine: 0.4, more than below 9. 3 is the nearest below 9. 4 is gone.
    assert [(match.key, round(match.score, 6)) for match in found] == [(1, 0.8), (3, 0.5), (2, 0.4)]


def test_words_count_relative_to_the_highest_possible_score() -> None:
    corpus = Corpus(2, 20, 1.2, 0.75)
    scores = _lexical([(1, 0.0, 10, [1, 0]), (2, 0.0, 10, [1, 1])], {"dome": 1, "crank": 1}, corpus)
    common, rare = corpus.weight(2), corpus.weight(1)
    # A term that occurs once in a node of average length adds its weight, of at most 2.2 times the weight.
    assert scores[2] == pytest.approx((common + rare) / (2.2 * (common + rare)))
    assert scores[1] == pytest.approx(common / (2.2 * (common + rare)))


def test_a_question_finds_the_passages_of_the_fitting_document(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("dome.md", *DOME)
        await store.put("bread.md", *BREAD)
        assert await tree_search(store, "dome shutter") == []
        await build(store, tree_builder(store))
        found = await texts_of(store, await tree_search(store, "dome shutter"))
        assert set(found[:2]) == set(DOME)

    with_store(test)


def test_filters_hold_at_every_node(with_store: Any) -> None:
    async def test(store: Any) -> None:
        first = await store.put("dome.md", *DOME, folder="in")
        await store.put("bread.md", *BREAD, folder="in")
        await store.put("other.md", "The dome of another folder is closed.", folder="out")
        await build(store, tree_builder(store))
        assert await rows(store, "select count(*) from tree_node where edition is null") == [(1,)]
        for filters in (Filters(document_ids=(first,)), Filters(document_ids=(first, "unknown"))):
            found = await tree_search(store, "bread dome", filters=filters)
            assert set(await texts_of(store, found)) == set(DOME)
            # The node over both documents is not searched: its words would come from a document that is left out.
            alone = await tree_search(store, "yeast", filters=filters)
            assert all(match.score <= 0.5 for match in alone)
        inside = await texts_of(store, await tree_search(store, "dome", filters=Filters(folder="in")))
        assert set(inside) == {*DOME, *BREAD}

    with_store(test)


def test_hidden_documents_change_no_score_and_are_never_found(with_store: Any) -> None:
    async def test(store: Any) -> None:
        shared = await store.put("dome.md", *DOME, folder="f")
        await Users(store.database).add("local", "bob", "reader")
        await Permissions(store.database).share(await store.scope(), shared, ("user:bob",))
        await build(store, tree_builder(store))
        questions = ("dome shutter", "canary", "bread yeast", "which documents are about the kitchen")
        bob = await store.library.scope("bob")
        before = [await tree_search(store, text, bob) for text in questions]
        for n in range(12):
            await store.put(f"hidden{n}.md", "The canary sings of the dome shutter.", *BREAD, folder="f")
        await build(store, tree_builder(store))
        bob = await store.library.scope("bob")
        assert [await tree_search(store, text, bob) for text in questions] == before
        hidden = {key for (key,) in await rows(store, "select key from chunk where text like '%canary%'")}
        everything = {match.key for match in await tree_search(store, "canary dome")}
        assert hidden & everything
        assert await rows(store, "select count(*) from tree_node where text like '%canary%'", "bob") == [(0,)]
        assert await rows(store, "select count(*) from tree_member", "bob") == [(0,)]

    with_store(test)


def test_an_earlier_version_is_searched_by_its_own_tree(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("dome.md", *DOME)
        await build(store, tree_builder(store))
        before = datetime.now(UTC)
        await store.put("dome.md", *BREAD)
        await store.indexing.clear_abandoned()
        await build(store, tree_builder(store))
        assert set(await texts_of(store, await tree_search(store, "dome"))) == set(BREAD)
        earlier = await tree_search(store, "dome", filters=Filters(as_of=before))
        assert set(await texts_of(store, earlier)) == set(DOME)

    with_store(test)


def test_without_realms_nothing_is_found(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("dome.md", *DOME)
        await build(store, tree_builder(store))
        await Users(store.database).add("local", "bob", "reader")
        assert await tree_search(store, "dome", await store.library.scope("bob")) == []

    with_store(test)
