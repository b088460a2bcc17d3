"""Which indexes are in memory, and when they are used."""

from dataclasses import replace
from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.access.users import Users
from pincite.store.search.resident import cache
from tests.store.warm import ALL, VECTORS, Warm, share, some_texts


def test_an_index_over_the_bound_is_not_loaded_and_searches_still_find(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for megabytes in (0, 1):
            warm = Warm(store, megabytes)
            document = await store.put(f"{megabytes}.md", f"the heron {megabytes} stands in the reeds")
            if megabytes:
                async with store.database.administrator() as admin:  # as if it were a long document
                    await admin.execute("update pincite.document set vectors = 100000, words = 0")
            assert document in await warm.documents("heron")
            await warm.resident.settle()
            assert warm.resident.size == 0
            assert document in await warm.documents("heron")

    with_store(test)


def test_the_index_that_was_searched_last_stays_in_memory(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        for name in ("ada", "bob"):
            await Users(store.database).add("local", name, "reader")
            document = await store.put(f"{name}.md", *some_texts(5, 3))
            await share(store, document, users=(name,))
        await warm.warm_up("ada")
        one = warm.resident.size
        await warm.warm_up("bob")
        assert warm.resident.size > one
        warm.resident._make_room(one)
        assert warm.resident.is_current(await warm.scope("bob"), VECTORS)
        assert not warm.resident.is_current(await warm.scope("ada"), VECTORS)

    with_store(test)


def test_other_times_and_a_scope_without_revisions_are_searched_in_postgresql(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        await store.put("a.md", "the heron stands in the reeds")
        scope = await warm.warm_up()
        assert warm.index._view(scope, ALL) is not None
        assert warm.index._view(replace(scope, revisions=()), ALL) is None
        assert warm.index._view(scope, Filters(index="another")) is None
        assert warm.index._view(Scope("stranger", ()), ALL) is None
        assert warm.index._view(replace(scope, revisions=(scope.revisions[0] + 1,)), ALL) is None

    with_store(test)


def test_a_single_search_loads_nothing(with_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MIN_SEARCHES", 3)

    async def test(store: Any) -> None:
        warm = Warm(store)
        document = await store.put("a.md", "the heron stands in the reeds")
        assert await warm.documents("heron") == {document}  # two searches: by words, and by meaning
        await warm.resident.settle()
        assert warm.resident.size == 0
        await warm.documents("heron")
        await warm.resident.settle()
        assert warm.resident.size > 0

    with_store(test)


def test_after_loading_the_database_searches_for_a_while(with_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "REST", 1e6)

    async def test(store: Any) -> None:
        warm = Warm(store)
        first = await store.put("a.md", "the heron stands in the reeds")
        await warm.warm_up()
        second = await store.put("b.md", "a heron flies")
        for _ in range(2):
            assert await warm.documents("heron") == {first, second}
            await warm.resident.settle()
        assert not warm.resident.is_current(await warm.scope(), VECTORS)

    with_store(test)
