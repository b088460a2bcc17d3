"""The benchmark of revocations, on a few rounds."""

from pathlib import Path

import pytest

from benchmarks.revocation import folder, searches, tell, until, ways_in
from tests.api.live_server import LiveServer


def test_each_change_is_made_obeyed_and_told(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LiveServer(tmp_path / "data", **{"database.url": database_url}) as door, door.client() as boss:
        searches(door, boss, 1)
        ways_in(door, boss, 1)
        folder(door, boss, 3)
    told = [line.split(" | ")[0] for line in capsys.readouterr().out.splitlines()]
    assert len(told) == 11
    assert all(line.startswith(("| search: ", "| key: ", "| login: ", "| link: ", "| folder of 3: ")) for line in told)


def test_a_time_runs_until_a_change_is_obeyed() -> None:
    done: list[str] = []
    assert until(lambda: len(done) == 3 or bool(done.append("looked")), lambda: done.append("changed")) > 0
    assert done == ["changed", "looked", "looked"]


def test_a_line_has_the_median_and_the_worst(capsys: pytest.CaptureFixture[str]) -> None:
    tell("x", [3.0, 1.0, 8.0], "≤ 1 s")
    assert capsys.readouterr().out == "| x | 3 | 3 | 8 | ≤ 1 s |\n"
