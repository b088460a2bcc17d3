"""The sections and documents that contain chunks; their text is a slice of the version's text."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.hits import RetrievedChunk
from pincite.store.database import Connection, fetch_all, select_list
from pincite.store.search.chunk_columns import CHUNK_COLUMNS, retrieved_chunk

MAX_PARENT_CHARS = 8000
"""Characters of a section or document that are returned at most."""
MAX_LEAD_CHARS = 2000
"""Characters before the chunk that are returned of a longer section or document; the rest of the limit follows it."""

# Chunk → its section → its document, each by its ordinal in the edition.
_PARENTS = """
    with part as materialized (
        select key, edition, parent, start_char, start_line from chunk
        where key = any(%(keys)s) and realm = any(%(realms)s)
    ), c as materialized (
        select part.key as part_key, part.start_char as part_start, part.start_line as part_line, p.*,
               greatest(p.start_char, least(part.start_char - %(lead)s, p.end_char - %(most)s)) as low
        from part join chunk s on s.edition = part.edition and s.ordinal = part.parent
             join chunk p on p.edition = s.edition and p.ordinal = {ordinal}
    )
    select c.part_key, c.part_start, c.part_line, c.low, {columns}
    from c join edition e on e.key = c.edition and e.state in ('served', 'retired', 'kept', 'ready')
         join document d on d.id = e.document_id join version v on v.key = e.version
"""
_COLUMNS = {**CHUNK_COLUMNS, "text": "substr(v.text, c.low + 1, least(c.end_char - c.low, %(most)s))"}
_STATEMENTS = {
    level: sql.SQL(_PARENTS).format(ordinal=sql.SQL(ordinal), columns=sql.SQL(select_list(_COLUMNS)))
    for level, ordinal in ((1, "s.ordinal"), (0, "s.parent"))
}
"""The statement for each level: 1 for sections, 0 for documents."""


async def parents_of(
    connection: Connection, keys: Sequence[int], level: int, scope: Scope
) -> dict[int, RetrievedChunk]:
    """Return the section (level 1) or document (level 0) of each chunk, by the chunk's key.

    Text, offsets, lines and page of a long parent are those of the returned excerpt.
    """
    values = {"keys": list(keys), "realms": list(scope.realms), "lead": MAX_LEAD_CHARS, "most": MAX_PARENT_CHARS}
    found = await fetch_all(connection, _STATEMENTS[level], values)
    return {
        key: _excerpt(retrieved_chunk(parent), start=start, line=line, low=low)
        for key, start, line, low, *parent in found
    }


def _excerpt(whole: RetrievedChunk, *, start: int, line: int, low: int) -> RetrievedChunk:
    """Return the parent itself, or, where its text was cut, the whole lines around the chunk that begins at `start`."""
    text, high = whole.text, low + len(whole.text)
    if high < whole.end_char and (cut := text.rfind("\n", start - low) + 1):
        text = text[:cut].rstrip("\n")
    if low > whole.start_char and (cut := text.find("\n", 0, start - low) + 1):
        text, low = text[cut:], low + cut
    if len(text) == whole.end_char - whole.start_char:
        return whole
    first = line - text.count("\n", 0, start - low)
    return replace(
        whole,
        text=text,
        start_char=low,
        end_char=low + len(text),
        start_line=first,
        end_line=first + text.count("\n"),
        page=bisect_right(whole.page_starts, low) or None,
    )
