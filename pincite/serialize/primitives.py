"""Types and helpers that every serializer uses: JSON objects, pages of a list, times."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


def page_json(items: Sequence[Json], next_cursor: str | None = None) -> Json:
    """One page of a list, with the cursor of the next page."""
    return {"items": list(items), "next_cursor": next_cursor}


def iso_time(time: datetime | None) -> str | None:
    """A time in ISO 8601, in UTC."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z") if time else None
