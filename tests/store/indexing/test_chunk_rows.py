from typing import Any

from pincite.store.indexing import chunk_rows
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Capacity
from tests.builders import chunk


def test_chunks_of_several_editions_are_written_together(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for n in range(2):
            await store.accept(f"{n}.md", f"text {n}")
        jobs = await store.jobs.claim_some("w", 60, Capacity(most=2))
        editions = [await store.indexing.begin(await store.indexing.target(job)) for job in jobs]
        vectors = [await store.vector(word) for word in ("apples", "pears")]
        entries = [
            (edition.key, ChunkRow(chunk(0, word), "c", {word: 2}, b"h" + bytes([n]), [vectors[n]], forms={word: word}))
            for n, (edition, word) in enumerate(zip(editions, ("apples", "pears"), strict=True))
        ]
        async with store.database.transaction("local") as connection:
            await chunk_rows.write(connection, editions[0].realm, entries, store.indexing._index.model)
            found = await (
                await connection.execute(
                    "select c.edition, c.text, p.term, p.frequency, v.edition, v.hash from chunk c"
                    " join posting p on p.chunk = c.key join vector v on v.chunk = c.key order by c.edition"
                )
            ).fetchall()
        assert found == [
            (editions[0].key, "apples", "apples", 2, editions[0].key, b"h\0"),
            (editions[1].key, "pears", "pears", 2, editions[1].key, b"h\1"),
        ]

    with_store(test)
