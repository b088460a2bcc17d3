"""The console and its layouts."""

import pytest
from rich.cells import cell_len

from pincite.cli.view.screen import join_text, shorten, styled, waiting

from .makers import seen


def test_markup_and_emoji_in_a_text_are_only_text() -> None:
    assert seen(lambda screen: screen.print_line("[bold]x[/bold] :cat: 12")) == "[bold]x[/bold] :cat: 12\n"


def test_a_line_is_never_broken() -> None:
    assert seen(lambda screen: screen.print_line("word " * 60), width=40).count("\n") == 1


def test_text_flows_beside_its_lead_behind_its_bar() -> None:
    body = styled("one two three four five six")
    told = seen(lambda screen: screen.print_wrapped(body, indent=6, lead=styled("[1]"), bar="│ "), width=30)
    assert told == "[1]   │ one two three four\n      │ five six\n"


def test_text_is_never_wider_than_can_be_read() -> None:
    told = seen(lambda screen: screen.print_wrapped(styled("word " * 100)), width=300)
    assert max(map(len, told.splitlines())) <= 100


def test_a_word_longer_than_the_screen_is_broken() -> None:
    told = seen(lambda screen: screen.print_wrapped(styled("x" * 100), indent=4), width=40)
    assert max(map(len, told.splitlines())) <= 40
    assert told.count("x") == 100


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("short.md", 20, "short.md"),
        ("a-very-long-name-of-a-file.md", 15, "a-very-…file.md"),
        ("日本語の長い名前.md", 9, "日本….md"),
        ("abcdef", 3, "abc"),
        ("evil\x1b[2J", 40, "evil\\x1b[2J"),
    ],
)
def test_a_long_name_is_cut_in_the_middle(text: str, width: int, short: str) -> None:
    assert shorten(text, width) == short
    assert cell_len(short) <= width


def test_parts_keep_their_styles_and_are_escaped() -> None:
    text = join_text("a", ("b\x1b", "bold"), styled("c", "red"))
    assert text.plain == "ab\\x1bc"
    assert [str(span.style) for span in text.spans] == ["bold", "red"]


def test_waiting_prints_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("opening"):
        pass
    assert capsys.readouterr() == ("", "")


def test_waiting_is_shown_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with waiting("opening the library"):
        pass
    out, err = capsys.readouterr()
    assert (out, "opening the library" in err) == ("", True)
