"""Boxes of words on a page."""

import pytest

from pincite.parsers.layout.words import Sheet, bounding_box, rotate_box, to_page_box

BOX = (10.0, 20.0, 40.0, 30.0)
WIDTH, HEIGHT = 100.0, 200.0


@pytest.mark.parametrize("turn", range(4))
def test_a_box_that_is_turned_is_shown_where_it_was(turn: int):
    width, height = (HEIGHT, WIDTH) if turn % 2 else (WIDTH, HEIGHT)
    assert to_page_box(rotate_box(BOX, turn, WIDTH, HEIGHT), Sheet(turn, width, height, ())) == BOX


def test_words_that_run_down_the_page_are_read_from_its_right_edge():
    assert rotate_box((90, 0, 100, 50), 1, WIDTH, HEIGHT) == (0, 0, 50, 10)


def test_words_that_run_up_the_page_are_read_from_its_left_edge():
    assert rotate_box((0, 150, 10, 200), 3, WIDTH, HEIGHT) == (0, 0, 50, 10)


def test_a_box_around_others_holds_them_all():
    assert bounding_box([(1, 5, 2, 6), (0, 7, 1, 9)]) == (0, 5, 2, 9)
