from typing import Any

import numpy as np

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.search.bm25 import POSTING
from pincite.store.search.packed_postings import PackedPostings
from pincite.store.search.postings import find_postings

ALL = Filters()


def test_a_words_postings_come_from_packs_and_from_what_is_not_packed(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        await shelf.put("a.md", "green green leaves")
        await PackedPostings(shelf.database, least=1).make()
        await shelf.put("b.md", "green sea")
        looked = await find_postings(shelf.database, ["green", "leav", "nowhere"], scope, ALL)
        assert sorted(looked.postings) == ["green", "leav"]
        assert looked.size == 3
        green = [np.frombuffer(piece, POSTING) for piece in looked.postings["green"]]
        assert sorted((int(p["frequency"][0]), int(p["words"][0])) for p in green) == [(1, 2), (2, 3)]
        assert looked.gone == b""

    with_shelf(test)


def test_what_was_replaced_and_is_still_packed_is_named_as_gone(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        await shelf.put("a.md", "green leaves")
        await PackedPostings(shelf.database, least=1).make()
        await shelf.put("a.md", "blue sky")
        looked = await find_postings(shelf.database, ["green"], scope, ALL)
        [piece] = looked.postings["green"]
        assert np.frombuffer(looked.gone, ">u4").tolist() == np.frombuffer(piece, POSTING)["chunk"].tolist()
        assert await shelf.index.lexical("green", scope=scope, filters=ALL, limit=5) == []
        await shelf.indexing.clear_abandoned()
        assert (await find_postings(shelf.database, ["green"], scope, ALL)).postings == {}

    with_shelf(test)


def test_a_scope_without_the_realm_finds_nothing(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", "green leaves")
        for scope in (Scope("local", ()), Scope("local", (99,)), Scope("somebody", (1,))):
            looked = await find_postings(shelf.database, ["green"], scope, ALL)
            assert (looked.postings, looked.revision) == ({}, 0)

    with_shelf(test)


def test_no_words_bring_nothing_but_the_state_of_the_documents(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", "green leaves")
        looked = await find_postings(shelf.database, [], await shelf.scope(), ALL)
        assert (looked.postings, looked.size) == ({}, 0)
        assert looked.revision > 0

    with_shelf(test)
