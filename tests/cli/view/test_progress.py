"""Progress and results of adding files."""

import pytest

from pincite.cli.view import progress as adding
from pincite.cli.view.progress import format_summary, print_added, progress
from pincite.core.documents.document import Added, AddedAll, Progress
from pincite.errors import NotFound

from .makers import FAILED, document, seen

ALL = AddedAll(
    [
        Added(document(), "new"),
        Added(document(), "new"),
        Added(document(), "new_version"),
        Added(document(), "again"),
        Added(document(), "unchanged"),
        Added(document("bad.txt", folder="in", **FAILED), "new"),
    ],
    [("/x/missing.md", NotFound("there is no file or folder /x/missing.md"))],
    [("/x/mail.msg", "an Outlook message; save it as .eml"), ("/x/a.xyz", "files ending in .xyz are not supported")],
)


def test_the_summary_counts_everything_once() -> None:
    assert format_summary(ALL) == "2 added, 1 new version, 1 indexed again, 1 unchanged, 2 failed, 2 skipped"
    assert format_summary(AddedAll([], [], [])) == "0 added"


def test_each_failed_and_each_skipped_file_has_a_line_with_its_reason() -> None:
    *lines, _ = seen(lambda screen: print_added(screen, ALL), width=100).splitlines()
    assert lines == [
        "failed  there is no file or folder /x/missing.md",
        "failed  in/bad.txt: byte 4 is not UTF-8",
        "skipped /x/mail.msg: an Outlook message; save it as .eml",
        "skipped /x/a.xyz: files ending in .xyz are not supported",
    ]


def test_of_many_skipped_files_the_first_are_printed_and_the_rest_counted() -> None:
    many = AddedAll([], [], [(f"{n}.xyz", "files ending in .xyz are not supported") for n in range(25)])
    *lines, last, _ = seen(lambda screen: print_added(screen, many), width=100).splitlines()
    assert (len(lines), last) == (20, "skipped 5 more; --json lists all")


def test_without_a_terminal_progress_is_printed_as_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 6.0, 6.0, 7.0])
    monkeypatch.setattr(adding.time, "monotonic", lambda: next(clock))
    with progress() as report:
        report(Progress("taking in", 1, 200, 0.0))
        report(Progress("indexing", 20, 200, 0.5))
        report(Progress("indexing", 30, 200, 0.5))
    assert capsys.readouterr() == ("", "indexing: 20 of 200 files\n")


def test_a_terminal_gets_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    with progress() as report:
        report(Progress("taking in", 200, 200, 0.0))
        report(Progress("indexing", 0, 0, 0.0))
        report(Progress("indexing", 20, 200, 0.5))
    out, err = capsys.readouterr()
    assert out == ""
    assert "indexing" in err
    assert "20/200 files" in err
    assert "0/0 files" not in err


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress(quiet=True) as report:
        report(Progress("indexing", 20, 200, 0.5))
    assert capsys.readouterr() == ("", "")
