"""Rows of the database become arrays."""

import struct

import numpy as np
import pytest

from pincite.store.search.resident.segment import (
    IndexedDocument,
    SegmentRows,
    estimated_bytes,
    make_segment,
    read_documents,
)


def vector(*numbers: float) -> bytes:
    return struct.pack(">HH", len(numbers), 0) + np.array(numbers, ">f2").tobytes()


def test_a_segment_has_the_chunks_postings_and_vectors_of_its_rows() -> None:
    rows = SegmentRows(
        chunks=struct.pack(">6i", 7, 20, 5, 10, 7, 30),
        terms="fox\x1fheron",
        counts=struct.pack(">2i", 1, 2),
        postings=struct.pack(">IHHIHHIHH", 30, 1, 4, 10, 2, 9, 30, 3, 4),
        vector_chunks=struct.pack(">3i", 10, 30, 30),
        vectors=vector(1, 0) + vector(0, 1) + vector(0.5, 0.5),
    )
    segment = make_segment(rows, 2)
    assert segment.chunks.tolist() == [10, 20, 30]
    assert segment.editions[segment.edition_of_chunk].tolist() == [5, 7, 7]
    start, end = segment.posting_starts[segment.terms["heron"]], segment.posting_starts[segment.terms["heron"] + 1]
    assert segment.chunks[segment.posting_chunks[start:end]].tolist() == [10, 30]
    assert segment.frequencies[start:end].tolist() == [2, 3]
    assert segment.lengths[start:end].tolist() == [9, 4]
    assert segment.chunks[segment.vector_chunks].tolist() == [10, 30]
    assert segment.vector_starts.tolist() == [0, 1]
    assert segment.vectors.tolist() == [[1, 0], [0, 1], [0.5, 0.5]]


def test_a_segment_of_nothing_is_empty() -> None:
    segment = make_segment(SegmentRows(b"", "", b"", b"", b"", b""), 3)
    assert (len(segment.chunks), len(segment.vectors), dict(segment.terms)) == (0, 0, {})


def test_documents_are_read_from_their_rows() -> None:
    text = '[["d1", 7, "in", "Heron", ["red"], ["en"], 3, 120, 4]]'
    document = IndexedDocument("d1", 7, "in", "Heron", frozenset({"red"}), ("en",), 3, 120, 4)
    assert read_documents(text) == [document]


@pytest.mark.parametrize("dimensions", [32, 384])
def test_the_estimate_counts_every_vector_and_word(dimensions: int) -> None:
    document = IndexedDocument("d1", 7, "", "", frozenset(), (), chunks=10, words=1000, vectors=10)
    assert estimated_bytes([document], dimensions) >= 10 * 4 * dimensions + 1000 * 4
