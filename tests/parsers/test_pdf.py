"""PDF files."""

import pytest

from pincite.core.documents import Parsed
from pincite.errors import Unreadable
from pincite.parsers import pdf
from tests.pdf_maker import Line, make_pdf

BODY = ["This is running text that fills the page,", "line after line, so that its size is the usual one."]


def parse(data: bytes) -> Parsed:
    return pdf.make_parser(pdf.Options()).parse(data)


def unreadable(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        parse(data)
    return caught.value.code


def test_headings_come_from_the_size_of_letters():
    parsed = parse(make_pdf([[Line("Größe", 24), *BODY, Line("Straße", 16, gap=2), *BODY]]))
    assert [line for line in parsed.text.split("\n") if line.startswith("#")] == ["# Größe", "## Straße"]
    assert parsed.title == "Größe"
    assert parsed.markup == "markdown"


def test_a_heading_over_two_lines_is_one():
    parsed = parse(make_pdf([[Line("A long heading", 20), Line("on two lines", 20), *BODY]]))
    assert parsed.text.startswith("# A long heading on two lines\n\nThis")


def test_lines_stay_lines_and_gaps_become_blank_lines():
    parsed = parse(make_pdf([[*BODY, *BODY, Line("A new paragraph.", gap=2.5), "It goes on."]]))
    assert parsed.text == "\n".join([*BODY, *BODY]) + "\n\nA new paragraph.\nIt goes on."


def test_pages_know_where_they_begin():
    parsed = parse(make_pdf([["First page."], [], ["Third page."]]))
    assert parsed.text == "First page.\n\nThird page."
    assert parsed.page_starts == (0, 13, 13)


def test_trailing_empty_pages_begin_at_the_end():
    parsed = parse(make_pdf([["Text."], [], []]))
    assert parsed.page_starts == (0, 5, 5)


def test_words_hyphenated_at_the_end_of_a_line_are_joined():
    parsed = parse(make_pdf([["Some docu-", "ments are well-", "known. Well known they are."]]))
    assert "Some documents are well-known." in parsed.text


def test_text_that_looks_like_markdown_is_not_taken_for_it():
    lines = ["# comment", "- item", "```", "Title", "=====", "<!-- x", "--- ---"]
    parsed = parse(make_pdf([[*BODY, *lines]]))
    assert parsed.text.split("\n")[2:] == ["\\# comment", "- item", "\\```", "Title", "\\=====", "\\<!-- x", "--- ---"]


def test_metadata_names_title_and_author():
    parsed = parse(make_pdf([["Text."]], title="Annual report", author="Jörg"))
    assert (parsed.title, parsed.author) == ("Annual report", "Jörg")


@pytest.mark.parametrize("title", ["", "untitled", "Microsoft Word - draft.doc", "draft_v2.docx"])
def test_a_title_that_says_nothing_gives_way_to_the_heading(title: str):
    assert parse(make_pdf([[Line("Real title", 20), *BODY]], title=title)).title == "Real title"


def test_a_stamp_in_the_margin_is_no_heading():
    parsed = parse(make_pdf([[*BODY, Line("Stamped upwards", 30, gap=8, x=30, upwards=True)]]))
    assert "Stamped upwards" in parsed.text
    assert "#" not in parsed.text
    assert parsed.title is None


def test_table_of_contents_lines_are_no_headings():
    parsed = parse(make_pdf([[Line("1 Introduction . . . . . . . . 4", 20), *BODY]]))
    assert parsed.text.startswith("1 Introduction")


def test_halves_of_surrogate_pairs_are_joined_or_dropped():
    assert pdf._clean("a\ud83d\ude00b\ud83dc\x01\x02 d\x02e") == "a😀bc d\x02e"


def test_what_cannot_be_read_says_why():
    good = make_pdf([["Text."]])
    assert unreadable(make_pdf([["Text."]], encrypted=True)) == "encrypted"
    assert unreadable(b"%PDF-1.4\n%%EOF") == "broken"
    assert unreadable(b"") == "broken"
    assert unreadable(good[:60]) == "broken"
    assert unreadable(make_pdf([[], []])) == "scanned"


def test_pages_and_characters_are_limited(monkeypatch: pytest.MonkeyPatch):
    two = make_pdf([["One."], ["Two."]])
    monkeypatch.setattr(pdf, "MAX_PAGES", 1)
    assert unreadable(two) == "limit"
    monkeypatch.setattr(pdf, "MAX_PAGES", 5)
    monkeypatch.setattr(pdf, "MAX_CHARS", 6)
    assert unreadable(two) == "limit"
