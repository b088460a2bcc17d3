"""Words in pictures."""

from typing import Any

import numpy
import pytest

from pincite.parsers.layout import ocr
from pincite.parsers.layout.document import build_document
from pincite.parsers.layout.words import PageWords
from tests.picture_maker import draw

LINES = ["Snow report", "The path is under 40 cm of snow.", "Nobody walks to the dome alone."]


def read(picture: Any) -> PageWords:
    return ocr.read_picture(numpy.asarray(picture), *picture.size)


def test_a_blank_picture_is_not_recognized(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ocr, "_engine", lambda: pytest.fail("the reader was asked"))
    assert read(draw([])).sheets == ()
    assert read(draw(LINES).resize((2000, 10))).sheets == ()
    assert read(draw(LINES).resize((20, 2000))).sheets == ()


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_text_is_read_in_every_rotation_of_the_picture(turn: int):
    picture = draw(LINES, turn=turn)
    book = build_document([read(picture)])
    assert book.text == f"# {LINES[0]}\n\n{LINES[1]}\n{LINES[2]}"
    assert (book.pages[0].width, book.pages[0].height) == picture.size


@pytest.mark.slow
def test_boxes_hold_the_words_of_the_picture():
    picture = draw(LINES)
    ink = 255 - numpy.asarray(picture.convert("L"), dtype=int)
    (sheet,) = read(picture).sheets
    inside = 0
    for word in sheet.words:
        left, top, right, bottom = map(round, word.box)
        assert ink[top:bottom, left:right].sum() > 0
        inside += ink[top:bottom, left:right].sum()
    assert inside > 0.95 * ink.sum()


@pytest.mark.slow
def test_a_picture_much_higher_than_wide_is_read_in_bands_that_cut_no_line():
    lines = [f"Message number {number} of the day" for number in range(1, 41)]
    picture = draw(lines, size=30)
    assert picture.height > 4 * picture.width
    (sheet,) = read(picture).sheets
    text = build_document([PageWords(*picture.size, (sheet,))]).text
    assert [line for line in text.split("\n") if line][1:] == lines[1:]  # the first is larger than the picture
    assert sheet.words[-1].box[1] > 0.9 * picture.height


@pytest.mark.slow
def test_a_single_letter_is_taken_for_a_drawing():
    assert read(draw(["C"])).sheets == ()
    assert read(draw(["OK"])).sheets != ()


@pytest.mark.slow
def test_lines_of_low_confidence_are_left_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ocr, "_MIN_LINE_SCORE", 1.01)
    assert read(draw(LINES)).sheets == ()


def test_words_without_matching_boxes_share_the_line():
    line = ocr._Line("ab cd", 0.9, (0, 0, 50, 10), ((0, 0, 50, 10),))
    assert [(word.text, word.box[0]) for word in ocr._words(line, 2.0)] == [("ab", 0), ("cd", 60)]
