"""The stored vectors of queries: by person, model and text."""

from typing import Any

import pytest

from pincite.store.search.query_vectors import KEPT_DAYS, QueryVectorCache, remove_old_query_vectors


def test_a_vector_is_found_by_its_person_model_and_text_alone(with_store: Any) -> None:
    async def test(store: Any) -> None:
        model = store.indexing._index.model
        cache = QueryVectorCache(store.database, model)
        assert await cache.find("local", ["a"]) == {}
        await cache.save("local", {"a": [0.6, 0.8], "ü 🏖": [1.0, 0.0]})
        await cache.save("local", {"a": [0.0, 1.0]})  # the first one stays
        found = await cache.find("local", ["a", "b", "ü 🏖"])
        assert found == {"a": pytest.approx([0.6, 0.8]), "ü 🏖": [1.0, 0.0]}
        other = await store.database.register_model("other/1", 2)
        assert await QueryVectorCache(store.database, other).find("local", ["a"]) == {}
        async with store.database.transaction("local") as connection:
            await connection.execute("insert into person (id, name, role) values ('p_2', 'ann', 'reader')")
        assert await cache.find("p_2", ["a"]) == {}

    with_store(test)


def test_vectors_are_removed_after_their_days(with_store: Any) -> None:
    async def test(store: Any) -> None:
        cache = QueryVectorCache(store.database, store.indexing._index.model)
        await cache.save("local", {"old": [1.0, 0.0], "new": [0.0, 1.0]})
        old = "update query_vector set created_at = created_at - make_interval(days => %s) where embedding = '{1,0}'"
        async with store.database.transaction("local") as connection:
            await connection.execute(old, (KEPT_DAYS + 1,))
        assert await remove_old_query_vectors(store.database) == 1
        assert set(await cache.find("local", ["old", "new"])) == {"new"}

    with_store(test)
