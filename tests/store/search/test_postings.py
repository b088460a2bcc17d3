from typing import Any

import numpy as np

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.search.bm25 import POSTING
from pincite.store.search.packed_postings import PackedPostings
from pincite.store.search.postings import find_postings

ALL = Filters()


def test_postings_are_read_from_packs_and_unpacked_rows(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        await store.put("a.md", "green green leaves")
        await PackedPostings(store.database, least=1).make()
        await store.put("b.md", "green sea")
        looked = await find_postings(store.database, ["green", "leav", "nowhere"], scope, ALL)
        assert sorted(looked.postings) == ["green", "leav"]
        assert looked.size == 3
        green = [np.frombuffer(piece, POSTING) for piece in looked.postings["green"]]
        assert sorted((int(p["frequency"][0]), int(p["words"][0])) for p in green) == [(1, 2), (2, 3)]
        assert looked.gone == b""

    with_store(test)


def test_replaced_chunks_that_are_still_packed_are_listed_as_gone(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        await store.put("a.md", "green leaves")
        await PackedPostings(store.database, least=1).make()
        await store.put("a.md", "blue sky")
        looked = await find_postings(store.database, ["green"], scope, ALL)
        [piece] = looked.postings["green"]
        assert np.frombuffer(looked.gone, ">u4").tolist() == np.frombuffer(piece, POSTING)["chunk"].tolist()
        assert await store.index.lexical("green", scope=scope, filters=ALL, limit=5) == []
        await store.indexing.clear_abandoned()
        assert (await find_postings(store.database, ["green"], scope, ALL)).postings == {}

    with_store(test)


def test_a_scope_without_the_realm_finds_nothing(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "green leaves")
        for scope in (Scope("local", ()), Scope("local", (99,)), Scope("somebody", (1,))):
            looked = await find_postings(store.database, ["green"], scope, ALL)
            assert (looked.postings, looked.revision) == ({}, 0)

    with_store(test)


def test_without_terms_only_the_revision_is_returned(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "green leaves")
        looked = await find_postings(store.database, [], await store.scope(), ALL)
        assert (looked.postings, looked.size) == ({}, 0)
        assert looked.revision > 0

    with_store(test)
