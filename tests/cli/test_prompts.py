"""The commands for prompts."""

from pathlib import Path

from .terminal import call


def test_prompts_are_listed_and_shown_and_ones_own_win(tmp_path: Path) -> None:
    assert "default/system       shipped" in call("prompts", "list", "--data", tmp_path).out
    shipped = call("prompts", "show", "answer/list", "--data", tmp_path).out
    own = tmp_path / "prompts" / "answer" / "list.txt"
    own.parent.mkdir(parents=True)
    own.write_text(f"{shipped}In verse.\x1b[2J\n", encoding="utf-8")
    assert "answer/list          your own" in call("prompts", "list", "--data", tmp_path).out
    assert call("prompts", "show", "answer/list", "--data", tmp_path).out == f"{shipped}In verse.\\x1b[2J\n"
    assert call("prompts", "show", "answer/list", "--data", tmp_path, "--json").json["own"] is True


def test_an_unknown_prompt_lists_the_known_ones(tmp_path: Path) -> None:
    told = call("prompts", "show", "nonsense", "--data", tmp_path).failed_with(2)
    assert "there is no prompt 'nonsense'; there are: default/system" in told
