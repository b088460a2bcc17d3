"""Synchronisation of documents with a folder."""

import asyncio
import shutil
import subprocess
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from pincite.engine.connectors import folder_sync
from pincite.engine.connectors.folder_sync import Changes, FolderSync
from pincite.errors import StoreDown
from pincite.ingest.accept.folder_scan import WatchedFolder

Open = Callable[..., Any]


@pytest.fixture
def box(tmp_path: Path) -> Path:
    top = tmp_path / "box"
    for name in ("a.md", "b.md", "deep/c.md"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"# {name}\n\nWords of {name}.\n")
    return top


def with_keeper(
    open_pincite: Open, box: Path, test: Callable[[Any, FolderSync], Coroutine[Any, Any, None]], **how: Any
) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await test(pincite, FolderSync(pincite, WatchedFolder.of(box), **how))

    asyncio.run(go())


async def twice(keeper: FolderSync) -> Changes:
    """Scan twice: the first scan sees a change, the second synchronises it."""
    assert not (await keeper.sync_changes()).any
    return await keeper.sync_changes()


async def places(pincite: Any) -> dict[str, str]:
    """Return paths in the library → document ids."""
    return {f"{one.folder}/{one.name}": one.id for one in await pincite.documents.all()}


def test_new_changed_and_removed_files_are_synchronised(open_pincite: Open, box: Path) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        begun = await keeper.sync_all()
        assert {path: one.outcome for path, one in begun.added.items()} == dict.fromkeys(
            ("a.md", "b.md", "deep/c.md"), "new"
        )
        before = await places(pincite)
        assert set(before) == {"box/a.md", "box/b.md", "box/deep/c.md"}
        assert not (await twice(keeper)).any
        (box / "a.md").write_text("# a.md\n\nOther words entirely.\n")
        (box / "b.md").unlink()
        (box / "d.md").write_text("Delta.\n")
        changes = await twice(keeper)
        assert {path: one.outcome for path, one in changes.added.items()} == {"a.md": "new_version", "d.md": "new"}
        assert list(changes.removed) == ["b.md"]
        assert changes.removed["b.md"].verified
        after = await places(pincite)
        assert set(after) == {"box/a.md", "box/deep/c.md", "box/d.md"}
        assert after["box/a.md"] == before["box/a.md"]
        assert (await pincite.search("entirely")).hits[0].chunk.document_id == after["box/a.md"]
        assert not (await twice(keeper)).any

    with_keeper(open_pincite, box, test)


