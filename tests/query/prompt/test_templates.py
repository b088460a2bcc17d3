from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import SettingsError
from pincite.query.prompt.templates import (
    REQUIRED_PLACEHOLDERS,
    Prompts,
    Template,
    check_custom_prompts,
    custom_prompts,
    template,
)
from pincite.text.invisible import visible

SHIPPED = Path(__file__).parents[3] / "pincite" / "query" / "prompt" / "templates"


def test_every_prompt_is_a_file_and_every_file_a_prompt() -> None:
    assert {path.relative_to(SHIPPED).as_posix().removesuffix(".txt") for path in SHIPPED.rglob("*.txt")} == set(
        REQUIRED_PLACEHOLDERS
    )


@pytest.mark.parametrize("name", REQUIRED_PLACEHOLDERS)
def test_shipped_prompts_have_their_required_placeholders(name: str) -> None:
    text = template(name).text
    assert text
    assert all(f"{{{place}}}" in text for place in REQUIRED_PLACEHOLDERS[name])


@given(st.text(), st.sampled_from(["{b}", "{{b}}", "%s", "{0}", "\\1", "{a}{b}"]))
def test_values_are_not_parsed_for_placeholders(text: str, trap: str) -> None:
    assert Template("t", "<{a}|{b}>").fill(a=text + trap, b="B") == f"<{visible(text + trap)}|B>"


def test_braces_that_name_no_place_stay() -> None:
    assert Template("t", '{"json": {x}} {a}').fill(a="1") == '{"json": {x}} 1'


def test_a_prompt_of_ones_own_is_used_as_soon_as_it_is_there_and_read_again_when_it_changes(tmp_path: Path) -> None:
    custom = tmp_path / "prompts" / "rewrite.txt"
    assert not template("rewrite", tmp_path).custom
    custom.parent.mkdir()
    custom.write_text("{conversation} {question}", encoding="utf-8")
    assert template("rewrite", tmp_path) == Template("rewrite", "{conversation} {question}", custom=True)
    custom.write_text("Now: {conversation} {question}", encoding="utf-8")
    assert template("rewrite", tmp_path).text.startswith("Now")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("rewrite.txt", b"{question}", r"lacks \{conversation\}"),
        ("rewrite.txt", b"\xff\xfe", "cannot be read"),
        ("rewrite.txt", b"x" * 200_000, "may have at most 100000"),
        ("rewritten.txt", b"", "is not a prompt; there are: default/system.txt"),
        ("default/system.md", b"", "is not a prompt"),
    ],
)
def test_a_prompt_that_cannot_work_is_refused_at_the_start(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    check_custom_prompts(tmp_path)
    path = tmp_path / "prompts" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=told):
        check_custom_prompts(tmp_path)


@pytest.mark.parametrize("spoilt", [b"{question}", b"\xff", b"x" * 200_000])
def test_an_invalid_custom_prompt_falls_back_and_is_reported(tmp_path: Path, spoilt: bytes) -> None:
    told: list[str] = []
    prompts, custom = Prompts(tmp_path, told.append), tmp_path / "prompts" / "rewrite.txt"
    custom.parent.mkdir()
    custom.write_bytes(spoilt)
    assert prompts.get("rewrite") == template("rewrite")
    custom.write_text("Mine. {conversation} {question}", encoding="utf-8")
    assert prompts.get("rewrite").text.startswith("Mine.")
    custom.write_bytes(spoilt + b" ")
    assert prompts.get("rewrite").text.startswith("Mine.")
    assert ["shipped prompt is used" in told[0], "last valid version is used" in told[1], len(told)] == [True, True, 2]
    assert str(tmp_path) not in str(told)


def test_an_unknown_prompt_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="there are: default/system"):
        template("nonsense")


def test_a_changed_custom_prompt_changes_the_cache_key(tmp_path: Path) -> None:
    assert custom_prompts(tmp_path) == ()
    custom = tmp_path / "prompts" / "talk.txt"
    custom.parent.mkdir()
    custom.write_text("Be kind.")
    before = custom_prompts(tmp_path)
    assert [name for name, *_ in before] == ["talk"]
    custom.write_text("Be kinder.")
    assert custom_prompts(tmp_path) != before
