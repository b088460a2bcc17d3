"""Adds to each chunk its position in the file, in words: `sheet Prices, rows 3–5`."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace

from pincite.core.documents.document import Chunk, ChunkLevel, Parsed
from pincite.core.documents.pages import PageMark
from pincite.core.documents.positions import (
    PageText,
    Place,
    Slice,
    describe_places,
    marks_in_span,
    number_pages,
    place_on_page,
)


def with_positions(rows: Iterable[Chunk], parsed: Parsed) -> tuple[Chunk, ...]:
    """The chunks with their positions; the chunk of the whole document has none."""
    if not parsed.pages:
        return tuple(rows)
    positions = _Positions(parsed)
    return tuple(
        row
        if row.level is ChunkLevel.DOCUMENT
        else replace(row, place=describe_places(positions.of(row.start, row.end)))
        for row in rows
    )


class _Positions:
    """Looks up the positions of spans of one text; a page's marks are unpacked once, and only where they are needed."""

    def __init__(self, parsed: Parsed) -> None:
        self.text = Slice(parsed.text)
        self.leaves = number_pages(parsed.pages, len(parsed.text))
        self._marks: dict[int, tuple[PageMark, ...]] = {}

    def of(self, start: int, end: int) -> list[Place]:
        """The positions on the first and the last page of a span; pages between them are not named."""
        first = bisect_right(self.leaves, start, key=lambda leaf: leaf.end)
        after = bisect_left(self.leaves, end, key=lambda leaf: leaf.page.start)
        there = self.leaves[first:after]
        if len(there) == 1 and there[0].page.kind != "page":
            return [place_on_page(there[0], marks_in_span(self._placed(there[0]), start, end, self.text), start, end)]
        return [place_on_page(leaf, (), start, end) for leaf in there[:1] + there[1:][-1:]]

    def _placed(self, leaf: PageText) -> tuple[PageMark, ...]:
        if leaf.number not in self._marks:
            self._marks[leaf.number] = leaf.page.unpack_marks()
        return self._marks[leaf.number]
