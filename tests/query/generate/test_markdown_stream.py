"""Stretches of streamed Markdown: where they end, when they wait, and that reading is fast."""

import time
from typing import Any

import pytest

from pincite.query.generate import markdown_stream
from pincite.query.generate.markdown_stream import next_stretch, sanitize
from pincite.query.generate.stream_filter import StreamFilter


def test_a_stretch_ends_with_its_line_its_sentence_or_a_word_after_enough() -> None:
    assert next_stretch("One\ntwo", 40, False, fresh=True) == (4, "One\n")
    assert next_stretch("It is so. And", 40, False, fresh=True) == (10, "It is so. ")
    assert next_stretch("one two three four", 5, False, fresh=True) == (8, "one two ")
    assert next_stretch("文です。次", 40, False, fresh=True) == (4, "文です。")
    assert next_stretch("one two", 40, False, fresh=True) is None
    assert next_stretch("one two", 40, True, fresh=True) == (7, "one two")


@pytest.mark.parametrize(
    "text", ["a ![x", "a ![x](http://e", "a <im", "a <img src='x", "a `code", "a [Source 1, So. ", "S", "a **S"]
)
def test_it_waits_for_what_has_not_ended_yet(text: str) -> None:
    assert next_stretch(text, 1, False, fresh=False) in (None, (2, "a "))
    rest = text.removeprefix("a ")
    assert next_stretch(rest, 1, False, fresh=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "S" * 5000,
        "<" * 5000,
        "![[" * 2000,
        "![a](" * 1000,
        "`" * 5000,
        "[" * 5000,
        "<img a " * 800,
        "\\[" * 2500,
        "![" + "\\" * 5000,
    ],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    started = time.thread_time()
    for final in (False, True):
        next_stretch(text, 40, final, fresh=True)
    sanitize(text)
    assert time.thread_time() - started < 1


@pytest.mark.parametrize(
    "tag",
    [
        '<img alt=">" src=u>',
        "<img alt='>' src=u>",
        "<p style='background:url(u)'>",
        '<div\nstyle="x">',
        "<body background=u>",
        "<video poster=u>",
        "<object data=u>",
        "<link rel=stylesheet href=u>",
        "<style>",
        "<script>",
        "<meta http-equiv=refresh>",
        "<base href=u>",
        "<iframe src=u>",
        "<embed src=u>",
        "<use href=u>",
        "<b onclick=u>",
        "<x-y srcset = u>",
        "<a/src=u>",
    ],
)
def test_a_tag_that_loads_something_goes_whole_and_is_set_apart_in_code(tag: str) -> None:
    assert next_stretch(f"a {tag}b", 40, True, fresh=False) == (len(tag) + 3, "a b")
    assert sanitize(tag) == f"< {tag[1:]}"


@pytest.mark.parametrize(
    "text",
    [
        "a < b and b > c",
        "List<String> of <b>things</b>",
        "use <img> or <link>",
        "1 <2 =3>",
    ],
)
def test_other_brackets_stay(text: str) -> None:
    assert next_stretch(text, 400, True, fresh=False) == (len(text), text)
    assert sanitize(text) == text


def test_a_tag_whose_end_cannot_be_seen_can_no_longer_begin() -> None:
    for text in ("<div\n\nstyle=x>", "<div " + "x" * 600 + " style=x>", '<img src="x>'):
        found = next_stretch(text, 1, True, fresh=False)
        assert found is not None
        assert found[1].startswith("< ")
        assert sanitize(text).startswith("< ")


def test_nothing_is_read_twice_because_it_comes_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = 0
    read = markdown_stream._read_element

    def counted(*arguments: Any) -> Any:
        nonlocal reads
        reads += 1
        return read(*arguments)

    monkeypatch.setattr(markdown_stream, "_read_element", counted)
    cleaner, text = StreamFilter(), "![" * 4000
    shown = "".join(cleaner.feed(text[at : at + 3]) for at in range(0, len(text), 3)) + cleaner.close()
    assert shown == "! [" * 4000
    assert reads < 3 * len(text)


def test_sanitized_text_loads_nothing() -> None:
    assert sanitize("Sure! See ![x](u) <img src=u> [Source 1]") == "Sure! See ! [x] (u) < img src=u> [Source 1]"
