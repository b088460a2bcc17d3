"""Read the index of a realm from the database into memory, with the rights of the person who searches."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg import sql
from psycopg.rows import TupleRow

from pincite.core.accounts.access import Scope
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all
from pincite.store.search.packed_postings import POSTING
from pincite.store.search.resident.segment import (
    SEPARATOR,
    IndexedDocument,
    Segment,
    SegmentRows,
    estimated_bytes,
    make_segment,
    read_documents,
)
from pincite.store.search.resident.view import ResidentRealm

DOCUMENTS_PER_ROW = 1000
"""Documents that are sent and parsed together."""
MAX_SEGMENTS = 8
"""Segments of a realm from which on they are read again as one."""
MAX_DEAD_SHARE = 0.25
"""Share of removed and replaced editions in the segments above which these are read again as one."""


class TooLarge(Exception):
    """The index does not fit into the memory that is allowed; `size` is the estimated number of bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes")
        self.size = size


@dataclass(frozen=True, slots=True)
class Vectors:
    """The embedding model whose vectors are searched, and their dimensions."""

    model: int
    dimensions: int


async def load_realms(
    database: Database, scope: Scope, held: Mapping[int, ResidentRealm], vectors: Vectors, most: int
) -> dict[int, ResidentRealm]:
    """Return the indexes of the scope's realms that differ from those `held`; none of a realm that changed meanwhile.

    Editions that are held already are not read again. `TooLarge` if all realms together exceed `most` bytes.
    """
    async with database.transaction(scope.person, local=LONG_TIMEOUTS) as connection:
        revisions = await _revisions(connection, scope)
        old = [realm for realm in revisions if realm not in held or held[realm].revision != revisions[realm]]
        documents = await _documents(connection, old)
        kept = sum(held[realm].size for realm in revisions if realm not in documents)
        size = kept + sum(estimated_bytes(some, vectors.dimensions) for some in documents.values())
        if size > most:
            raise TooLarge(size)
        segments = {
            realm: await _segments(connection, realm, some, held.get(realm), vectors)
            for realm, some in documents.items()
        }
        unchanged = await _revisions(connection, scope)
    # If the revision is still the same, all statements saw the same documents.
    made = {realm: _realm(revisions[realm], documents[realm], segments[realm]) for realm in documents}
    return {realm: one for realm, one in made.items() if unchanged.get(realm) == one.revision and _is_complete(one)}


def _realm(revision: int, documents: Sequence[IndexedDocument], segments: Sequence[Segment]) -> ResidentRealm:
    names: dict[str, list[IndexedDocument]] = {}
    for one in documents:
        names.setdefault(one.name, []).append(one)
    return ResidentRealm(revision, documents, segments, names)


def _is_complete(realm: ResidentRealm) -> bool:
    """Whether the segments hold every document; not while the rows of one are still in the realm it moved from."""
    there = {edition for segment in realm.segments for edition in segment.editions.tolist()}
    return all(one.edition in there for one in realm.documents if one.chunks)


async def _revisions(connection: Connection, scope: Scope) -> dict[int, int]:
    return dict(await fetch_all(connection, REVISIONS, {"realms": list(scope.realms)}))


async def _documents(connection: Connection, realms: Sequence[int]) -> dict[int, list[IndexedDocument]]:
    """Return the served documents of realms."""
    found: dict[int, list[IndexedDocument]] = {realm: [] for realm in realms}
    rows = await fetch_all(connection, _DOCUMENTS, {"realms": list(realms), "rows": DOCUMENTS_PER_ROW})
    for realm, text in rows:
        found[realm] += await asyncio.to_thread(read_documents, text)
    return found


async def _segments(
    connection: Connection, realm: int, documents: Sequence[IndexedDocument], held: ResidentRealm | None, of: Vectors
) -> list[Segment]:
    """Return the segments of a realm's documents: those held and one of the new editions, or one of all editions."""
    wanted = {one.edition for one in documents}
    segments = list(held.segments) if held else []
    there = {edition for segment in segments for edition in segment.editions.tolist()}
    reused = held is not None and not _are_the_same(held.documents, [one for one in documents if one.edition in there])
    if reused or len(segments) >= MAX_SEGMENTS or len(there - wanted) > MAX_DEAD_SHARE * len(there):
        segments, there = [], set()
    missing = sorted(wanted - there)
    return [*segments, await _segment(connection, realm, missing, of)] if missing else segments


def _are_the_same(held: Sequence[IndexedDocument], documents: Sequence[IndexedDocument]) -> bool:
    """Whether these editions are the held ones: after a failover that lost transactions, numbers are used again."""
    known = {one.edition: (one.id, one.chunks, one.words, one.vectors) for one in held}
    return all(known.get(one.edition) == (one.id, one.chunks, one.words, one.vectors) for one in documents)


async def _segment(connection: Connection, realm: int, editions: Sequence[int], of: Vectors) -> Segment:
    values = {"realm": realm, "editions": list(editions), "model": of.model}
    [[chunks]] = await _read(connection, _CHUNKS, values)
    [[terms, counts, postings]] = await _read(connection, _POSTINGS, values)
    [[owners, vectors]] = await _read(connection, _VECTORS, values)
    rows = SegmentRows(chunks or b"", terms or "", counts or b"", postings or b"", owners or b"", vectors or b"")
    return await asyncio.to_thread(make_segment, rows, of.dimensions)


async def _read(connection: Connection, query: sql.SQL | sql.Composed, values: Mapping[str, object]) -> list[TupleRow]:
    return await (await connection.execute(query, values, binary=True)).fetchall()


REVISIONS = """
    select r, coalesce(c.revision, 0) from unnest(%(realms)s::int[]) r left join corpus c on c.realm = r
"""
"""The revision of each realm's documents; 0 without any, and for a realm that this person may not read."""
_DOCUMENTS = """
    select realm, json_agg(json_build_array(
        id, served, folder, called, tags, languages, chunks, words, vectors))::text
    from (select *, row_number() over (order by realm, id) / %(rows)s as block from document
          where realm = any(%(realms)s) and served is not null) d
    group by realm, block
"""
_CHUNKS = sql.SQL("""
    select string_agg(int4send(edition) || int4send(key), '') from chunk
    where realm = %(realm)s and edition = any(%(editions)s::int[])
""")
_POSTINGS = sql.SQL("""
    select string_agg(term, {separator} order by term), string_agg(int4send(count), '' order by term),
           string_agg(postings, '' order by term)
    from (select p.term, count(*)::int as count, string_agg({posting}, '' order by p.chunk) as postings
          from posting p where p.realm = %(realm)s and p.edition = any(%(editions)s::int[]) group by p.term) t
""").format(separator=sql.Literal(SEPARATOR), posting=sql.SQL(POSTING))
_VECTORS = sql.SQL("""
    select string_agg(int4send(chunk), '' order by chunk, part),
           string_agg(halfvec_send(embedding), '' order by chunk, part)
    from vector where realm = %(realm)s and edition = any(%(editions)s::int[]) and model = %(model)s
""")
