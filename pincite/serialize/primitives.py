"""Types and helpers that every serializer uses: JSON objects, pages of a list, times."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


def page_json(items: Sequence[Json], next_cursor: str | None = None) -> Json:
    """A list and where it goes on."""
    return {"items": list(items), "next_cursor": next_cursor}


def iso_time(time: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z") if time else None
