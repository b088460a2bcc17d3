"""Times in JSON, and pages of a list."""

from datetime import UTC, datetime, timedelta, timezone

from pincite.serialize.primitives import iso_time, page_json

NOON = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))


def test_times_are_in_utc() -> None:
    assert iso_time(NOON) == "2024-05-01T10:00:00Z"
    assert iso_time(datetime(2024, 5, 1, 10, 0, 0, 123, tzinfo=UTC)) == "2024-05-01T10:00:00.000123Z"
    assert iso_time(None) is None


def test_a_page_has_its_items_and_the_next_cursor() -> None:
    assert page_json([{"id": 1}], "c") == {"items": [{"id": 1}], "next_cursor": "c"}
    assert page_json([])["next_cursor"] is None
