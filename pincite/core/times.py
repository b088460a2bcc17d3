"""Moments as people write them."""

from datetime import UTC, date, datetime, time

FORMS = "a time such as 2026-05-01T12:00:00Z, or a date such as 2026-05-01, which means its end"


def moment(text: str) -> datetime:
    """An ISO 8601 time, in UTC where it names no zone; a date is its last moment. `ValueError` says what would do."""
    text = text.strip()
    try:
        if len(text) == 10:
            return datetime.combine(date.fromisoformat(text), time.max, UTC)
        if "T" not in text.upper() and " " not in text:
            raise ValueError(text)
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"should be {FORMS}") from None


def utc(moment: datetime) -> datetime:
    """A moment as PostgreSQL takes it: it does not know every offset that Python does. Without one it is UTC already."""
    offset = moment.utcoffset()
    plain = moment.replace(tzinfo=UTC)
    try:
        return plain - offset if offset else plain
    except OverflowError:  # at the ends of time a few hours do not matter
        return plain
