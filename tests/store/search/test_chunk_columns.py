from dataclasses import fields

from pincite.core.query.hits import RetrievedChunk
from pincite.store.search.chunk_columns import CHUNK_COLUMNS, retrieved_chunk


def test_every_field_of_a_retrieved_chunk_has_a_column() -> None:
    assert set(CHUNK_COLUMNS) == {field.name for field in fields(RetrievedChunk)}


def test_a_row_is_converted_by_column_name() -> None:
    lists = ("source_urls", "heading_path", "page_starts")
    row = [[name] if name in lists else name for name in CHUNK_COLUMNS]
    chunk = retrieved_chunk([*row, "a cosine"])
    for name in CHUNK_COLUMNS:
        assert getattr(chunk, name) == ((name,) if name in lists else name)
