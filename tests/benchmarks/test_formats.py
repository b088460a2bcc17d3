"""The benchmark of formats tells how each file ended."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.formats import Outcome, _summary, _unread, read_all
from pincite.config.settings import Settings


@pytest.fixture(scope="module", autouse=True)
def read_by_the_tests() -> None:
    """Here files are read in processes, whose memory is measured."""


def test_files_that_were_not_read_stand_together_by_their_reason() -> None:
    outcomes = [
        Outcome("a.docx", "completed", pages=2, chars=1000, headings=3, tables=1, ms=5.0, peak_mb=90.0),
        Outcome("b.docx", "error", "empty: there is no text in the file", ms=7.0, peak_mb=95.0),
        Outcome("c.docx", "error", "empty: there is no text in the file", ms=9.0, peak_mb=80.0),
        Outcome("d.msg", "refused", "unsupported: 'd.msg' is an Outlook message"),
    ]
    assert _summary(outcomes).splitlines()[2:] == [
        "| docx | 3 | 1 | 2 | 2 | 1,000 | 3 | 1 | 7 | 9 | 95 |",
        "| msg | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
    ]
    assert _unread(outcomes).splitlines()[2:] == [
        "| docx | 2 | error `empty` | there is no text in the file | b, c |",
        "| msg | 1 | refused `unsupported` | it is an Outlook message | d |",
    ]


@pytest.mark.slow
def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One\n\n| a |\n| --- |\n| 1 |\n")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    (tmp_path / "c.exe").write_bytes(b"MZ")
    good, broken, refused = asyncio.run(read_all(sorted(tmp_path.iterdir()), Settings()))
    assert (good.outcome, good.headings, good.tables) == ("completed", 1, 1)
    assert good.peak_mb > 10
    assert (broken.outcome, broken.reason.partition(":")[0]) == ("error", "broken")
    assert refused.outcome == "refused"
