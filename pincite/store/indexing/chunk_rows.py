"""The rows of an edition: chunks, postings and vectors."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pincite.core.documents.document import Chunk, ChunkLevel
from pincite.store.database import Connection, fetch_all
from pincite.store.search.vocabulary import store_words


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk with its terms (term → frequency) and vectors; `forms` maps its plain words to their terms."""

    chunk: Chunk
    checksum: str
    terms: Mapping[str, int]
    hash: bytes
    windows: Sequence[Sequence[float]]
    vectorized_text: str | None = None
    forms: Mapping[str, str] = field(default_factory=dict)


Keys = Mapping[tuple[int, int], int]
"""Edition and ordinal → key of the chunk."""
Entries = Sequence[tuple[int, ChunkRow]]
"""Chunk rows, each with the key of its edition."""


async def write(connection: Connection, realm: int, entries: Entries, model: int) -> None:
    """Write chunks with their postings, vocabulary and vectors, of one edition or of several."""
    chunks = await asyncio.to_thread(_chunk_columns, entries)
    keys: Keys = {
        (edition, ordinal): key
        for edition, ordinal, key in await fetch_all(connection, _INSERT_CHUNKS, chunks | {"realm": realm})
    }
    postings = await asyncio.to_thread(_posting_columns, entries, keys)
    await connection.execute(_INSERT_POSTINGS, postings | {"realm": realm})
    await store_words(connection, realm, {form for _, entry in entries for form in entry.forms.items()})
    vectors = await asyncio.to_thread(_vector_columns, entries, keys)
    await connection.execute(_INSERT_VECTORS, vectors | {"realm": realm, "model": model})


_INSERT_CHUNKS = """
    insert into chunk (edition, realm, ordinal, level, parent, text, header, start_char, end_char, start_line, end_line,
                       page, heading_path, content_type, language, tokens, checksum, vectorized_text, place)
    select c.edition, %(realm)s, c.ordinal, c.level, c.parent, c.text, c.header, c.start_char, c.end_char,
           c.start_line, c.end_line, c.page, coalesce(string_to_array(nullif(c.path, ''), e'\\x1f'), '{}'),
           c.content_type, c.language, c.tokens, c.checksum, c.vectorized_text, c.place
    from unnest(%(edition)s::int[], %(ordinal)s::int[], %(level)s::int[], %(parent)s::int[], %(text)s::text[],
                %(header)s::text[], %(start_char)s::int[], %(end_char)s::int[], %(start_line)s::int[],
                %(end_line)s::int[], %(page)s::int[], %(path)s::text[], %(content_type)s::text[],
                %(language)s::text[], %(tokens)s::int[], %(checksum)s::text[], %(vectorized_text)s::text[],
                %(place)s::text[])
         as c (edition, ordinal, level, parent, text, header, start_char, end_char, start_line, end_line, page, path,
               content_type, language, tokens, checksum, vectorized_text, place)
    returning edition, ordinal, key
"""
# Terms are many and short: one joined string is much faster to build and to parse than an array.
_INSERT_POSTINGS = """
    insert into posting (term, chunk, edition, realm, frequency, words)
    select p.term, c.key, c.edition, %(realm)s, p.frequency, c.words
    from unnest(string_to_array(%(term)s, e'\\x1f'), string_to_array(%(at)s, ',')::int[],
                string_to_array(%(frequency)s, ',')::int[]) as p (term, at, frequency)
    join unnest(%(chunk)s::int[], %(edition)s::int[], %(words)s::int[]) with ordinality as c (key, edition, words, at)
         on c.at = p.at
"""
_INSERT_VECTORS = """
    insert into vector (chunk, edition, realm, part, model, hash, embedding)
    select v.chunk, v.edition, %(realm)s, v.part, %(model)s, v.hash, v.embedding::halfvec
    from unnest(%(chunk)s::int[], %(edition)s::int[], %(part)s::int[], %(hash)s::bytea[], %(embedding)s::text[])
         as v (chunk, edition, part, hash, embedding)
"""


def _chunk_columns(entries: Entries) -> dict[str, object]:
    chunks = [entry.chunk for _, entry in entries]
    return {
        "edition": [edition for edition, _ in entries],
        "ordinal": [c.ordinal for c in chunks],
        "level": [int(c.level) for c in chunks],
        "parent": [c.parent for c in chunks],
        "text": [c.text if c.level == ChunkLevel.CHUNK else None for c in chunks],
        "header": [c.header for c in chunks],
        "start_char": [c.start for c in chunks],
        "end_char": [c.end for c in chunks],
        "start_line": [c.start_line for c in chunks],
        "end_line": [c.end_line for c in chunks],
        "page": [c.page for c in chunks],
        "path": ["\x1f".join(c.heading_path) for c in chunks],
        "content_type": [c.content_type for c in chunks],
        "language": [c.language for c in chunks],
        "tokens": [c.tokens for c in chunks],
        "checksum": [entry.checksum for _, entry in entries],
        "vectorized_text": [entry.vectorized_text for _, entry in entries],
        "place": [c.place for c in chunks],
    }


def _posting_columns(entries: Entries, keys: Keys) -> dict[str, object]:
    """Return the columns of the postings, each with the position of its chunk (from 1), and those of the chunks."""
    term: list[str] = []
    at: list[str] = []
    frequency: list[str] = []
    for place, (_, entry) in enumerate(entries, start=1):
        term += entry.terms
        at += [str(place)] * len(entry.terms)
        frequency += map(str, entry.terms.values())
    return {
        "term": "\x1f".join(term),
        "at": ",".join(at),
        "frequency": ",".join(frequency),
        "chunk": [keys[edition, entry.chunk.ordinal] for edition, entry in entries],
        "edition": [edition for edition, _ in entries],
        "words": [sum(entry.terms.values()) for _, entry in entries],
    }


def _vector_columns(entries: Entries, keys: Keys) -> dict[str, object]:
    flat = [
        (
            keys[edition, entry.chunk.ordinal],
            edition,
            part,
            entry.hash,
            "[" + ",".join(f"{x:.5g}" for x in vector) + "]",
        )
        for edition, entry in entries
        for part, vector in enumerate(entry.windows)
    ]
    chunk, editions, part, digest, embedding = zip(*flat, strict=True) if flat else ((), (), (), (), ())
    columns = {"chunk": chunk, "edition": editions, "part": part, "hash": digest, "embedding": embedding}
    return {name: list(column) for name, column in columns.items()}
