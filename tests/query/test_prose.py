"""Stretches of prose: where they end, what they wait for, and that nothing takes long."""

import time

import pytest

from pincite.query.prose import stretch, tamed


def test_a_stretch_ends_with_its_line_its_sentence_or_a_word_after_enough() -> None:
    assert stretch("One\ntwo", 40, False, fresh=True) == (4, "One\n")
    assert stretch("It is so. And", 40, False, fresh=True) == (10, "It is so. ")
    assert stretch("one two three four", 5, False, fresh=True) == (8, "one two ")
    assert stretch("文です。次", 40, False, fresh=True) == (4, "文です。")
    assert stretch("one two", 40, False, fresh=True) is None
    assert stretch("one two", 40, True, fresh=True) == (7, "one two")


@pytest.mark.parametrize(
    "text", ["a ![x", "a ![x](http://e", "a <im", "a <img src='x", "a `code", "a [Source 1, So. ", "S", "a **S"]
)
def test_it_waits_for_what_has_not_ended_yet(text: str) -> None:
    assert stretch(text, 1, False, fresh=False) in (None, (2, "a "))
    rest = text.removeprefix("a ")
    assert stretch(rest, 1, False, fresh=False) is None


@pytest.mark.parametrize(
    "text",
    ["S" * 5000, "<" * 5000, "![[" * 2000, "![a](" * 1000, "`" * 5000, "[" * 5000, "<img a " * 800, "\\[" * 2500, "![" + "\\" * 5000]
)  # fmt: skip
def test_hostile_text_takes_no_time(text: str) -> None:
    started = time.monotonic()
    for final in (False, True):
        stretch(text, 40, final, fresh=True)
    tamed(text)
    assert time.monotonic() - started < 1


def test_what_is_tamed_stands_but_loads_nothing() -> None:
    assert tamed("Sure! See ![x](u) <img src=u> [Source 1]") == "Sure! See ! [x](u) < img src=u> [Source 1]"
