"""The benchmark of answers over office documents."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import office
from tests.evaluate.makers import write_answer_set

pytestmark = pytest.mark.usefixtures("built_in_reader")


@pytest.mark.slow
def test_the_shares_are_printed_and_the_answers_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, file = write_answer_set(tmp_path / "office"), tmp_path / "answers.jsonl"
    options = ["--data", str(folder), "--answers", str(file), "--set", "embedding.provider=scripted"]
    monkeypatch.setattr(sys, "argv", ["office", *options])
    office.main()
    assert "office  3 documents, 5 questions" in capsys.readouterr().out
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["a1", "a2", "a3", "a4", "a5"]
    assert "half past six" in rows[0]["answer"]
