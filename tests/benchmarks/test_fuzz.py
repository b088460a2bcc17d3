from itertools import islice

import pytest


@pytest.mark.slow
def test_a_small_run_breaks_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import fuzz  # here: it loads a large library
    from tests.hostile.fuzzing import operations

    monkeypatch.setattr("sys.argv", ["fuzz", "--examples", "1"])
    monkeypatch.setattr(fuzz, "operations", lambda url: islice(operations(url), 10))
    with pytest.raises(SystemExit, match="0"):
        fuzz.main()
    assert "| 10 | 1 | 0 |" in capsys.readouterr().out
