"""The order of a list of documents."""

from typing import LiteralString

from pincite.core.documents.document import Listing, Sort
from pincite.errors import Invalid
from pincite.store.cursors import INVALID_CURSOR

_KEYS: dict[Sort, LiteralString] = {
    "title": "lower(d.title)",
    "size": "v.bytes",
    "changed": "d.updated_at",
}
MAX_OFFSET = 10**9


def in_usual_order(listing: Listing) -> bool:
    """Whether a list has the usual order: by folder and name."""
    return listing.sort == "name" and not listing.descending


def order_of(listing: Listing) -> LiteralString:
    """The SQL after `order by`."""
    if listing.sort == "name":
        return "d.folder desc, d.name desc, d.id desc" if listing.descending else "d.folder, d.name, d.id"
    key = _KEYS[listing.sort]
    return key + " desc, d.id desc" if listing.descending else key + ", d.id"


def offset_of(listing: Listing) -> int:
    """How many documents the earlier pages had; the cursor of another order than the usual one is that number."""
    if in_usual_order(listing) or listing.cursor is None:
        return 0
    if not (listing.cursor.isascii() and listing.cursor.isdecimal()) or int(listing.cursor) > MAX_OFFSET:
        raise Invalid(INVALID_CURSOR)
    return int(listing.cursor)
