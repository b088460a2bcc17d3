import os
from pathlib import Path

import pytest

from pincite.errors import BadRequest
from pincite.ingest.accept.collect import MAX_BATCH_BYTES, Collected, NamedFile, collect


def tree(top: Path, *names: str) -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_a_folder_is_added_under_its_own_name_in_order(tmp_path: Path) -> None:
    tree(tmp_path / "docs", "b.md", "a.txt", "guide/c.md", ".git/d.md", ".hidden.md", "image.gif", "~$b.docx", "x")
    found = collect([tmp_path / "docs"], folder="hr")
    assert [(file.path.name, file.folder) for file in found.files] == [
        ("a.txt", "hr/docs"),
        ("b.md", "hr/docs"),
        ("c.md", "hr/docs/guide"),
    ]
    assert [(Path(path).name, reason) for path, reason in found.skipped] == [
        ("image.gif", "a GIF, HEIC, AVIF, SVG or Photoshop image; save it as .png or .jpg"),
        ("x", "its name has no ending"),
    ]
    assert found.refused == []


@pytest.mark.parametrize(
    ("folder", "target"), [("", "kb"), ("kb", "kb"), ("/kb/", "kb"), ("hr/kb", "hr/kb"), ("hr", "hr/kb"), ("b", "b/kb")]
)
def test_a_folder_name_is_not_repeated(tmp_path: Path, folder: str, target: str) -> None:
    tree(tmp_path / "kb", "a.md", "sub/b.md")
    assert [file.folder for file in collect([tmp_path / "kb"], folder).files] == [target, f"{target}/sub"]


def test_a_named_file_is_collected_whatever_its_type(tmp_path: Path) -> None:
    tree(tmp_path, "image.gif")
    assert collect([tmp_path / "image.gif"]).files == [NamedFile(tmp_path / "image.gif", "")]


def test_neither_of_two_files_with_one_name_replaces_the_other_silently(tmp_path: Path) -> None:
    tree(tmp_path, "a/x.md", "b/x.md")
    found = collect([tmp_path / "a/x.md", tmp_path / "b/x.md", tmp_path / "a/x.md"])
    assert [file.path.parent.name for file in found.files] == ["a"]
    [(path, error)] = found.refused
    assert path.endswith("b/x.md")
    assert "same name" in str(error)


@pytest.mark.parametrize("path", ["nope.md", "x" * 5000, "a\0b"])
def test_a_missing_path_is_refused_in_one_short_line(tmp_path: Path, path: str) -> None:
    [(_, error)] = collect([tmp_path / path]).refused
    assert "\n" not in str(error)
    assert len(str(error)) < 300


def test_links_are_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, "docs/a.md", "secret/b.md")
    (tmp_path / "docs/link").symlink_to(tmp_path / "secret")
    (tmp_path / "docs/b.md").symlink_to(tmp_path / "secret/b.md")
    assert [file.path.name for file in collect([tmp_path / "docs"]).files] == ["a.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    tree(tmp_path, "a.md")
    (tmp_path / "a.md").chmod(0)
    with pytest.raises(BadRequest, match="cannot read"):
        NamedFile(tmp_path / "a.md", "").read()


def test_a_data_folder_inside_is_skipped(tmp_path: Path) -> None:
    tree(tmp_path / "docs", "a.md", "data/postgres.secret", "data/note.md", "data/files/x/y.md")
    assert [file.path.name for file in collect([tmp_path / "docs"]).files] == ["a.md"]


def test_two_unicode_forms_of_a_name_are_one_name(tmp_path: Path) -> None:
    tree(tmp_path / "docs", "caf\u00e9.md", "cafe\u0301.md")
    found = collect([tmp_path / "docs"])
    assert (len(found.files), len(found.refused)) == (1, 1)


def test_files_are_uploaded_in_batches_of_limited_number_and_size(tmp_path: Path) -> None:
    sizes = [1] * 68 + [MAX_BATCH_BYTES, 5, 5]
    files = []
    for number, size in enumerate(sizes):
        files.append(NamedFile(tmp_path / f"{number}.md", ""))
        with files[-1].path.open("wb") as file:
            file.truncate(size)
    batches = list(Collected(files, [], []).batches())
    assert [len(batch) for batch in batches] == [64, 4, 1, 2]
    assert [file for batch in batches for file in batch] == files
