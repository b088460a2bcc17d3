"""Tables in text files."""

import pytest

from pincite.core.documents.cells import cells_of_row
from pincite.core.documents.document import Parsed
from pincite.errors import Unreadable
from pincite.parsers.csv import Options, make_parser


def parse(text: str | bytes) -> Parsed:
    return make_parser(Options()).parse(text if isinstance(text, bytes) else text.encode())


TABLE = "| Name | Price |\n| --- | --- |\n| Tea, black | 2,50 |"


@pytest.mark.parametrize(
    "text",
    [
        'Name,Price\n"Tea, black","2,50"\n',
        'Name;Price\r\n"Tea, black";2,50\r\n',
        "Name\tPrice\nTea, black\t2,50",
        "Name|Price\nTea, black|2,50",
        "sep=;\nName;Price\nTea, black;2,50",
        "\ufeffName;Price\nTea, black;2,50",
        "Name;Price\nTea, black;2,50".encode("utf-16"),
    ],
)
def test_delimiters_and_quotes_are_detected(text: str | bytes):
    assert parse(text).text == TABLE


def test_commas_within_numbers_do_not_separate_values():
    assert parse("Haus;1,5\nHof;2,5\n").text == "|  |  |\n| --- | --- |\n| Haus | 1,5 |\n| Hof | 2,5 |"


def test_a_cell_is_found_where_a_spreadsheet_would_show_it():
    parsed = parse('Name,Note,Price\nTea,"two\nlines",2\n\nMate,"a|b",3\n')
    (page,) = parsed.pages
    assert page.kind == "sheet"
    rows = page.unpack_marks()
    assert [mark.ref for mark in rows] == ["A1:C1", "A2:C2", "A4:C4"]
    found = {
        one.ref: parsed.text[one.start : one.end]
        for row in rows
        for one in cells_of_row(row, parsed.text[row.start : row.end])
    }
    assert (found["B2"], found["C4"], found["B4"]) == ("two lines", "3", r"a\|b")


def test_ragged_rows_are_as_wide_as_the_widest():
    assert parse("a,b\n1\n1,2,3\n").text == "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 1 | 2 | 3 |"


def test_a_million_columns_are_refused():
    with pytest.raises(Unreadable, match="row 1 has 1000000 columns; at most 16384 are read") as refusal:
        parse(",".join(["1"] * 1_000_000))
    assert refusal.value.code == "limit"


def test_an_unclosed_quote_is_reported():
    with pytest.raises(Unreadable, match="fix its quotes"):
        parse('a,b\n1,"' + "x" * 200_000)


@pytest.mark.parametrize("text", ["", "\n\n", ",,,\n,,,", '""'])
def test_a_file_without_values_is_empty(text: str):
    with pytest.raises(Unreadable) as refusal:
        parse(text)
    assert refusal.value.code == "empty"


def test_lines_without_a_delimiter_are_text():
    assert parse("first\nsecond\n").text == "first\n\nsecond"
