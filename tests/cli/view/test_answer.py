"""Answers in a terminal."""

import pytest

from pincite.cli.view.answer import format_answer_text, format_heading, format_place, join_paragraph_lines, print_answer
from pincite.core.query.answer import Answer, Degraded

from .makers import answer, citation, seen, source

TEXT = "The key hangs behind the cup. [Source 2] The cat is fed at six. [Source 5]"


def whole() -> Answer:
    """An answer with two of its three sources cited."""
    sources = (source(1, cited=False), source(2), source(5, document_name="r.pdf", title="Report"))
    first = citation("[Source 2]", TEXT, 2, "The key hangs\nbehind the cup.", 5)
    return answer(TEXT, sources, (first, citation("[Source 5]", TEXT, 5, "She is fed at six.", 7, page=3)))


def test_files_are_named_with_their_folders() -> None:
    text = "The code is 1111. [Source 1] The code is 2222. [Source 2] It is new. [Source 3]"
    notes = [
        source(number, document_name="notes.txt", folder=folder) for number, folder in ((1, "north"), (2, "south"))
    ]
    other = source(3, document_name="other.txt", folder="south")
    told = seen(lambda screen: print_answer(screen, answer(text, (*notes, other), ())))
    assert [line.strip() for line in told.splitlines() if ".txt" in line] == [
        "north/notes.txt, lines 3–9",
        "south/notes.txt, lines 3–9",
        "south/other.txt, lines 3–9",
    ]


def test_an_answer_its_sources_and_their_quotes() -> None:
    told = seen(lambda screen: print_answer(screen, whole()))
    assert (
        told
        == """
  The key hangs behind the cup. [1] The cat is fed at six. [2]

Sources

  [1] Handbook › Keys
      file2.md, lines 5–6
      │ The key hangs behind the cup.

  [2] Report › Keys
      r.pdf, page 3
      │ She is fed at six.

Confidence  high (0.82): 1 cited source, every sentence supported
Written by  extractive; trace trace1
"""
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    text = "A sentence that goes on and on. " * 20 + "[Source 1]"
    path = ("A very long heading that never ends", "and another one below it", "and one more")
    made = answer(
        text,
        (source(1, heading_path=path),),
        (citation("[Source 1]", text, 1, "A sentence that goes on. " * 20),),
        warnings=("the answer is incomplete: " + "word " * 30,),
    )
    told = seen(lambda screen: print_answer(screen, made), width=width)
    assert max(map(len, told.splitlines())) <= width


def test_colour_adds_codes_and_changes_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    told = seen(lambda screen: print_answer(screen, whole()), colour=True)
    assert "\x1b[1;36m[2]\x1b[0m" in told


def test_a_mark_that_leads_nowhere_is_struck_out() -> None:
    text = "Nobody knows. [Source 9]"
    shown = format_answer_text(answer(text, (), (citation("[Source 9]", text, None),)))
    assert shown.plain == text
    assert [str(span.style) for span in shown.spans] == ["red strike"]


def test_passages_cited_twice_are_quoted_once_and_others_after_each_other() -> None:
    text = "One [Source 1]. Two [Source  1]. Three [Source   1]. Four [Source    1]."
    cited = (
        citation("[Source 1]", text, 1, "Later.", 9),
        citation("[Source  1]", text, 1, "Early.", 2),
        citation("[Source   1]", text, 1, "Later.", 9),
        citation("[Source    1]", text, 1, "Beside it.", 9, quote_start_char=97),
    )
    told = seen(lambda screen: print_answer(screen, answer(text, (source(1),), cited)))
    quotes = [line.strip() for line in told.splitlines() if "│" in line or "line " in line]
    assert quotes == ["file1.md, line 2", "│ Early.", "file1.md, line 9", "│ Later.", "│ Beside it."]


def test_a_cited_source_without_a_quote_says_where_it_is() -> None:
    text = "So it is. [Source 1]"
    told = seen(lambda screen: print_answer(screen, answer(text, (source(1),), (citation("[Source 1]", text, 1),))))
    assert "file1.md, lines 3–9\n" in told


def test_an_answer_without_sources_is_short() -> None:
    told = seen(lambda screen: print_answer(screen, answer("I don't know.", (), ())))
    assert "Source" not in told
    assert told.startswith("\n  I don't know.\n\nConfidence")


def test_lines_of_an_answer_stay_lines() -> None:
    told = seen(lambda screen: print_answer(screen, answer("A list:\n\n- one\n- two", (), ())))
    assert told.startswith("\n  A list:\n\n  - one\n  - two\n")


def test_degraded_stages_and_warnings_are_printed() -> None:
    made = answer("x", (), (), warnings=("mind this",), degraded=(Degraded("llm_generation", "the model is down"),))
    told = seen(lambda screen: print_answer(screen, made))
    assert "Warning     mind this\n" in told
    assert "Left out    llm_generation: the model is down\n" in told


def test_a_long_quote_is_cut() -> None:
    text = "Code. [Source 1]"
    quote = "```\n" + "\n".join(f"line {n}" for n in range(40)) + "\n```"
    made = answer(text, (source(1),), (citation("[Source 1]", text, 1, quote),))
    told = seen(lambda screen: print_answer(screen, made))
    assert told.count("│") == 13
    assert "… 30 more lines: pincite read doc1" in told


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("One sentence\nover two lines.", ["One sentence over two lines."]),
        ("Para one\ngoes on.\n\nPara two.", ["Para one goes on.", "", "Para two."]),
        ("- item one\n  goes on\n- item two", ["- item one goes on", "- item two"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "|---|---|", "| 1 | 2 |"]),
        ("    code\n    more", ["    code", "    more"]),
        ("# Head\nText.", ["# Head", "Text."]),
        ("1. one\n2. two", ["1. one", "2. two"]),
        ("Do:\n```sh\nrun it\nagain\n```\nand\nwait", ["Do:", "```sh", "run it", "again", "```", "and wait"]),
    ],
)
def test_paragraphs_are_wrapped_anew_and_nothing_else(text: str, lines: list[str]) -> None:
    assert join_paragraph_lines(text) == lines


def test_a_first_heading_that_repeats_the_title_is_left_out() -> None:
    assert (
        format_heading("Annual Report 2023", ("ANNUAL REPORT: 2023", "Mirror")).plain == "Annual Report 2023 › Mirror"
    )
    assert format_heading("Report", ("Money", "Mirror")).plain == "Report › Money › Mirror"
    assert format_heading("Report", ()).plain == "Report"


@pytest.mark.parametrize(
    ("where", "told"),
    [((3, 1, 2), "f, page 3"), ((None, 4, 4), "f, line 4"), ((None, 4, 6), "f, lines 4–6"), ((None, None, None), "f")],
)
def test_a_place_is_a_page_or_lines(where: tuple[int | None, int | None, int | None], told: str) -> None:
    assert format_place("f", *where) == told


def test_a_place_that_is_known_comes_before_pages_and_lines() -> None:
    assert format_place("prices.xlsx", 2, 4, 6, "sheet Prices, B7") == "prices.xlsx, sheet Prices, B7"


def test_a_refusal_shows_the_three_nearest_passages() -> None:
    sources = tuple(source(n, cited=False, snippet=f"Passage\n{n} says this.") for n in (1, 2, 3, 4))
    told = seen(lambda screen: print_answer(screen, answer("I don't know.", sources, ())))
    assert "Nearest passages\n\n  [1] Handbook › Keys\n      file1.md, lines 3–9\n      Passage 1 says this.\n" in told
    assert "Passage 3" in told
    assert "Passage 4" not in told
