"""Parse times that users write, and convert times to UTC."""

from datetime import UTC, date, datetime, time

ACCEPTED_FORMS = "a time such as 2026-05-01T12:00:00Z, or a date such as 2026-05-01, which means its end"
"""The accepted forms of a time, as error messages name them."""


def parse_time(text: str) -> datetime:
    """Parse an ISO 8601 time, in UTC if it has no zone; a date means its last moment. `ValueError` names the forms."""
    text = text.strip()
    try:
        if len(text) == 10:
            return datetime.combine(date.fromisoformat(text), time.max, UTC)
        if "T" not in text.upper() and " " not in text:
            raise ValueError(text)
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"should be {ACCEPTED_FORMS}") from None


def to_utc(moment: datetime) -> datetime:
    """Convert a time to UTC, since PostgreSQL does not know every offset of Python; a time without a zone is in UTC."""
    offset = moment.utcoffset()
    plain = moment.replace(tzinfo=UTC)
    try:
        return plain - offset if offset else plain
    except OverflowError:  # the offset does not matter next to the smallest or largest time
        return plain
