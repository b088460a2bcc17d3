"""Date and time formats of spreadsheets."""

import pytest

from pincite.parsers.office.date_format import format_date, is_date

NOON = 45382.5  # 31 March 2024, a Sunday


@pytest.mark.parametrize(
    ("days", "code", "text"),
    [
        (NOON, "yyyy-mm-dd", "2024-03-31"),
        (NOON, "d.m.yy", "31.3.24"),
        (NOON, "dddd, d mmmm yyyy", "Sunday, 31 March 2024"),
        (NOON, "ddd d-mmm", "Sun 31-Mar"),
        (NOON, "[$-407]dddd, d. mmmm", "Sonntag, 31. März"),
        (NOON, "[$-F800]yyyy", "2024"),
        (NOON, "m/d/yyyy h:mm", "3/31/2024 12:00"),
        (NOON, "h AM/PM", "12 PM"),
        (45382.0, "h:mm AM/PM", "12:00 AM"),
        (0.75, "hh:mm:ss", "18:00:00"),
        (0.999999, "h:mm", "0:00"),
        (1.5, "[h]:mm", "36:00"),
        (1 / 24 / 60 * 1.5, "mm:ss.0", "01:30.0"),
        (0.5, "[mm]:ss", "720:00"),
        (59, "d mmm yyyy", "28 Feb 1900"),
        (61, "d mmm yyyy", "1 Mar 1900"),
        (NOON, 'yyyy"年"m"月"', "2024年3月"),
        (NOON, "mmmmm", "M"),
    ],
)
def test_a_day_is_shown_by_its_format(days: float, code: str, text: str):
    assert is_date(code)
    assert format_date(days, code, since_1904=False) == text


def test_some_workbooks_count_from_1904():
    assert format_date(0, "yyyy-mm-dd", since_1904=True) == "1904-01-01"


def test_invalid_dates_are_not_formatted():
    assert format_date(-1, "yyyy", since_1904=False) == ""
    assert format_date(1e9, "yyyy", since_1904=False) == ""


@pytest.mark.parametrize("code", ["0.00", "General", "#,##0", '"days" 0', "[Red]0", "@", "0%", "0.0E+00", r"\d0"])
def test_number_formats_are_not_taken_for_dates(code: str):
    assert not is_date(code)
