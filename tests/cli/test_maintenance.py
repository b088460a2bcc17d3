"""The commands backup, restore and purge, and doctor --verify."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .terminal import Call


@pytest.fixture
def there(another_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Somewhere else, from now on."""

    def go() -> None:
        monkeypatch.setenv("PINCITE_DATABASE_URL", another_database_url)
        monkeypatch.setenv("PINCITE_DATA", str(tmp_path / "there"))

    return go


def test_a_library_is_backed_up_restored_elsewhere_and_verified(
    library: Call, there: Callable[[], None], tmp_path: Path
) -> None:
    listed = library("list", "--json").json["items"]
    made = library("backup", tmp_path / "b.tar.gz", "--json")
    assert (made.code, made.json["documents"], made.json["missing"]) == (0, len(listed), [])
    assert made.json["bytes"] == (tmp_path / "b.tar.gz").stat().st_size
    assert "last backup on" in {c["name"]: c["found"] for c in library("doctor", "--json").json["checks"]}["backup"]
    there()
    said = library("restore", tmp_path / "b.tar.gz")
    assert (said.code, "no problems" in said.out) == (0, True)
    assert {one["id"] for one in library("list", "--json").json["items"]} == {one["id"] for one in listed}
    again = library("restore", tmp_path / "b.tar.gz")
    assert (again.code, "the library is not empty" in again.err) == (1, True)
    assert library("doctor", "--verify", "--json").code == 0


def test_doctor_counts_what_changed_since_the_backup(library: Call, tmp_path: Path) -> None:
    """Documents that were removed, and those of people whose documents the local administrator may not read."""
    (tmp_path / "gone.md").write_text("# Gone\n\nThe gate is green.\n", encoding="utf-8")
    (tmp_path / "new.md").write_text("# New\n\nThe gate is red.\n", encoding="utf-8")
    library("add", tmp_path / "gone.md")
    assert library("backup", tmp_path / "b.tar.gz").code == 0

    def told() -> str:
        found = {check["name"]: check["found"] for check in library("doctor", "--json").json["checks"]}["backup"]
        return str(found).partition("; ")[2]

    assert told() == "0 documents added or changed, 0 removed since"
    library("add", tmp_path / "new.md")
    assert told() == "1 document added or changed, 0 removed since"
    library("remove", "gone.md")
    assert told() == "1 document added or changed, 1 removed since"
    library("remove", "new.md")
    assert told() == "0 documents added or changed, 2 removed since"


def test_backup_and_restore_need_no_embedder(
    library: Call, there: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_EMBEDDING__PROVIDER", "openai_compatible")  # with no address: it cannot be made
    assert library("search", "cat").code != 0
    assert library("backup", tmp_path / "b", "--without-traces").code == 0
    there()
    assert library("restore", tmp_path / "b", "--json").json["ok"]


def test_a_damaged_backup_restores_nothing(library: Call, there: Callable[[], None], tmp_path: Path) -> None:
    assert library("backup", tmp_path / "b").code == 0
    (tmp_path / "b").write_bytes((tmp_path / "b").read_bytes()[:-100])
    there()
    said = library("restore", tmp_path / "b")
    assert (said.code, "or is damaged" in said.err) == (1, True)
    assert not (tmp_path / "there").exists()


def test_a_backup_in_the_data_folder_or_over_a_file_is_refused(
    library: Call, library_settings: dict[str, str], tmp_path: Path
) -> None:
    inside = library("backup", Path(library_settings["PINCITE_DATA"], "b"))
    assert (inside.code, "name a file elsewhere" in inside.err) == (2, True)
    (tmp_path / "mine").write_text("mine")
    over = library("backup", tmp_path / "mine")
    assert (over.code, "exists already" in over.err) == (2, True)
    nowhere = library("backup", tmp_path / "no" / "such" / "folder")
    assert (nowhere.code, "cannot be written" in nowhere.err) == (1, True)


def test_purge_warns_about_the_log_of_an_own_server(library: Call) -> None:
    said = library("purge")
    assert said.code == 0
    assert "tables rewritten" in said.out
    assert "log, replicas and backups" in said.out.replace("\n", " ")
    assert library("purge", "--json").json["log"] is False
    assert library("search", "cat").code == 0


@pytest.mark.parametrize("words", [("purge",), ("backup", "b")])
def test_maintenance_creates_no_library(
    library: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.delenv("PINCITE_DATABASE_URL")
    monkeypatch.chdir(tmp_path)
    said = library(*words, "--data", tmp_path / "nothing")
    assert (said.code, "there is no library in" in said.err) == (2, True)
    assert not (tmp_path / "nothing").exists()
