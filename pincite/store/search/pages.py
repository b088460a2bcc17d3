"""The pages of a version: stored with its text, read by span, by number or by name."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page, pack, unpack
from pincite.core.documents.positions import PageText, TextSpan, number_pages
from pincite.store.database import Connection, Database

MAX_MARKS_BYTES = 8 * 1024
"""Size of the packed marks in bytes from which a page is stored in several parts."""
MARKS_PER_PART = 512
"""Marks in one part of a page that is stored in parts."""


async def store_pages(connection: Connection, version: int, parsed: Parsed) -> None:
    """Replace the stored pages of a version by those of the parsed text; a file without pages has none to replace."""
    if not parsed.pages:
        return
    columns = await asyncio.to_thread(_columns, parsed)
    await connection.execute("delete from page where version = %s", (version,))
    await connection.execute(_INSERT, {"version": version, **columns})


def _columns(parsed: Parsed) -> dict[str, list[object]]:
    parts = [
        (leaf.number, part, piece.page, piece.end)
        for leaf in number_pages(parsed.pages, len(parsed.text))
        for part, piece in enumerate(_parts(leaf))
    ]
    return {
        "number": [number for number, *_ in parts],
        "part": [part for _, part, *_ in parts],
        "kind": [page.kind for *_, page, _ in parts],
        "name": [page.name for *_, page, _ in parts],
        "width": [page.width for *_, page, _ in parts],
        "height": [page.height for *_, page, _ in parts],
        "start": [page.start for *_, page, _ in parts],
        "end": [end for *_, end in parts],
        "marks": [page.marks for *_, page, _ in parts],
    }


def _parts(leaf: PageText) -> Iterator[PageText]:
    """Yield the page, or the parts of a long page; each part after the first begins at a mark."""
    page = leaf.page
    if len(page.marks) < MAX_MARKS_BYTES:
        yield leaf
        return
    marks = unpack(page.marks)
    cuts = [marks[first : first + MARKS_PER_PART] for first in range(0, len(marks), MARKS_PER_PART)]
    starts = [page.start, *(cut[0].start for cut in cuts[1:]), leaf.end]
    for cut, start, end in zip(cuts, starts, starts[1:], strict=False):
        yield PageText(leaf.number, Page(start, page.kind, page.name, page.width, page.height, pack(cut)), end)


async def pages_of_spans(database: Database, extracts: Sequence[TextSpan], scope: Scope) -> list[list[PageText]]:
    """Return the pages that each span overlaps; of a long page, only the overlapping parts."""
    found: list[list[PageText]] = [[] for _ in extracts]
    values = {
        "documents": [one.document_id for one in extracts],
        "versions": [one.version for one in extracts],
        "starts": [one.start for one in extracts],
        "ends": [one.end for one in extracts],
        "realms": list(scope.realms),
    }
    [rows] = await database.read_batch(scope, _PAGES_OF_SPANS, values=values)
    for nth, *row in rows:
        found[nth - 1].append(_page_of(row))
    return found


class Pages:
    """Reads pages of documents by span, number or name, within the scope of one person."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def touched(self, scope: Scope, extract: TextSpan) -> list[PageText]:
        """Return the pages that a span overlaps."""
        [found] = await pages_of_spans(self._database, [extract], scope)
        return found

    async def of(
        self, scope: Scope, extract: TextSpan, *, number: int | None = None, name: str | None = None
    ) -> tuple[list[PageText], int]:
        """Return the parts of one page that a span overlaps, and the number of pages of the version.

        Without a number and a name, the parts of every page that the span overlaps are returned.
        """
        values: dict[str, object] = {"document": extract.document_id, "version": extract.version}
        values |= {
            "number": number,
            "name": name,
            "start": extract.start,
            "end": extract.end,
            "realms": list(scope.realms),
        }
        counted, rows = await self._database.read_batch(scope, _COUNT, _PAGE_PARTS, values=values)
        return [_page_of(row) for row in rows], counted[0][0] or 0


def _page_of(row: Sequence[Any]) -> PageText:
    number, kind, name, width, height, start, end, marks = row
    return PageText(number, Page(start, kind, name, width, height, bytes(marks)), end)


_INSERT = """
    insert into page (version, realm, number, part, kind, name, width, height, start_char, end_char, marks)
    select %(version)s, (select realm from version where key = %(version)s), p.* from unnest(
        %(number)s::int[], %(part)s::int[], %(kind)s::text[], %(name)s::text[], %(width)s::real[], %(height)s::real[],
        %(start)s::int[], %(end)s::int[], %(marks)s::bytea[]) as p
"""
_PAGES_OF_SPANS = """
    select w.nth, p.number, p.kind, p.name, p.width, p.height, p.start_char, p.end_char, p.marks
    from unnest(%(documents)s::text[], %(versions)s::text[], %(starts)s::int[], %(ends)s::int[])
         with ordinality as w (document_id, version, low, high, nth)
    join version v on v.document_id = w.document_id and v.id = w.version and v.realm = any(%(realms)s)
    join page p on p.version = v.key and p.start_char < w.high and p.end_char > w.low and p.realm = any(%(realms)s)
    order by w.nth, p.number, p.part
"""
_COUNT = """
    select max(p.number) from version v join page p on p.version = v.key
    where v.document_id = %(document)s and v.id = %(version)s
      and v.realm = any(%(realms)s) and p.realm = any(%(realms)s)
"""
_PAGE_PARTS = """
    select p.number, p.kind, p.name, p.width, p.height, p.start_char, p.end_char, p.marks
    from version v join page p on p.version = v.key
    where v.document_id = %(document)s and v.id = %(version)s
      and v.realm = any(%(realms)s) and p.realm = any(%(realms)s)
      and (%(number)s::int is null or p.number = %(number)s)
      and (%(name)s::text is null or lower(p.name) = lower(%(name)s))
      and p.start_char <= %(end)s and p.end_char >= %(start)s
    order by p.number, p.part
"""
