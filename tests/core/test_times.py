from datetime import UTC, datetime

import pytest

from pincite.core.times import parse_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01T12:30:00Z", datetime(2026, 5, 1, 12, 30, tzinfo=UTC)),
        ("2026-05-01 12:30", datetime(2026, 5, 1, 12, 30, tzinfo=UTC)),
        ("2026-05-01T12:30:00.25+02:00", datetime(2026, 5, 1, 10, 30, 0, 250_000, tzinfo=UTC)),
        (" 2026-05-01 ", datetime(2026, 5, 1, 23, 59, 59, 999_999, tzinfo=UTC)),
    ],
)
def test_a_time_is_parsed_in_utc_and_a_date_means_its_end(text: str, expected: datetime) -> None:
    assert parse_time(text) == expected
    assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text", ["", "2024", "20240501", "yesterday", "2026-13-01", "2026-02-30T00:00", "0001-01-01T00:00+14:00"]
)
def test_an_invalid_time_is_refused_with_the_accepted_forms(text: str) -> None:
    with pytest.raises(ValueError, match="a date such as 2026-05-01"):
        parse_time(text)
