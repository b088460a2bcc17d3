"""The benchmark of rights: a made-up library shared with many groups."""

import asyncio
from pathlib import Path

import pytest

from benchmarks._shelf import DIMENSIONS, MadeUp, Shelf
from benchmarks.rights import READERS, Reader, report, share
from pincite.store.database import Database
from pincite.store.documents.library import Library


def test_each_reader_may_read_the_part_that_is_measured(database_url: str, tmp_path: Path) -> None:
    async def admitted() -> tuple[Shelf, dict[str, set[str]]]:
        database = await Database.open(database_url, pool_size=2)
        try:
            shelf = Shelf(database, tmp_path, await database.register_model("made-up", DIMENSIONS), MadeUp(2000))
            await shelf.fill()
            await asyncio.to_thread(share, database_url, 200)
            library = Library(database, None, "bench")  # type: ignore[arg-type]
            read = {}
            for name in READERS:
                scope = await library.scope(name)
                query = "select id from document where realm = any(%(realms)s)"
                [found] = await database.run_batch(name, query, values={"realms": list(scope.realms)})
                read[name] = {document_id for (document_id,) in found}
            return shelf, read
        finally:
            await database.close()

    shelf, read = asyncio.run(admitted())
    for name, folder in READERS.items():
        assert read[name] == {document for document, place, _ in shelf.documents if folder in (None, place)}
    assert [len(documents) for documents in read.values()] == [1, 5, 20, 100]


def test_the_report_compares_everybody_with_whoever_is_alone(capsys: pytest.CaptureFixture[str]) -> None:
    report([10.0, 10.0, 10.0], [Reader("five", 50, 0.05, [12.0, 12.0, 12.0], [1.0, 0.9, 1.0])])
    assert "| 5% | 50 | 12.0 / 12.0 | 1.20 | 0.9667 |" in capsys.readouterr().out
