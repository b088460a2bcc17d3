"""Number formats of spreadsheets."""

import pytest

from pincite.parsers.office.number_format import BUILT_IN, format_general, format_text, format_value

ACCOUNTING = '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)'


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1234.5, "0", "1235"),
        (2.675, "0.00", "2.68"),
        (-1234.5, "#,##0.00", "-1,234.50"),
        (-1234.5, "#,##0.00;(#,##0.00)", "(1,234.50)"),
        (-5, "[Red]-0", "--5"),
        (0, '0;-0;"none"', "none"),
        (0.2565, "0.0%", "25.7%"),
        (1234567, "#,##0,", "1,235"),
        (1234567, '0.0,,"M"', "1.2M"),
        (12345.678, "[$€-407] #,##0.00", "€ 12,345.68"),
        (1234.5, '#,##0.00\\ "€"', "1,234.50 €"),
        (1234.5, ACCOUNTING, "$1,234.50"),
        (-1234.5, ACCOUNTING, "$(1,234.50)"),
        (0, ACCOUNTING, "$-"),
        (12345, "0.00E+00", "1.23E+04"),
        (9.999, "0.00E+00", "1.00E+01"),
        (2958465.9999999, "yyyy-mm-dd", "2958466"),
        (1e299, "%" * 200 + "0", "1E+299"),
        (0.0012, "0.0E-0", "1.2E-3"),
        (1.75, "# ?/?", "1 3/4"),
        (0.333, "# ??/??", "1/3"),
        (-2.5, "# ?/2", "-2 1/2"),
        (3, "# ?/?", "3"),
        (123456789, "000-00-0000", "123-45-6789"),
        (5, "00000", "00005"),
        (0.5, "#.##", ".5"),
        (3.1, "0.0##", "3.1"),
        (0, "#", ""),
        (150, '[>100]"much";"little"', "much"),
        (50, '[>100]"much";"little"', "little"),
        (12, '0 "°C"', "12 °C"),
        (7, 'General" km"', "7 km"),
        (43, "@", "43"),
        (-0.001, "0.00", "0.00"),
        (5, ";;;", ""),
        (45382, "dd.mm.yyyy", "31.03.2024"),
    ],
)
def test_a_number_is_shown_by_its_format(value: float, code: str, text: str):
    assert format_value(value, code) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (5.0, "5"),
        (-0.5, "-0.5"),
        (1 / 3, "0.3333333333"),
        (1e20, "1E+20"),
        (123456789012, "123456789012"),
    ],
)
def test_without_a_format_it_is_as_short_as_it_can_be(value: float, text: str):
    assert format_general(value) == format_value(value, "General") == text


def test_texts_have_formats_too():
    assert format_text("A7", '"Room "@') == "Room A7"
    assert format_text("A7", '0;-0;0;"Room "@') == "Room A7"
    assert format_text("A7", "0.00") == format_text("A7", "@") == "A7"


@pytest.mark.parametrize(
    "code", ["", '"', "[", "\\", "0.", "E+", "////", "?" * 999, "[>x]0", "0;;;;;;", "_", "*", "%%%", ".", ","]
)
def test_odd_formats_show_something_and_never_fail(code: str):
    for value in (0, 1, -1.5, 1e15, 1e299, 1e-299, 45000.5):
        assert isinstance(format_value(value, code), str)


def test_the_built_in_formats_all_work():
    assert all(format_value(45000.25, code) for code in BUILT_IN.values())
