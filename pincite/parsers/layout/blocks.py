"""Arranges the lines and tables of a page in reading order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pincite.parsers.layout.lines import LinePiece, piece, pieces, rows
from pincite.parsers.layout.reading_order import Item, reading_regions
from pincite.parsers.layout.tables import Table, aligned_tables, ruled_tables
from pincite.parsers.layout.words import Sheet

_MAX_NOTE_SIZE = 0.92
"""Maximum font size of footnotes, relative to the text of their column."""
_NOTE = re.compile(r"\d{1,3}(?!\d)|[*∗†‡§¶]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in reading order, with its level if it is a heading.

    `fresh` says that it is the first line of a region, so that it does not continue the line above it.
    """

    piece: LinePiece
    level: int = 0
    fresh: bool = False


Flow = list[Line | Table]
"""The lines and tables of a page in reading order."""


def page_items(sheet: Sheet) -> list[Item]:
    """The ruled tables of a sheet, and the pieces of lines outside of them."""
    found, words = ruled_tables(sheet)
    return [*pieces(words), *found]


def to_flow(found: Sequence[Item]) -> Flow:
    """The items in reading order; footnotes of a column come after all columns."""
    done: Flow = []
    notes: Flow = []
    regions = reading_regions(found) if found else []
    for number, region in enumerate(map(_region, regions), 1):
        cut = _notes_from(region) if number < len(regions) else len(region)
        for part, whole in ((region[:cut], done), (region[cut:], notes)):
            if part and isinstance(first := part[0], Line):
                part[0] = Line(first.piece, fresh=number > 1 or whole is notes)
            whole += part
    return done + notes


def _notes_from(region: Flow) -> int:
    """The index of a column's first footnote: smaller lines at its end, the first of which has a mark."""
    sizes = [item.piece.size for item in region if isinstance(item, Line)]
    usual = median(sizes) if sizes else 0.0
    start = len(region)
    for index in range(len(region) - 1, 0, -1):
        item = region[index]
        if not isinstance(item, Line) or item.piece.size > _MAX_NOTE_SIZE * usual:
            break
        start = index if _NOTE.match(item.piece.text) else start
    return start


def _region(region: Sequence[Item]) -> Flow:
    """The lines of a region from top to bottom; rows of pieces with clear columns are tables."""
    lines = rows(item for item in region if isinstance(item, LinePiece))
    parts: list[tuple[float, Line | Table]] = [(item.box[1], item) for item in region if isinstance(item, Table)]
    position = 0
    for start, end, table in [*aligned_tables(lines), (len(lines), len(lines), None)]:
        for row in lines[position:start]:
            whole = row[0] if len(row) == 1 else piece([word for item in row for word in item.words])
            parts.append((whole.box[1], Line(whole)))
        if table:
            parts.append((table.box[1], table))
        position = end
    return [part for _, part in sorted(parts, key=lambda part: part[0])]
