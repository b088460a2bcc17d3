"""Reading a PDF page with PDFium."""

from contextlib import closing

import pypdfium2
import pytest

from pincite.parsers.layout.pdfium import is_scan, read_page
from pincite.parsers.layout.words import PageWords
from tests.pdf_maker import Line, Link, Note, Rule, make_pdf


def leaf(data: bytes) -> PageWords:
    with closing(pypdfium2.PdfDocument(data)) as document:
        return read_page(document, 0)


@pytest.mark.parametrize(("rotate", "turn"), [(0, 0), (90, 1), (180, 2), (270, 3)])
def test_a_turned_page_turns_its_words(rotate: int, turn: int):
    found = leaf(make_pdf([["Some words."]], rotate=rotate))
    (sheet,) = found.sheets
    assert sheet.turn == turn
    assert [round(edge) for edge in sheet.words[0].box] == [
        round(edge) for edge in leaf(make_pdf([["Some words."]])).sheets[0].words[0].box
    ]


def test_the_direction_with_most_text_comes_first():
    found = leaf(make_pdf([["Much more text than that.", Line("Stamp", upwards=True, x=20, y=100)]]))
    assert [(sheet.turn, len(sheet.words)) for sheet in found.sheets] == [(0, 5), (3, 1)]


def test_rules_links_and_notes_are_seen():
    link = Link("mailto:ida@example.org", 70, 695, 200, 715)
    (sheet,) = leaf(make_pdf([[Line("Ida", y=700), Rule(72, 600, 300, 600), link, Note("Checked", 72, 500)]])).sheets
    assert [(word.text, word.link) for word in sheet.words] == [("Ida", "mailto:ida@example.org"), ("Checked", "")]
    assert [(round(rule.at), round(rule.start), round(rule.end)) for rule in sheet.across] == [(242, 72, 300)]


def test_links_that_would_break_a_line_are_none():
    (sheet,) = leaf(make_pdf([[Line("Ida", y=700), Link("https://example.org/a\nb", 70, 695, 200, 715)]])).sheets
    assert sheet.words[0].link == ""


def test_rules_are_seen_whichever_way_they_are_drawn():
    (sheet,) = leaf(
        make_pdf([["Text.", Rule(300, 600, 72, 600), Rule(72, 600, 72, 500), Rule(90, 500, 90, 600)]])
    ).sheets
    assert [(round(rule.start), round(rule.end)) for rule in sheet.across] == [(72, 300)]
    assert [(round(rule.start), round(rule.end)) for rule in sheet.down] == [(242, 342), (242, 342)]


def test_rules_turn_with_the_page():
    (sheet,) = leaf(make_pdf([["Text.", Rule(72, 600, 300, 600)]], rotate=90)).sheets
    assert [(round(rule.at), round(rule.start), round(rule.end)) for rule in sheet.across] == [(242, 72, 300)]


def test_a_page_with_drawings_and_no_text_is_a_scan():
    for page, scan in (
        ([Rule(0, 0, 9, 9)], True),
        ([], False),
        (["Text."], False),
        (["Text.", Rule(0, 0, 9, 9)], False),
    ):
        with closing(pypdfium2.PdfDocument(make_pdf([page]))) as document:
            assert is_scan(document, 0, read_page(document, 0)) is scan
