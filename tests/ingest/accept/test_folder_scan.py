"""The files of a watched folder."""

import os
import subprocess
from pathlib import Path

import pytest

from pincite.errors import BadRequest, Invalid
from pincite.ingest.accept.collect import DATA_FOLDER_MARK
from pincite.ingest.accept.folder_scan import WatchedFolder


def write(top: Path, *names: str) -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Words.\n")


def git(top: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True)


def names(top: Path) -> list[str]:
    return sorted(WatchedFolder.of(top).snapshot().files)


def test_a_snapshot_holds_supported_files_but_neither_hidden_nor_temporary_ones(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "deep/er/b.TXT", "c.pdf", "sheet.ods", "no-ending")
    write(tmp_path, ".hidden.md", ".git-not/a.md", "a.md~", "#a.md#", ".a.md.swp", "~$c.pdf", "a.md.tmp", "4913")
    os.symlink(tmp_path / "a.md", tmp_path / "link.md")
    assert names(tmp_path) == ["a.md", "c.pdf", "deep/er/b.TXT"]


def test_a_data_folder_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "a.md", f"data/{DATA_FOLDER_MARK}", "data/prompts/answer.txt")
    assert names(tmp_path) == ["a.md"]
    git(tmp_path, "init")
    assert names(tmp_path) == ["a.md"]


def test_in_a_git_tree_untracked_files_are_included_and_ignored_ones_are_not(tmp_path: Path) -> None:
    git(tmp_path, "init")
    write(tmp_path, "tracked.md", "new.md", "build/out.md", "sub/secret.md", "sub/open.md", "gone.md", "ümlaut name.md")
    (tmp_path / ".gitignore").write_text("build/\nsecret.md\n!open.md\n")
    git(tmp_path, "add", "tracked.md", "gone.md")
    (tmp_path / "gone.md").unlink()
    assert names(tmp_path) == ["new.md", "sub/open.md", "tracked.md", "ümlaut name.md"]
    assert names(tmp_path / "sub") == ["open.md"]


def test_a_repositorys_own_settings_run_no_program(tmp_path: Path) -> None:
    git(tmp_path, "init")
    write(tmp_path, "a.md")
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o700)
    git(tmp_path, "config", "core.fsmonitor", str(hook))
    assert names(tmp_path) == ["a.md"]
    assert not (tmp_path / "ran").exists()


def test_without_git_a_working_tree_is_not_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadRequest, match="install git"):
        WatchedFolder.of(tmp_path).snapshot()


def test_an_error_of_git_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    with pytest.raises(BadRequest, match=r"git cannot list .*not a git repository"):
        WatchedFolder.of(tmp_path).snapshot()


def test_a_stamp_changes_with_its_file_even_where_the_times_are_set_back(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    before, root = os.stat(tmp_path / "a.md"), WatchedFolder.of(tmp_path)
    first = root.snapshot()
    assert root.snapshot() == first
    (tmp_path / "a.md").write_text("Other.\n")
    os.utime(tmp_path / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert root.snapshot() != first


def test_a_folder_that_cannot_be_read_is_not_taken_for_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md", "shut/b.md")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    tree = WatchedFolder.of(tmp_path).snapshot()
    assert list(tree.files) == ["a.md"]
    assert tree.covers("gone.md")
    assert not tree.covers("shut/b.md")


def test_files_go_to_the_library_folder_of_the_watched_folder(tmp_path: Path) -> None:
    write(tmp_path, "box/deep/a.md")
    root = WatchedFolder.of(tmp_path / "box" / ".." / "box", "/in/")
    assert (root.folder, root.file("deep/a.md").folder, root.file("a.md").folder) == ("in/box", "in/box/deep", "in/box")
    with pytest.raises(Invalid, match="only a folder can be watched"):
        WatchedFolder.of(tmp_path / "box/deep/a.md")
    with pytest.raises(OSError, match="gone"):
        WatchedFolder(tmp_path / "gone", "").snapshot()
