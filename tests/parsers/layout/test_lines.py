"""Words side by side."""

from dataclasses import replace

from pincite.parsers.layout.lines import pieces, rows


def test_words_side_by_side_are_a_piece_and_a_wide_gap_ends_it(words):
    found = pieces([*words("one two"), *words("three four", x=80)])
    assert [item.text for item in found] == ["one two", "three four"]


def test_a_word_on_another_baseline_is_in_another_piece(words):
    found = pieces([*words("above"), *words("below", x=40, base=112)])
    assert [item.text for item in found] == ["above", "below"]


def test_a_raised_mark_in_small_letters_belongs_to_its_line(words):
    found = pieces([*words("word"), *words("1", x=22, base=96, size=6), *words("more", x=28)])
    assert [item.text for item in found] == ["word 1 more"]


def test_pieces_drawn_at_different_times_are_one_where_they_meet(words):
    found = pieces([*words("one three"), *words("elsewhere", base=200), *words("four", x=48)])
    assert [item.text for item in found] == ["one three four", "elsewhere"]


def test_words_without_a_space_between_them_are_one(words):
    head, tail, rest = words("REAC T: more")
    tail = replace(tail, box=(head.box[2] + 0.3, *tail.box[1:]))
    assert [word.text for word in pieces([head, tail, rest])[0].words] == ["REACT:", "more"]


def test_right_to_left_scripts_are_read_from_right_to_left(words):
    assert pieces(words("بالعالم مرحبا"))[0].text == "مرحبا بالعالم"


def test_rows_go_from_top_to_bottom_and_from_left_to_right(words):
    found = rows(pieces([*words("d", base=120), *words("b", x=50), *words("a"), *words("c", x=90, base=101)]))
    assert [[item.text for item in row] for row in found] == [["a", "b", "c"], ["d"]]


def test_the_size_of_a_line_is_that_of_its_initials(words):
    assert pieces([*words("A", size=12), *words("b c", x=10, size=9)])[0].size == 9
    assert pieces([*words("A B", size=12), *words("c", x=30, size=9)])[0].size == 12
