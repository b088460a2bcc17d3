"""Folders in a terminal."""

import pytest

from pincite.cli.view.folders import print_folders
from pincite.cli.view.screen import Screen
from pincite.core.documents.document import Folder


def test_a_line_for_each_folder_that_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_folders(Screen(), [Folder("hr", "Be\n\x1b[31mbrief. " + "x" * 100, "People", 1200), Folder("it")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("hr          1,200  People  Be \\x1b[31mbrief. xx…")
    assert len(lines[1]) < 80
    assert lines[2].split() == ["it", "0"]


def test_without_folders_the_list_says_how_to_make_one(capsys: pytest.CaptureFixture[str]) -> None:
    print_folders(Screen(), [])
    assert "pincite add PATH --folder NAME" in capsys.readouterr().out
