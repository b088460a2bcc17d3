"""The vector index is built at once, when a library is large enough to be searched by it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pincite.core.query.question import Filters
from pincite.ingest.accept.collect import collect
from pincite.store.indexing import write_edition
from pincite.store.indexing.write_edition import MAX_UNINDEXED, MIN_INDEXED


def indexes(url: str) -> list[str]:
    """The names of the vector indexes that search can use."""
    query = (
        "select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid"
        " where c.relname like 'vector_near_%' and i.indisvalid order by 1"
    )
    with psycopg.connect(url) as connection:
        return [name for (name,) in connection.execute(query)]


def test_a_library_gets_its_index_when_it_is_large_enough(with_store: Callable[..., Any], database_url: str) -> None:
    async def grow(store: Any) -> None:
        await store.put("a.md", "The ferry leaves at noon.", "The mill grinds rye.")
        assert not await store.database.index_vectors(3)
        assert indexes(database_url) == []
        await store.put("b.md", "The lamp is lit at dusk.")
        wanted = await store.vector("The lamp is lit at dusk.")
        before = await store.index.dense(wanted, scope=await store.scope(), filters=Filters(), limit=3)
        assert await store.database.index_vectors(3)
        assert indexes(database_url) == ["vector_near_1"]
        assert not await store.database.index_vectors(3)
        after = await store.index.dense(wanted, scope=await store.scope(), filters=Filters(), limit=3)
        assert [match.key for match in after] == [match.key for match in before]
        assert len(after) == 3

    with_store(grow, exact_rows=0)


def test_two_processes_build_one_index(with_store: Callable[..., Any], database_url: str) -> None:
    async def build(store: Any) -> None:
        await store.put("a.md", "The ferry leaves at noon.")
        assert any(await asyncio.gather(*(store.database.index_vectors(1) for _ in range(3))))
        assert indexes(database_url) == ["vector_near_1"]

    with_store(build)


def test_while_documents_are_added_only_a_large_library_is_indexed(
    with_store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    async def note(least: int) -> bool:
        asked.append(least)
        return False

    async def ask(store: Any) -> None:
        monkeypatch.setattr(store.database, "index_vectors", note)
        await store.indexing.index_vectors(loading=True)
        await store.indexing.index_vectors(loading=False)

    with_store(ask)
    assert asked == [MAX_UNINDEXED, MIN_INDEXED] == [20_000, 4_000]


def test_a_folder_is_indexed_before_adding_it_ends(
    open_pincite: Callable[..., Any], database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_edition, "MIN_INDEXED", 5)
    for number in range(6):
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\nThe ferry number {number} leaves at noon.\n")

    async def add() -> None:
        async with open_pincite() as pincite:
            added = await pincite.documents.add_all(collect([tmp_path / f"{number}.md" for number in range(6)]))
            assert {one.document.status for one in added.added} == {"completed"}
            assert indexes(database_url) == ["vector_near_1"]

    asyncio.run(add())
