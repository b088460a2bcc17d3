import pytest

from benchmarks import canaries


@pytest.mark.slow
def test_a_small_run_finds_nothing_and_says_what_the_owner_would(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["canaries", "--requests", "20"])
    with pytest.raises(SystemExit, match="0"):
        canaries.main()
    assert "| 20 | " in capsys.readouterr().out
