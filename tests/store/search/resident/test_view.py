"""A view finds what the database would find."""

from typing import Any

from tests.store.warm import ALL, Warm


def test_several_windows_of_a_chunk_count_by_the_best(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        document = await store.put("a.md", "red fox", "grey wolf")
        async with store.database.administrator() as admin:
            await admin.execute(
                "insert into pincite.vector (chunk, edition, realm, part, model, hash, embedding)"
                " select v.chunk, v.edition, v.realm, 1, v.model, v.hash, o.embedding from pincite.vector v"
                " join pincite.vector o on o.chunk <> v.chunk where v.chunk = (select min(chunk) from pincite.vector)"
            )
        scope, vector = await warm.warm_up(), await store.vector("grey wolf")
        found = await warm.index.dense(vector, scope=scope, filters=ALL, limit=5)
        assert [round(one.score, 3) for one in found] == [1.0, 1.0]
        assert found[0].key < found[1].key
        assert await warm.documents("fox") == {document}

    with_store(test)
