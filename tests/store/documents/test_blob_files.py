from pathlib import Path

import pytest

from pincite.errors import DataFolderError
from pincite.store.documents.blob_files import BlobFiles


def test_files_are_read_as_written_and_private(tmp_path: Path) -> None:
    files = BlobFiles(tmp_path, "lib")
    files.write("doc", "v1", b"\x00bytes")
    assert files.read("doc", "v1") == b"\x00bytes"
    path = files.path("doc", "v1")
    assert [p.stat().st_mode & 0o777 for p in (path, path.parent, path.parent.parent)] == [0o600, 0o700, 0o700]


def test_removing_takes_all_versions(tmp_path: Path) -> None:
    files = BlobFiles(tmp_path, "lib")
    files.write("doc", "v1", b"1")
    files.write("doc", "v2", b"2")
    for version in ("v1", "v2", "v2"):
        assert files.remove("doc", version)
    assert [path.name for path in (tmp_path / "files" / "lib").iterdir()] == [".place"]


def test_a_data_folder_keeps_its_id(tmp_path: Path) -> None:
    assert BlobFiles(tmp_path, "lib").place == BlobFiles(tmp_path, "lib").place != BlobFiles(tmp_path, "other").place


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    files = BlobFiles(tmp_path, "lib")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataFolderError, match="disk is full"):
        files.write("doc", "v1", b"x")
    assert list((tmp_path / "files" / "lib").glob("*/*")) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataFolderError, match="cannot write to"):
        BlobFiles(tmp_path / "file", "lib")
