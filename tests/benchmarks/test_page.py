import json
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks import page
from tests.page.browser import chromium


def test_sets_are_read_by_name_and_our_own_come_last(tmp_path: Path) -> None:
    lines = [json.dumps({"text": text}) for text in ("<b>", "<b>", "x")]
    (tmp_path / "some.jsonl").write_text("\n".join(lines))
    (name, texts), (own, ours) = page.sets(Namespace(data=tmp_path, at_most=None))
    assert (name, texts, own) == ("some", ["<b>", "x"], "our own")
    assert len(ours) > 1000


@pytest.mark.slow
def test_a_small_run_finds_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    chromium()
    monkeypatch.setattr("sys.argv", ["page", "--at-most", "20"])
    with pytest.raises(SystemExit, match="0"):
        page.main()
    assert "| our own | 20 | 0 | 0 |" in capsys.readouterr().out
