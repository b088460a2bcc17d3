"""Loading an index while its documents change or move."""

import asyncio
from typing import Any

from pincite.store.access.permissions import Permissions, assign_realms
from pincite.store.access.users import Users
from tests.store.warm import ALL, VECTORS, Warm


def test_a_document_that_is_moving_to_another_realm_is_left_to_postgresql(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        await Users(store.database).add("local", "bob", "reader")
        document = await store.put("a.md", "the heron stands in the reeds")
        await store.put("b.md", "a heron flies")
        await warm.warm_up()
        async with store.database.transaction("local") as connection:
            update = "update document set readers = array['user:bob'] where id = %s"
            await connection.execute(update, (document,))
            await assign_realms(connection, "local", [document])
        for person, expected in (("local", 2), ("bob", 0)):  # the rows have not moved yet: only the owner finds them
            for _ in range(2):
                assert len(await warm.documents("heron", person)) == expected
                await warm.resident.settle()
            assert not warm.resident.is_current(await warm.scope(person), VECTORS)
        await Permissions(store.database).finish_moves()
        await warm.warm_up("bob")
        assert await warm.documents("heron", "bob") == {document}

    with_store(test)


def test_the_rows_of_a_lost_edition_are_not_those_of_a_later_one_with_its_number(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        await store.put("a.md", "the heron stands in the reeds")
        numbers = (
            "select last_value from pincite.edition_key_seq union all select last_value from pincite.chunk_key_seq"
        )
        async with store.database.administrator() as admin:
            edition, chunk = [n for (n,) in await (await admin.execute(numbers)).fetchall()]
        lost = await store.put("b.md", "an otter swims")
        await warm.warm_up()
        await store.removal.remove(await store.scope(), lost)
        async with store.database.administrator() as admin:  # as after a failover that lost the second document
            await admin.execute("select setval('pincite.edition_key_seq', %s)", (edition,))
            await admin.execute("select setval('pincite.chunk_key_seq', %s)", (chunk,))
        later = await store.put("c.md", "a fox sleeps in its den")
        await warm.warm_up()
        assert await warm.documents("fox") == {later}
        assert await warm.documents("otter") == set()

    with_store(test)


def test_searches_while_documents_come_and_go_find_each_complete(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        always = await store.put("always.md", "the heron stands", "a heron flies")
        done = asyncio.Event()

        async def write() -> None:
            for n in range(12):
                document = await store.put(f"{n}.md", "one heron", "two heron")
                if n % 2:
                    await store.removal.remove(await store.scope(), document)
            done.set()

        async def search() -> int:
            searches = 0
            while not done.is_set() or not searches:
                scope, index = await warm.scope(), warm.index
                found = await index.lexical("heron", scope=scope, filters=ALL, limit=100)
                read = await index.fetch([one.key for one in found], [], scope=scope)
                texts = [chunk.text for chunk in read.chunks.values() if chunk.document_id == always]
                assert read.outdated or sorted(texts) == ["a heron flies", "the heron stands"]
                assert len(read.chunks) % 2 == 0 or read.outdated or len(read.chunks) < len(found)
                searches += 1
                await asyncio.sleep(0)
            return searches

        await asyncio.gather(write(), search(), search())
        await warm.warm_up()
        expected = await store.index.lexical("heron", scope=await warm.scope(), filters=ALL, limit=100)
        assert await warm.index.lexical("heron", scope=await warm.scope(), filters=ALL, limit=100) == expected
        assert len(expected) == 2 + 6 * 2

    with_store(test)
