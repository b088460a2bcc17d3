from pincite.extractive.tables import Row, columns, is_header, row_at
from tests.builders import found

TABLE = "Prices:\n\n| month | high |\n|---|---|\n| **March** | 6.82 |\n| April | 7.10 |\n"


def test_a_row_knows_its_columns() -> None:
    start = TABLE.index("| **March")
    row = row_at(found(TABLE), start, start + len("| **March** | 6.82 |"))
    assert row == Row(("month", "high"), ("March", "6.82"))
    assert row.to_text() == "month: March; high: 6.82."


def test_a_passage_that_begins_inside_a_table_has_its_header_apart() -> None:
    assert columns(found("| April | 7.10 |", header="| month | high |\n|---|---|"), 0) == ["month", "high"]


def test_a_row_with_other_columns_than_its_head_is_said_without_them() -> None:
    assert Row(("month",), ("April", "", "7.10")).to_text() == "April; 7.10."


def test_the_head_of_a_table_is_told_from_a_row() -> None:
    assert is_header(TABLE, TABLE.index(" high |") + len(" high |"))
    assert not is_header(TABLE, TABLE.index("6.82 |") + len("6.82 |"))


def test_a_table_that_ended_names_no_columns_of_the_next() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n\nText.\n\n| c | d |\n"
    assert columns(found(text), text.index("| c")) == []
