"""The backup file: read as it was written, or refused."""

import io
import os
import re
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from pincite.core.operations import BACKUP_FORMAT, BackupManifest, BackupTable
from pincite.errors import DataFolderError, Unreadable
from pincite.store.operations.backup_file import Writer, check, members
from pincite.store.operations.restore import read_backup

MANIFEST = BackupManifest(
    pincite="0.1.0",
    schema=1,
    library="lib",
    made_at="2026-01-01T00:00:00+00:00",
    documents=1,
    tables=(BackupTable("document", ("id", "name"), 1),),
    sequences={"job_id_seq": 7},
    missing=(),
)
CONTENT = {"files/doc-1/v_1": os.urandom(5000), "tables/document/000000": b"rows", "tables/document/000001": b""}


def write(path: Path, manifest: BackupManifest | None = MANIFEST) -> Path:
    with open(path, "wb") as file, Writer(file) as writer:
        for name, data in CONTENT.items():
            writer.add(name, data)
        if manifest is not None:
            writer.seal(manifest)
    return path


def written(path: Path, *names: str, kind: bytes = tarfile.REGTYPE) -> Path:
    """A tar file that pincite did not write."""
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            header = tarfile.TarInfo(name)
            header.size, header.type, header.linkname = 3 if kind == tarfile.REGTYPE else 0, kind, "/etc/passwd"
            tar.addfile(header, io.BytesIO(b"abc"))
    return path


def checked(path: Path) -> BackupManifest:
    return check(path, lambda _done, _whole: None)


def test_a_backup_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = write(tmp_path / "b")
    found = checked(path)
    assert found == replace(MANIFEST, members=3, sha256=found.sha256)
    assert {name.string: read() for name, read in members(path)} == CONTENT


def test_a_file_is_added_from_the_disk(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"x" * 3_000_000)
    with open(tmp_path / "b", "wb") as file, Writer(file) as writer:
        writer.add_file("files/d/v", tmp_path / "raw")
        writer.seal(MANIFEST)
    checked(tmp_path / "b")
    assert [read() for _, read in members(tmp_path / "b")] == [b"x" * 3_000_000]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_backup_is_refused(tmp_path: Path, share: float) -> None:
    path = write(tmp_path / "b")
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(Unreadable, match="is not a backup of pincite, or is damaged"):
        checked(path)


def test_a_backup_without_its_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="its end is missing"):
        checked(write(tmp_path / "b", manifest=None))


@pytest.mark.parametrize("place", range(20, 5000, 331))
def test_a_single_wrong_byte_is_found(tmp_path: Path, place: int) -> None:
    path = write(tmp_path / "b")
    data = bytearray(path.read_bytes())
    data[place] ^= 0x20
    path.write_bytes(data)
    with pytest.raises(Unreadable):
        checked(path)


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "files/../x",
        "files/a/b/c",
        "files/..",
        "tables/x/../000000",
        "notes.txt",
        "files/.place/x",
        "files/a/\n",
        "tables/DOCUMENT/000000",
        "files/a/b\n",
    ],
)
def test_member_names_that_are_no_ids_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unreadable, match="it has unknown content"):
        checked(written(tmp_path / "b", name))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_links_folders_and_pipes_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(Unreadable, match="it has unknown content"):
        checked(written(tmp_path / "b", "files/a/b", kind=kind))


def test_a_member_after_the_manifest_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "b", "wb") as file, Writer(file) as writer:
        writer.seal(MANIFEST)
        writer.add("files/d/v", b"x")
    with pytest.raises(Unreadable, match="it has unknown content"):
        checked(tmp_path / "b")


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{}", b'{"format": 1}', b'{"format": 1, "tables": [{}]}', b"\xff"])
def test_an_invalid_manifest_is_refused(tmp_path: Path, manifest: bytes) -> None:
    with tarfile.open(tmp_path / "b", "w:gz") as tar:
        header = tarfile.TarInfo("manifest.json")
        header.size = len(manifest)
        tar.addfile(header, io.BytesIO(manifest))
    with pytest.raises(Unreadable):
        checked(tmp_path / "b")


def test_another_format_and_a_newer_schema_are_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="install a newer one"):
        checked(write(tmp_path / "a", replace(MANIFEST, format=BACKUP_FORMAT + 1)))
    with pytest.raises(DataFolderError, match="made by a newer pincite"):
        read_backup(write(tmp_path / "b", replace(MANIFEST, schema=9999)), lambda _progress: None)


def test_a_library_id_that_is_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="has no valid library id"):
        checked(write(tmp_path / "b", replace(MANIFEST, library="../../elsewhere")))


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear all")
    for path in (tmp_path / "letter", tmp_path / "nothing", tmp_path):
        with pytest.raises(Unreadable, match=re.escape(str(path))):
            read_backup(path, lambda _progress: None)
