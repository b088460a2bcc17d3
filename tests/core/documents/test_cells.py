import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.core.documents.cells import Cells, cells_of_row, column_name
from pincite.core.documents.pages import PageMark
from pincite.parsers.markdown_out.writer import one_line, row


@pytest.mark.parametrize(("column", "name"), [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (703, "AAA")])
def test_column_names_are_those_of_a_spreadsheet(column: int, name: str) -> None:
    assert column_name(column) == name
    assert Cells.parse(f"{name}1") == Cells(column, 1, column, 1)


@pytest.mark.parametrize("ref", ["", "7", "B", "B0", "b7", "B7:", "table 2, row 3", "B7:C", "ABCDEFG1"])
def test_a_reference_without_cells_parses_to_none(ref: str) -> None:
    assert Cells.parse(ref) is None


def test_ranges_are_joined_and_written() -> None:
    both = Cells(3, 7, 6, 7).union(Cells(2, 9, 2, 9))
    assert (str(both), str(Cells(2, 9, 2, 9))) == ("B7:F9", "B9")
    assert both.overlaps(Cells(6, 9, 8, 12))
    assert not both.overlaps(Cells(7, 9, 8, 12))


def test_the_kth_cell_of_a_row_is_the_kth_column_of_its_range() -> None:
    text = r"| a\|b |  | 3,5 |"
    found = cells_of_row(PageMark(100, 100 + len(text), ref="C7:E7"), text)
    assert [(cell.ref, text[cell.start - 100 : cell.end - 100]) for cell in found] == [
        ("C7", r"a\|b"),
        ("D7", ""),
        ("E7", "3,5"),
    ]


def test_a_row_that_is_not_of_a_sheet_is_not_split() -> None:
    mark = PageMark(5, 14, ref="table 2, row 3")
    assert cells_of_row(mark, "| a | b |") == (mark,)


@given(st.lists(st.text(alphabet="ab |\\\n", max_size=6), min_size=1, max_size=5), st.integers(1, 30))
def test_every_cell_is_found_whatever_its_content(values: list[str], first: int) -> None:
    text = row(values)
    ref = f"{column_name(first)}7:{column_name(first + len(values) - 1)}7"
    found = cells_of_row(PageMark(0, len(text), ref=ref), text)
    assert [text[cell.start : cell.end] for cell in found] == [one_line(value).replace("|", r"\|") for value in values]
    assert [cell.ref for cell in found] == [f"{column_name(first + nth)}7" for nth in range(len(values))]


def test_a_single_cell_is_not_split_whatever_its_content() -> None:
    mark = PageMark(0, 16, ref="A1")
    assert cells_of_row(mark, "Title | of sheet") == (mark,)
