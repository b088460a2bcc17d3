"""Cursors of lists ordered by time: the last entry of a page, encoded for the client to send back."""

import base64
from datetime import datetime

from pincite.core.times import to_utc
from pincite.errors import Invalid
from pincite.text.sentences import storable

INVALID_CURSOR = "cursor: not a cursor that a list returned; start again without it"


def cursor_of(moment: datetime, last_id: str) -> str:
    """Return the cursor of a page that ends with this entry."""
    return base64.urlsafe_b64encode(f"{moment.isoformat()} {last_id}".encode()).decode()


def place_of(cursor: str) -> tuple[datetime, str]:
    """Return the time and the id of the entry that a page ended with; `Invalid` for anything but a cursor."""
    try:
        moment, _, last_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        return to_utc(datetime.fromisoformat(moment)), storable(last_id)
    except ValueError:
        raise Invalid(INVALID_CURSOR) from None
