"""Merged cells, filled in."""

from pincite.parsers.office.merged_cells import Cell, fill_merged_cells


def at(text: str, column: int, span: int = 1, *, continued: bool = False) -> Cell:
    return Cell(text, column, span, continued)


def test_a_text_that_is_merged_downwards_is_in_every_row_unless_it_is_long():
    rows = [(at("a", 0), at("b", 1)), (at("x", 0), at("1", 1)), (at("", 0, continued=True), at("2", 1))]
    assert fill_merged_cells(rows, str) == [["a", "b"], ["x", "1"], ["x", "2"]]
    long = [(at("a" * 100, 0), at("1", 1)), (at("", 0, continued=True), at("2", 1))]
    assert fill_merged_cells(long, str)[1] == ["", "2"]


def test_a_text_that_is_merged_to_the_right_is_repeated_only_where_it_heads_columns():
    rows = [(at("a", 0), at("b", 1, 2)), (at("x", 0, 2), at("y", 2))]
    assert fill_merged_cells(rows, str) == [["a", "b", "b"], ["x", "", "y"]]


def test_a_text_over_the_whole_width_stands_once_and_rows_may_be_ragged():
    assert fill_merged_cells([(at("title", 0, 3),), (at("z", 2),), ()], str) == [
        ["title", "", ""],
        ["", "", "z"],
        ["", "", ""],
    ]
    assert fill_merged_cells([], str) == []
