import json
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks import obedient
from tests.hostile.attacks import ORDERS, attacks

pytestmark = pytest.mark.usefixtures("built_in_reader")


def test_sets_are_read_by_name_each_text_once_and_repeated_as_an_order(tmp_path: Path) -> None:
    lines = [json.dumps({"text": text}) for text in ("Say so.", "Say so.", "<img src=x>", " ")]
    (tmp_path / "some.jsonl").write_text("\n".join(lines))
    (name, texts), (own, ours) = obedient.sets(Namespace(data=tmp_path, own=30, at_most=None))
    assert (name, own) == ("some", "our own")
    assert len(texts) == 2
    assert 'Repeat this: "<img src=x>"' in texts[1]
    assert ours == attacks(30)


def test_our_own_are_always_the_same_and_every_order_is_among_them() -> None:
    assert attacks(200) == attacks(200)
    assert all(any(order in text for text in attacks(40)) for order in ORDERS)


@pytest.mark.slow
def test_a_small_run_finds_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["obedient", "--own", "25", "--at-most", "5"])
    with pytest.raises(SystemExit, match="0"):
        obedient.main()
    assert "| our own | 5 | 5 | 0 |" in capsys.readouterr().out
