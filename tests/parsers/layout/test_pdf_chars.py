"""The words of a PDF page."""

from contextlib import closing

import pypdfium2

from pincite.parsers.layout.pdf_chars import PageChars, View, _clean
from pincite.parsers.layout.words import SLANTED, Word
from tests.pdf_maker import Line, make_pdf


def by_turn(data: bytes, links=()) -> dict[int, list[Word]]:
    document = pypdfium2.PdfDocument(data)
    with closing(document), closing(document[0]) as page, closing(page.get_textpage()) as content:
        return dict(PageChars(content, View(page), links).words())


def words(data: bytes) -> list[Word]:
    (found,) = by_turn(data).values()
    return found


def test_words_have_their_font_and_baseline():
    found = words(make_pdf([[Line("Plain", x=100, y=700), Line("Heavy", 20, x=100, y=600, bold=True)]]))
    assert [(word.text, word.size, word.bold, round(word.base)) for word in found] == [
        ("Plain", 11, False, 142),
        ("Heavy", 20, True, 242),
    ]


def test_a_hyphen_at_the_end_of_a_line_is_a_hyphen():
    found = words(make_pdf([["Some docu-", "ments."]]))
    assert [word.text for word in found] == ["Some", "docu-", "ments."]


def test_a_word_with_another_font_within_a_line_keeps_its_font():
    line = [Line("Plain", x=72, y=700), Line("heavy", x=110, y=700, bold=True), Line("plain", x=150, y=700)]
    assert [word.bold for word in words(make_pdf([line]))] == [False, True, False]
    sizes = [Line("Large", 20, x=72, y=700), Line("small", 10, x=140, y=700), Line("large", 20, x=180, y=700)]
    assert [word.size for word in words(make_pdf([sizes]))] == [20, 10, 20]


def test_vertical_text_is_separate_from_horizontal_text():
    found = by_turn(make_pdf([["Along", Line("Up", x=20, y=100, upwards=True)]]))
    assert {turn: [word.text for word in own] for turn, own in found.items()} == {0: ["Along"], 3: ["Up"]}


def test_words_beside_the_page_are_not_read():
    beside = [Line("Seen", x=72, y=700), Line("Unseen", x=700, y=700), Line("Below", x=72, y=-40)]
    assert [word.text for word in words(make_pdf([beside]))] == ["Seen"]


def test_a_word_within_a_link_has_its_target():
    box = (60.0, 120.0, 100.0, 160.0)
    found = by_turn(make_pdf([[Line("Ida writes", x=72, y=700)]]), ((box, "https://example.org"),))
    assert [(word.text, word.link) for word in found[0]] == [("Ida", "https://example.org"), ("writes", "")]


def test_halves_of_surrogate_pairs_are_joined_or_dropped_and_ligatures_parted():
    assert _clean("a\ud83d\ude00b\ud83dc") == "a😀bc"
    assert _clean("e\ufb03cient\u200b") == "efficient"
    assert (_clean("Do\u00adnau\u00ad"), _clean("\u00ad")) == ("Donau\u00ad", "")


def test_slanted_text_is_separate():
    with closing(pypdfium2.PdfDocument(make_pdf([["Text."]]))) as document, closing(document[0]) as page:
        view = View(page)
    assert [view.turn(*towards) for towards in ((1, 0), (1, 0.1), (0, -1), (1, 1))] == [0, 0, 1, SLANTED]
