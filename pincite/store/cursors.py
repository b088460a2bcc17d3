"""Cursors: where a list that goes back in time ended, in a form that clients hand back."""

import base64
from datetime import datetime

from pincite.core.times import to_utc
from pincite.errors import Invalid
from pincite.text.sentences import storable


def cursor_of(moment: datetime, last_id: str) -> str:
    """The cursor of a page whose last entry is this one."""
    return base64.urlsafe_b64encode(f"{moment.isoformat()} {last_id}".encode()).decode()


def place_of(cursor: str) -> tuple[datetime, str]:
    """The moment and the id of the entry a page ended with; whatever is not a cursor is refused here."""
    try:
        moment, _, last_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        return to_utc(datetime.fromisoformat(moment)), storable(last_id)
    except ValueError:
        raise Invalid("cursor: this is not one that a list gave out; start again without it") from None
