from typing import Any

from pincite.store.indexing import chunk_rows
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Capacity
from tests.builders import chunk


def test_passages_of_several_editions_are_written_at_once_and_each_keeps_its_own(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(2):
            await shelf.accept(f"{n}.md", f"text {n}")
        jobs = await shelf.jobs.claim_some("w", 60, Capacity(most=2))
        editions = [await shelf.indexing.begin(await shelf.indexing.target(job)) for job in jobs]
        vectors = [await shelf.vector(word) for word in ("apples", "pears")]
        entries = [
            (edition.key, ChunkRow(chunk(0, word), "c", {word: 2}, b"h" + bytes([n]), [vectors[n]], forms={word: word}))
            for n, (edition, word) in enumerate(zip(editions, ("apples", "pears"), strict=True))
        ]
        async with shelf.database.transaction("local") as connection:
            await chunk_rows.write(connection, editions[0].realm, entries, shelf.indexing._index.model)
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

    with_shelf(test)
