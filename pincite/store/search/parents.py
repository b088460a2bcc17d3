"""The sections and documents around chunks, with their own text: the wider levels are slices of the version's."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.hits import RetrievedChunk
from pincite.store.database import Connection, rows

MOST = 8000
"""Characters of a section or document that are given at most."""
LEAD = 2000
"""Of one that is longer, so many characters before the chunk are given, and the rest after it."""

# Chunk → its section → its document, each by its ordinal in the edition.
_AROUND = """
    with c as materialized (
        select key, edition, parent, start_char, start_line from chunk where key = any(%(keys)s) and realm = any(%(realms)s)
    ), w as materialized (
        select c.key as part, c.start_char as part_start, c.start_line as part_line, p.*,
               greatest(p.start_char, least(c.start_char - %(lead)s, p.end_char - %(most)s)) as low
        from c join chunk s on s.edition = c.edition and s.ordinal = c.parent
             join chunk p on p.edition = s.edition and p.ordinal = {ordinal}
    )
    select w.part, w.part_start, w.part_line, w.low,
           w.key, d.id || '.' || v.id || '.' || w.ordinal, d.id, d.name,
           case when d.served = e.key then d.title else coalesce(v.about ->> 'title', d.title) end, v.id, v.checksum, d.folder, d.category,
           d.source_uri, d.source_urls, v.mime, w.ordinal, w.level,
           substr(v.text, w.low + 1, least(w.end_char - w.low, %(most)s)), w.header, w.start_char, w.end_char,
           w.start_line, w.end_line, w.page, w.heading_path, w.content_type, w.language, w.vectorized_text, v.page_starts,
           v.created_at, w.parent, w.place, d.owner
    from w join edition e on e.key = w.edition and e.state in ('served', 'retired', 'kept', 'ready')
         join document d on d.id = e.document_id join version v on v.key = e.version
"""
_ORDINALS = {1: sql.SQL("s.ordinal"), 0: sql.SQL("s.parent")}


async def around(connection: Connection, keys: Sequence[int], level: int, scope: Scope) -> dict[int, RetrievedChunk]:
    """What of a level each chunk stands in, by the chunk's key; text and offsets are of as much as is given."""
    values = {"keys": list(keys), "realms": list(scope.realms), "lead": LEAD, "most": MOST}
    found = await rows(connection, sql.SQL(_AROUND).format(ordinal=_ORDINALS[level]), values)
    return {row[0]: _given(RetrievedChunk(*_tuples(row[4:])), start=row[1], line=row[2], low=row[3]) for row in found}


def _tuples(row: Sequence[Any]) -> list[Any]:
    return [tuple(value) if isinstance(value, list) else value for value in row]


def _given(whole: RetrievedChunk, *, start: int, line: int, low: int) -> RetrievedChunk:
    """As much of a section or document as is given: all of it, or whole lines around the chunk that begins at `start`."""
    text, high = whole.text, low + len(whole.text)
    if high < whole.end_char and (cut := text.rfind("\n", start - low) + 1):
        text = text[:cut].rstrip("\n")
    if low > whole.start_char and (cut := text.find("\n", 0, start - low) + 1):
        text, low = text[cut:], low + cut
    if len(text) == whole.end_char - whole.start_char:
        return whole
    first = line - text.count("\n", 0, start - low)
    return replace(
        whole, text=text, start_char=low, end_char=low + len(text), start_line=first,
        end_line=first + text.count("\n"), page=bisect_right(whole.page_starts, low) or None,
    )  # fmt: skip
