"""Notes and filled fields."""

from contextlib import closing

import pypdfium2

from pincite.parsers.layout.annotations import annotation_words
from pincite.parsers.layout.pdf_chars import View
from pincite.parsers.layout.words import Word
from tests.pdf_maker import HEIGHT, Field, Link, Note, make_pdf


def found(*items) -> list[Word]:
    with closing(pypdfium2.PdfDocument(make_pdf([items]))) as document, closing(document[0]) as page:
        return annotation_words(page, View(page))


def test_the_words_of_a_note_lie_in_its_box():
    one, two = found(Note("Checked twice", 72, 500))
    assert (one.text, two.text) == ("Checked", "twice")
    assert one.box[0] == 72
    assert HEIGHT - 520 <= one.box[1] < one.box[3] <= HEIGHT - 500
    assert one.box[2] < two.box[0] < two.box[2] <= 372


def test_each_line_of_a_note_is_a_line():
    words = found(Note("One\rtwo", 72, 500))
    assert [word.text for word in words] == ["One", "two"]
    assert words[0].box[3] <= words[1].box[1]


def test_filled_fields_are_read_but_not_check_boxes_or_hidden_ones():
    filled, ticked, hidden = Field("(Ida Renner)", 72, 400), Field("/Yes", 72, 300), Field("(secret)", 72, 200, flags=2)
    assert [word.text for word in found(filled, ticked, hidden, Link("https://example.org", 0, 0, 9, 9))] == [
        "Ida",
        "Renner",
    ]