def test_a_renamed_file_keeps_its_document_and_nothing_is_indexed_again(
    open_pincite: Open, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        await keeper.sync_all()
        before = await places(pincite)

        async def never(_passages: Any) -> Any:
            raise AssertionError("nothing was to be embedded")

        monkeypatch.setattr(pincite.services.workers._current_kit().bulk_embedder, "embed", never)
        (box / "a.md").rename(box / "z.md")
        (box / "deep").rename(box / "moved")
        changes = await twice(keeper)
        assert changes.moved == {"z.md": "a.md", "moved/c.md": "deep/c.md"}
        assert (changes.added, changes.removed) == ({}, {})
        after = await places(pincite)
        assert after == {
            "box/z.md": before["box/a.md"],
            "box/b.md": before["box/b.md"],
            "box/moved/c.md": before["box/deep/c.md"],
        }
        assert {one.versions for one in await pincite.documents.all()} == {1}

    with_keeper(open_pincite, box, test)


def test_a_file_renamed_over_another_is_that_ones_new_version(open_pincite: Open, box: Path) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        await keeper.sync_all()
        before = await places(pincite)
        (box / "a.md").rename(box / "b.md")
        changes = await twice(keeper)
        assert {path: one.outcome for path, one in changes.added.items()} == {"b.md": "new_version"}
        assert list(changes.removed) == ["a.md"]
        assert await places(pincite) == {key: before[key] for key in ("box/b.md", "box/deep/c.md")}

    with_keeper(open_pincite, box, test)


def test_changes_made_while_not_watching_are_synchronised(open_pincite: Open, box: Path) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        await keeper.sync_all()
        before = await places(pincite)
        (box / "a.md").rename(box / "z.md")
        (box / "b.md").unlink()
        (box / "deep/c.md").write_text("New words.\n")
        changes = await FolderSync(pincite, WatchedFolder.of(box)).sync_all()
        assert changes.moved == {"z.md": "a.md"}
        assert list(changes.removed) == ["b.md"]
        assert {path: one.outcome for path, one in changes.added.items()} == {"deep/c.md": "new_version"}
        assert await places(pincite) == {"box/z.md": before["box/a.md"], "box/deep/c.md": before["box/deep/c.md"]}

    with_keeper(open_pincite, box, test)


def test_documents_from_elsewhere_are_not_touched(open_pincite: Open, box: Path, tmp_path: Path) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        (tmp_path / "own.md").write_text("By hand.\n")
        await pincite.add(tmp_path / "own.md", folder="box")
        await pincite.add(box / "a.md", folder="box")  # the same place: from now on it is the file's
        await keeper.sync_all()
        (box / "a.md").unlink()
        assert list((await twice(keeper)).removed) == ["a.md"]
        assert set(await places(pincite)) == {"box/own.md", "box/b.md", "box/deep/c.md"}

    with_keeper(open_pincite, box, test)


def test_documents_of_removed_files_can_be_kept(open_pincite: Open, box: Path) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        await keeper.sync_all()
        (box / "a.md").unlink()
        changes = await twice(keeper)
        assert (changes.removed, changes.kept) == ({}, ("a.md",))
        assert "box/a.md" in await places(pincite)
        assert not (await twice(keeper)).any

    with_keeper(open_pincite, box, test, keep_removed=True)


def test_a_file_is_added_only_after_it_stopped_changing(open_pincite: Open, box: Path) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        await keeper.sync_all()
        for n in range(3):
            (box / "a.md").write_text("Growing. " * (n + 1))
            assert not (await keeper.sync_changes()).any
        assert list((await keeper.sync_changes()).added) == ["a.md"]
        (box / "b.md").unlink()
        assert not (await keeper.sync_changes()).any
        (box / "b.md").write_text("# b.md\n\nWords of b.md.\n")  # an editor that saves by removing first
        assert {one.outcome for one in (await twice(keeper)).added.values()} == {"unchanged"}

    with_keeper(open_pincite, box, test)


def test_a_folder_that_is_gone_empty_or_another_removes_nothing(
    open_pincite: Open, box: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        await keeper.sync_all()
        aside = box.rename(box.with_name("aside"))
        assert not (await twice(keeper)).any
        assert "cannot be scanned" in caplog.text
        box.mkdir()
        assert not (await twice(keeper)).any
        assert "another folder than before" in caplog.text
        assert len((await FolderSync(pincite, WatchedFolder.of(box)).sync_all()).kept) == 3
        assert "is empty" in caplog.text
        assert len(await places(pincite)) == 3
        box.rmdir()
        aside.rename(box)
        assert not (await twice(keeper)).any

    with_keeper(open_pincite, box, test)


def test_an_unreadable_file_is_reported_once(open_pincite: Open, box: Path) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        (box / "lying.pdf").write_text("no PDF at all")
        begun = await keeper.sync_all()
        assert "its bytes are text" in str(begun.refused["lying.pdf"])
        assert not (await twice(keeper)).any

    with_keeper(open_pincite, box, test)


def test_a_file_that_git_ignores_now_is_removed(open_pincite: Open, box: Path) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        await keeper.sync_all()
        (box / ".gitignore").write_text("deep/\n")
        assert list((await twice(keeper)).removed) == ["deep/c.md"]

    subprocess.run(["git", "init", "-q", str(box)], check=True)
    with_keeper(open_pincite, box, test)


def test_watching_continues_while_a_component_is_down_and_ends_when_cancelled(
    open_pincite: Open, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(pincite: Any, keeper: FolderSync) -> None:
        await keeper.sync_all()
        monkeypatch.setattr(folder_sync, "SCAN_S", 0.01)
        monkeypatch.setattr(folder_sync, "MAX_SCAN_PAUSE_S", 0.05)
        sync_changes, failures = keeper.sync_changes, iter([StoreDown("the database is away")])

        async def sometimes() -> Changes:
            if failure := next(failures, None):
                raise failure
            return await sync_changes()

        monkeypatch.setattr(keeper, "sync_changes", sometimes)
        told: asyncio.Queue[Changes] = asyncio.Queue()
        watching = asyncio.create_task(keeper.watch(told.put_nowait))
        shutil.copy(box / "a.md", box / "copy.md")
        changes = await asyncio.wait_for(told.get(), 30)
        assert list(changes.added) == ["copy.md"]
        watching.cancel()
        assert isinstance((await asyncio.gather(watching, return_exceptions=True))[0], asyncio.CancelledError)

    with_keeper(open_pincite, box, test)
