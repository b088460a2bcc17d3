"""Where tables begin and end, and which row is a header."""

import pytest

from pincite.errors import Unreadable
from pincite.parsers.markdown_out.tables import has_header, write_tables
from pincite.parsers.markdown_out.writer import MarkdownWriter


def told(*rows: str, first: int = 1, side_by_side: bool = True) -> tuple[str, list[str]]:
    """Text and references of a sheet, given as rows of cells separated by blanks; a dot is a blank cell."""
    cells = [
        (number, held)
        for number, line in enumerate(rows, first)
        if (held := {at: cell.replace("_", " ") for at, cell in enumerate(line.split(), 1) if cell != "."})
    ]
    out = MarkdownWriter()
    out.page("sheet")
    write_tables(cells, out, side_by_side=side_by_side)
    text, (page,) = out.done()
    return text, [mark.ref for mark in page.unpack_marks()]


def test_a_table_keeps_its_place_and_its_gaps():
    text, refs = told(". . .", ". Day Guests . Note", ". Mon 31 . full", ". Tue . . .")
    assert text == "| Day | Guests |  | Note |\n| --- | --- | --- | --- |\n| Mon | 31 |  | full |\n| Tue |  |  |  |"
    assert refs == ["B2:E2", "B3:E3", "B4:E4"]


def test_blank_rows_separate_tables_with_their_own_headers():
    text, refs = told("Day Guests", "Mon 31", "", "Name Weeks", "Mira 6")
    assert text.count("| --- | --- |") == 2
    assert refs == ["A1:B1", "A2:B2", "A4:B4", "A5:B5"]


def test_a_blank_row_inside_a_table_does_not_end_it():
    text, refs = told("Day Guests", "Mon 31", "", "Tue 12", "", "Wed 9")
    assert text == "| Day | Guests |\n| --- | --- |\n| Mon | 31 |\n| Tue | 12 |\n| Wed | 9 |"
    assert refs == ["A1:B1", "A2:B2", "A4:B4", "A6:B6"]


def test_a_table_of_texts_continues_below_a_blank_row():
    text, refs = told("Name City", "Ann Graz", "", "Bob Wien")
    assert text.count("| --- | --- |") == 1
    assert refs == ["A1:B1", "A2:B2", "A4:B4"]


def test_titles_and_notes_are_paragraphs():
    text, refs = told("Nights_sold", "Day Guests", "Mon 31", "", "#_all_figures_are_estimates")
    assert text == "Nights sold\n\n| Day | Guests |\n| --- | --- |\n| Mon | 31 |\n\n\\# all figures are estimates"
    assert refs == ["A1", "A2:B2", "A3:B3", "A5"]


def test_tables_side_by_side_are_written_one_after_the_other():
    rows = ("Day Guests . Name Weeks", "Mon 31 . Mira 6", "Tue 12 . . .")
    text, refs = told(*rows)
    assert text == (
        "| Day | Guests |\n| --- | --- |\n| Mon | 31 |\n| Tue | 12 |\n\n| Name | Weeks |\n| --- | --- |\n| Mira | 6 |"
    )
    assert refs == ["A1:B1", "A2:B2", "A3:B3", "D1:E1", "D2:E2"]
    assert told(*rows, side_by_side=False)[1] == ["A1:E1", "A2:E2", "A3:E3"]


def test_rows_with_a_wide_gap_below_a_blank_row_are_written_once():
    text, refs = told("A B C D E F G H", "1 2 3 4 5 6 7 8", "", "9 9 . . . . 9 9", "7 7 . . . . 7 7")
    assert refs == ["A1:H1", "A2:H2", "A4:H4", "A5:H5"]
    assert text.splitlines()[-1] == "| 7 | 7 |  |  |  |  | 7 | 7 |"


def test_cells_far_apart_belong_to_no_table():
    text, refs = told("Day Guests . . . far_away", "Mon 31", "Tue 12")
    assert text == "| Day | Guests |\n| --- | --- |\n| Mon | 31 |\n| Tue | 12 |\n\nfar away"
    assert refs[-1] == "F1"


def test_a_table_that_would_be_mostly_blank_and_huge_is_refused():
    wide = (1, dict.fromkeys(range(1, 16_000), "x"))
    out = MarkdownWriter()
    with pytest.raises(Unreadable, match="10001 rows and 15999 columns"):
        write_tables([wide, *((number, {1: "x", 2: "y"}) for number in range(2, 10_002))], out)


def test_a_few_texts_below_each_other_are_paragraphs_and_many_are_a_table():
    assert told("one", "two") == ("one\n\ntwo", ["A1", "A2"])
    text, refs = told("Name", *"abcdef")
    assert text.startswith("| Name |\n| --- |\n| a |")
    assert refs[-1] == "A7"


def test_columns_beyond_z_have_two_letters():
    assert told(" ".join(["x", *["."] * 26, "y"]), side_by_side=False)[1] == ["A1:AB1"]


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        (["Day Guests", "Mon 31"], True),
        (["Name City", "Ann Graz", "Ann Wien"], True),
        (["1 2", "3 4"], False),
        (["Mon 31", "Tue 12"], False),
        (["Sales 2023 2024", "North 10 12"], True),
        ([". 2023 2024", "North 10 12"], True),
        (["North 10 12", "South 9 11"], False),
        (["yes yes", "no yes"], False),
        (["a . . .", "1 2 3 4"], False),
        ([], False),
    ],
)
def test_a_header_names_columns_and_is_no_number(rows: list[str], header: bool):
    assert has_header([["" if cell == "." else cell for cell in line.split()] for line in rows]) is header


def test_a_long_cell_that_is_nearly_a_number_takes_no_longer_than_others():
    cell = "1" * 100_000 + "x"
    assert has_header([["Name", "Code"], ["Tea", cell]])  # would take minutes if digits could be parted in many ways


def test_a_table_without_a_header_has_a_blank_one():
    assert told("1 2", "3 4")[0] == "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"


@pytest.mark.slow
def test_many_blank_rows_cost_no_more_than_the_others():
    rows = [(number * 2, {1: f"{number}", 2: "x"}) for number in range(20_000)]
    out = MarkdownWriter()
    out.page("sheet")
    write_tables(rows, out)
    assert len(out.done()[1][0].unpack_marks()) == 20_000
