"""A segment: the vectors and postings of some editions of one realm, as arrays."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.store.search.bm25 import POSTING

BYTES_PER_TERM, BYTES_PER_DOCUMENT = 120, 800
"""Estimated bytes of a term and of a document besides the arrays: strings and dictionary entries."""
SEPARATOR = "\x1f"
"""Stands between terms that are sent as one text; no term contains it."""
VECTOR_HEADER_BYTES = 4
"""Bytes before the numbers of a vector in pgvector's binary form."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """What a search needs to know about a served document; no text."""

    id: str
    edition: int
    folder: str
    name: str
    tags: frozenset[str]
    languages: tuple[str, ...]
    chunks: int
    words: int
    vectors: int


def read_documents(text: str) -> list[IndexedDocument]:
    """Return the documents of a JSON list of rows."""
    return [
        IndexedDocument(id, edition, folder, name, frozenset(tags), tuple(languages), *sizes)
        for id, edition, folder, name, tags, languages, *sizes in json.loads(text)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The index of some editions; it never changes.

    Chunks are numbered by their place in `chunks`, editions by their place in `editions` and by `numbers`. The
    postings of the term with the number n are those from `posting_starts[n]` to `posting_starts[n + 1]`. The vectors of
    a chunk are adjacent: those of the chunk `vector_chunks[n]` start at the row `vector_starts[n]`. `size` is in bytes.
    """

    editions: Array
    numbers: Mapping[int, int]
    chunks: Array
    edition_of_chunk: Array
    terms: Mapping[str, int]
    posting_starts: Array
    posting_chunks: Array
    frequencies: Array
    lengths: Array
    vectors: Array
    vector_chunks: Array
    vector_starts: Array
    size: int


@dataclass(frozen=True, slots=True)
class SegmentRows:
    """The rows of a segment as the database sends them.

    `chunks` are pairs of edition and chunk key, `vector_chunks` the chunk key of each vector, all four bytes each;
    `terms` are in the order of `counts` and `postings`.
    """

    chunks: bytes
    terms: str
    counts: bytes
    postings: bytes
    vector_chunks: bytes
    vectors: bytes


def make_segment(rows: SegmentRows, dimensions: int) -> Segment:
    """Return the segment of these rows."""
    pairs = np.frombuffer(rows.chunks, ">i4").reshape(-1, 2).astype(np.int64)
    pairs = pairs[np.argsort(pairs[:, 1])]
    editions, edition_of_chunk = np.unique(pairs[:, 0], return_inverse=True)
    chunks = np.ascontiguousarray(pairs[:, 1])
    terms = rows.terms.split(SEPARATOR) if rows.terms else []
    counts = np.frombuffer(rows.counts, ">i4")
    packed = np.frombuffer(rows.postings, POSTING)
    vectors, starts, owners = _vectors(rows, dimensions)
    made: dict[str, Array] = {
        "editions": editions,
        "chunks": chunks,
        "edition_of_chunk": edition_of_chunk.astype(np.int32),
        "posting_starts": np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
        "posting_chunks": np.searchsorted(chunks, packed["chunk"].astype(np.int64)).astype(np.int32),
        "frequencies": packed["frequency"].astype(np.uint16),
        "lengths": packed["words"].astype(np.uint16),
        "vectors": vectors,
        "vector_chunks": np.searchsorted(chunks, owners).astype(np.int32),
        "vector_starts": starts,
    }
    size = sum(array.nbytes for array in made.values()) + BYTES_PER_TERM * len(terms)
    size += BYTES_PER_DOCUMENT * len(editions)
    return Segment(
        terms={term: number for number, term in enumerate(terms)},
        numbers={edition: number for number, edition in enumerate(editions.tolist())},
        size=size,
        **made,
    )


def _vectors(rows: SegmentRows, dimensions: int) -> tuple[Array, Array, Array]:
    """Return the vectors, the first row of each chunk, and the key of that chunk."""
    width = VECTOR_HEADER_BYTES + 2 * dimensions
    raw = np.frombuffer(rows.vectors, np.uint8).reshape(-1, width)[:, VECTOR_HEADER_BYTES:]
    vectors = np.ascontiguousarray(raw).view(">f2").astype(np.float32)
    owners, starts = np.unique(np.frombuffer(rows.vector_chunks, ">i4").astype(np.int64), return_index=True)
    return vectors, starts, owners


def estimated_bytes(documents: Sequence[IndexedDocument], dimensions: int) -> int:
    """Return the bytes that the index of these documents takes at most, before it is loaded."""
    vectors, words = sum(one.vectors for one in documents), sum(one.words for one in documents)
    return vectors * (4 * dimensions + 12) + words * 8 + sum(one.chunks for one in documents) * 12
