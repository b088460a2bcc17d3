"""The SQL columns of a `RetrievedChunk`, and the conversion of a row into one."""

from collections.abc import Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, get_origin

from pincite.core.query.hits import RetrievedChunk
from pincite.store.database import Columns

TITLE = "case when d.served = e.key then d.title else coalesce(v.about ->> 'title', d.title) end"
"""The title of an edition: the document's current one for the served edition, else the title that its version had."""
CHUNK_COLUMNS: Columns = MappingProxyType(
    {
        "key": "c.key",
        "id": "d.id || '.' || v.id || '.' || c.ordinal",
        "document_id": "d.id",
        "document_name": "d.name",
        "title": TITLE,
        "version": "v.id",
        "checksum": "v.checksum",
        "folder": "d.folder",
        "category": "d.category",
        "source_uri": "d.source_uri",
        "source_urls": "d.source_urls",
        "mime": "v.mime",
        "ordinal": "c.ordinal",
        "level": "c.level",
        "text": "c.text",
        "header": "c.header",
        "start_char": "c.start_char",
        "end_char": "c.end_char",
        "start_line": "c.start_line",
        "end_line": "c.end_line",
        "page": "c.page",
        "heading_path": "c.heading_path",
        "content_type": "c.content_type",
        "language": "c.language",
        "vectorized_text": "c.vectorized_text",
        "page_starts": "v.page_starts",
        "created_at": "v.created_at",
        "parent": "c.parent",
        "place": "c.place",
        "owner": "d.owner",
    }
)
"""Field of `RetrievedChunk` → its SQL, for chunk `c` of edition `e`, version `v` and document `d`."""
_LISTS = tuple(n for n, field in enumerate(fields(RetrievedChunk)) if get_origin(field.type) is tuple)
"""Positions of the fields that the database driver returns as lists."""
assert [field.name for field in fields(RetrievedChunk)] == list(CHUNK_COLUMNS)


def retrieved_chunk(row: Sequence[Any]) -> RetrievedChunk:
    """Return the chunk of a row that begins with the values of `CHUNK_COLUMNS`."""
    values = list(row[: len(CHUNK_COLUMNS)])
    for n in _LISTS:
        values[n] = tuple(values[n])
    return RetrievedChunk(*values)
