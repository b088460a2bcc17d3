import base64
from datetime import UTC, datetime, timedelta, timezone

import pytest

from pincite.core.times import to_utc
from pincite.errors import Invalid
from pincite.store.cursors import cursor_of, place_of

NOW = datetime.now(UTC)


def test_a_cursor_contains_the_last_entry_of_a_page() -> None:
    assert place_of(cursor_of(NOW, "s_1")) == (NOW, "s_1")
    assert place_of(cursor_of(NOW.astimezone(timezone(timedelta(hours=23, minutes=59))), "a\0b")) == (NOW, "a b")


@pytest.mark.parametrize("cursor", ["", "nope", "ü", "=", base64.urlsafe_b64encode(b"\xff").decode(), "c29vbiBh"])
def test_an_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(Invalid, match="start again without it"):
        place_of(cursor)


def test_times_of_any_zone_are_converted_to_utc() -> None:
    far = timezone(timedelta(hours=23, minutes=59))
    assert to_utc(NOW.astimezone(far)) == NOW
    assert to_utc(NOW.replace(tzinfo=None)) == NOW
    assert to_utc(datetime.min.replace(tzinfo=far)).utcoffset() == timedelta(0)
