"""The integrity check reports inconsistent data."""

from pathlib import Path
from typing import Any

import psycopg
import pytest

from pincite.core.documents.document import Progress
from pincite.store.operations.integrity import inspect, stray_files


def silent(_progress: Progress) -> None:
    pass


def test_an_intact_library_has_no_findings(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for number in range(3):
            await store.put(f"{number}.md", f"The only passage of {number} 🐈")
        steps: list[Progress] = []
        found = await inspect(store.database, store.files, steps.append)
        assert (found.documents, found.files, found.searched, found.stray, found.wrong) == (3, 3, 3, 0, ())
        assert {step.stage for step in steps} == {"comparing rows", "checking files"}

    with_store(test)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("update chunk set text = 'other words' where level = 2", "1 passages differ from its text"),
        ("delete from vector", "it should have 1 passages and 1 vectors, and has 1 and 0"),
        ("update document set served = null", "but it cannot be searched"),
        (
            "delete from posting where true;"
            " insert into posting select 'x', key, edition, realm, 1, 1 from chunk where level = 2",
            "a search for one of its passages by its words does not find it",
        ),
        (
            "insert into posting values ('stray', 1, 999, 1, 1, 1)",
            "1 words, 0 vectors and 0 passages belong to no document",
        ),
    ],
)
def test_inconsistent_rows_are_reported(with_store: Any, database_url: str, harm: str, told: str) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "some quite ordinary text")
        with psycopg.connect(database_url, options="-c search_path=pincite,public") as other:
            other.execute(harm.encode())
        assert any(told in line for line in (await inspect(store.database, store.files, silent)).wrong)

    with_store(test)


def test_missing_and_changed_files_are_reported(with_store: Any) -> None:
    async def test(store: Any) -> None:
        paths = {}
        for name in ("a.md", "b.md", "c.md"):
            document_id = await store.put(name, f"text of {name}")
            [version] = await store.library.versions(await store.scope(), document_id)
            paths[name] = store.files.path(document_id, version.id)
        paths["a.md"].unlink()
        paths["b.md"].write_bytes(b"something else")
        wrong = (await inspect(store.database, store.files, silent)).wrong
        assert [(line.split()[0], line.rpartition(": ")[2]) for line in wrong] == [
            ("a.md", "its file is missing"),
            ("b.md", "its file differs from the uploaded one"),
        ]

    with_store(test)


def test_files_without_a_version_are_counted(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "text")
        stray: Path = store.files.path("nobody", "knows")
        stray.parent.mkdir()
        stray.write_bytes(b"x")
        assert await stray_files(store.database, store.files) == 1

    with_store(test)
