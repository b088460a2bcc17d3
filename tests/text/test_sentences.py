"""Sentences, lines, normalising and fingerprints."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.text.sentences import (
    fingerprint,
    fold,
    line_of,
    line_starts,
    normalise,
    sentences,
    storable,
    without_login,
)


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


# Normalising


def test_normalise_changes_line_ends_trailing_space_and_the_mark_in_front_only():
    assert normalise("\ufeffa \t\r\n b\rc\u00a0\n\n\n d  e") == "a\n b\nc\n\n\n d  e"


@given(st.text())
def test_normalise_keeps_the_number_of_lines_and_is_done_after_one_go(text: str):
    once = normalise(text)
    assert normalise(once) == once
    assert len(once.split("\n")) == len(text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    assert all(line == line.rstrip() for line in once.split("\n"))


def test_normalise_is_linear_in_a_long_run_of_blanks():
    started = time.thread_time()
    assert len(normalise(" " * 3_000_000 + "x")) == 3_000_001
    assert time.thread_time() - started < 2


# Folding and fingerprints


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Größe", "grosse"), ("STRASSE", "strasse"), ("Café", "cafe"), ("ﬁn", "fin"), ("Ω", "ω"), ("İ", "i")],
)
def test_fold(text: str, folded: str):
    assert fold(text) == folded


@given(st.text())
def test_fold_is_done_after_one_go_and_does_not_see_case(text: str):
    assert fold(fold(text)) == fold(text)
    assert fold(text.casefold()) == fold(text)


def test_fingerprint_is_the_sha256_of_the_utf8_bytes():
    assert fingerprint("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert fingerprint("ä") != fingerprint("a")


# Lines


@given(st.text(alphabet="ab\n", min_size=1))
def test_line_of_counts_the_line_ends_before(text: str):
    starts = line_starts(text)
    assert len(starts) == text.count("\n") + 1
    assert [line_of(starts, at) for at in range(len(text))] == [text.count("\n", 0, at) + 1 for at in range(len(text))]


# Sentences in running text


@pytest.mark.parametrize(
    "text",
    [
        "Hello there.| This is it!| Really?| Yes.",
        "See e.g. Smith et al. (2020), i.e. the paper.| It says 3.5 percent.| Then go.",
        "Am 3. Oktober 1990 war z. B. Dr. Müller da.| Danach ging er.",
        "Im 19. Jahrhundert lebte er.| Der 2. Platz ging an J. R. R. Tolkien.| Ende.",
        "Vgl. Nr. 5 und Abs. 2 Satz 1.| Die Regel gilt ca. 3 Tage.| Das ist z.B. hier so.",
        "Sie kostet 5 Mio. Euro.| Es kostet 5 Mio.| Das ist viel.",
        "Der Wert ist 3.| Die Zahl stimmt.| In 2024.| Umsatz stieg.",
        "„Das ist gut.“| Dann ging er.| (See above.)| Next one.",
        "He said “no.” and left.| Wait...| What?| Well… maybe.",
        "U.S. President Ford came.| He lives in the U.S.| The end.",
        "The answer is no.| Go to No. 5 now.| See Fig. 3 there.",
        "Use `a. B c` now.| `pip` works.| Run `x.y`.| Done.",
        "The limit is 5 MB. [1]| It was raised [Source 2].| Then it fell. [1, 2]| End.",
        "Siehe https://example.com/a.b?c=d.| E. Müller weiß es.",
        "**Bold one.**| *Second one.*| Third.",
        "日本語です。|次の文！|はい",
        "i. d. R. kommt u. a. Berlin vor.| Plan B.| The next one.",
        "Es gab E. I. du Pont.| For every integer n.| It holds.| I am here to . . . submit.",
        "Mr. Smith vs. Mrs. Jones, Inc. et al. went on.| It was 5 p.m.| They left.",
    ],
)
def test_sentences_end_where_the_bars_are(text: str):
    expected = [part.strip() for part in text.split("|")]
    assert split(text.replace("|", "")) == expected


def test_wrapped_lines_belong_to_one_sentence():
    assert split("One sentence\nover two lines. And\nanother.") == ["One sentence\nover two lines.", "And\nanother."]


def test_a_number_at_the_start_of_a_wrapped_line_is_no_list():
    assert split("Es war am\n3. Oktober in Berlin. Ja.") == ["Es war am\n3. Oktober in Berlin.", "Ja."]


def test_a_date_at_the_start_of_a_line_is_no_list():
    assert split("13. August 2024: Sommerfest.") == ["13. August 2024: Sommerfest."]
    assert split("13. Aufgaben verteilen") == ["Aufgaben verteilen"]


def test_nothing_comes_of_nothing():
    assert sentences("") == sentences(" \n\t\n") == []
    assert split("...") == ["..."]


# Sentences in Markdown


def test_headings_stand_alone_without_their_marks():
    assert split("# One. Two #\nText\n\nSet. Ext\n========\nMore") == ["One. Two", "Text", "Set. Ext", "More"]


def test_a_rule_under_a_paragraph_divides():
    assert split("One. Two\nthree.\n---\nFour") == ["One.", "Two\nthree.", "Four"]


def test_list_items_never_merge_and_lose_their_marks():
    text = "Intro:\n- first\n- [x] second. Third\n  goes on\n1. one\n2. two\n   * deep"
    assert split(text) == ["Intro:", "first", "second.", "Third\n  goes on", "one", "two", "deep"]


def test_table_rows_stand_alone_and_the_line_under_the_header_is_none():
    assert split("| A. B | C |\n|---|:-:|\n| 1 | 2 |\n\nText") == ["| A. B | C |", "| 1 | 2 |", "Text"]
    assert split("A | B\n--- | ---\n1 | 2\n3 | 4") == ["A | B", "1 | 2", "3 | 4"]


@pytest.mark.parametrize(
    "code",
    ["```py\n# a. B\n\n- x\n```", "~~~\na. B\n```\nc. D\n~~~", "````\n```\nx. Y\n```\n````", "```\nnever. Closed"],
)
def test_a_code_block_is_one_sentence(code: str):
    assert split(f"Before. It\n\n{code}") == ["Before.", "It", code]


def test_indented_code_is_one_sentence_but_a_continued_list_item_is_not():
    assert split("Text.\n\n    a. B\n\n    c. D\n\nEnd.") == ["Text.", "a. B\n\n    c. D", "End."]
    assert split("- item\n\n    More. Text") == ["item", "More.", "Text"]


def test_quotations_are_read_without_their_marks():
    assert split("> One. Two\n> goes on. Three\n>\n> Four") == ["One.", "Two\n> goes on.", "Three", "Four"]


MARKDOWN = st.lists(
    st.sampled_from(
        ["# H", "- a. B", "1. x", "> q. R", "| a | b |", "|---|---|", "```", "~~~", "    code", "Dr. X. Y", "", " ", "z.B. A!", "a\tb", "…", "==="]
    )
    | st.text(max_size=20)
).map("\n".join)  # fmt: skip


@given(MARKDOWN)
def test_spans_are_in_order_trimmed_and_apart(text: str):
    spans = sentences(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


@given(MARKDOWN)
def test_every_letter_is_in_a_sentence(text: str):
    covered = bytearray(len(text))
    for start, end in sentences(text):
        covered[start:end] = b"\1" * (end - start)
    markers = set("0123456789")  # a list number is a marker
    missing = {char for char, seen in zip(text, covered, strict=True) if char.isalnum() and not seen}
    assert missing <= markers | {"x", "X"}  # and so is the mark in a check box


@pytest.mark.parametrize(
    "text", ["." * 1_000_000 + "x", "A. " * 30_000, "word " * 300_000, "`a" * 300_000, "\"'" * 300_000, "- " * 300_000]
)
def test_sentences_take_bounded_time_on_hostile_text(text: str):
    started = time.thread_time()
    sentences(text)
    assert time.thread_time() - started < 5


@pytest.mark.parametrize("line", ["Oats .................... 140 kg, good until 11/2024", "Tea . . . . . . 3 boxes"])
def test_a_line_with_leader_dots_stands_alone(line: str):
    text = f"Supplies of the hut\n{line}\nRice ........ 20 kg"
    assert [text[start:end] for start, end in sentences(text)] == ["Supplies of the hut", line, "Rice ........ 20 kg"]


@pytest.mark.parametrize(
    "line",
    [" " * 20_000 + "|x", "|" + "-" * 20_000 + "x", "| " * 10_000 + "x", "." * 20_000, ". " * 10_000, "[" * 20_000],
)
def test_no_line_takes_long(line: str):
    started = time.process_time()
    sentences(f"a\n{line}\nb")
    assert time.process_time() - started < 2.0


def test_an_address_is_shown_without_its_login() -> None:
    assert without_login("http://ann:hush@[::1]:8000/v1?k=hush#x") == "http://[::1]:8000/v1"
    assert without_login("") == ""
    assert without_login("a model? #1") == "a model? #1"
    assert "hush" not in without_login("http://ann:hush@[::1")


def test_what_a_database_cannot_hold_is_replaced_one_for_one() -> None:
    assert storable("plain") == "plain"
    assert storable("a\0b \ud800 ü") == "a b ? ü"
