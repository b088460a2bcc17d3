"""Escaped text, JSON, and readable numbers."""

import io
import json
import sys

import pytest

from pincite.cli.output import clean, one_line, print_json
from pincite.text.units import count, size


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – Größe 日本\n\tnext", "plain – Größe 日本\n\tnext"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("back\b\rline\x7f", "back\\x08\\x0dline\\x7f"),
        ("exe\u202egpj", "exe\\u202egpj"),
        ("\u2066hidden\u2069", "\\u2066hidden\\u2069"),
        ("name\udcff", "name\\udcff"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\n b\tc \u2028d ") == "a b c d"


@pytest.mark.parametrize("text", ['Größe \x1b[2J \x9b \u202e \udcff "quoted" \\ back', "tab\tline\n"])
def test_json_is_safe_and_loses_nothing(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": text})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"text": text}
    assert clean(printed) == printed


def test_json_is_valid_in_every_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", out)
    print_json({"text": "Größe 日本"})
    printed = out.buffer.getvalue()  # type: ignore[attr-defined]
    assert json.loads(printed.decode("ascii")) == {"text": "Größe 日本"}


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KB"), (200 * 1024, "200 KB"), (5 * 1024**4, "5.0 TB")],
)
def test_sizes_are_readable(number: int, said: str) -> None:
    assert size(number) == said


def test_counts_have_singular_and_plural() -> None:
    assert [count(n, "word") for n in (0, 1, 1200)] == ["0 words", "1 word", "1,200 words"]
    assert count(2, "copy", "copies") == "2 copies"
