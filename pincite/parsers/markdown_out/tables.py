"""Writes the cells of a sheet as Markdown: finds the tables in it and their header rows."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from pincite.core.documents.cells import column_name
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.writer import MarkdownWriter, escaped, row, rule

Row = Mapping[int, str]
"""Column number from 1 → text of the cell; blank cells are left out."""
Rows = Sequence[tuple[int, Row]]
"""Rows with their numbers, in order; blank rows are left out."""

MAX_COLUMNS = 16_384
"""Maximum number of columns, that of Excel."""

_NUMBER = re.compile(
    r"[\s.,:;/%()+'€$£¥-]*\d[\s\d.,:;/%()+'€$£¥-]*(?:E[+-]?\d+)?|TRUE|FALSE|[A-Z]{3} ?-?[\d.,]+", re.IGNORECASE
)
_MAX_LABEL_CHARS = 120
"""Maximum length of a column's label in characters."""
_MAX_PARAGRAPHS = 5
"""Maximum number of texts in one column that are written as paragraphs; more are a table."""
_GAP_COLUMNS = 3
"""Blank columns that always separate two regions."""
_MAX_TABLE_CELLS = 20_000_000
"""Maximum number of cells of a table, with blank ones."""
_HEADER_SAMPLE_ROWS = 20
"""Rows below the first that are examined to decide whether it is a header."""


def write_tables(rows: Rows, out: MarkdownWriter, *, side_by_side: bool = True) -> None:
    """Write the tables of a sheet; `side_by_side` also separates tables that are next to each other."""
    for region in _regions(rows, side_by_side=side_by_side):
        _write_region(region, out)


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of a table and whether it is all text: what is needed to decide whether it continues below."""

    extent: tuple[int, int]
    all_text: bool

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """The table that starts with these rows."""
        extent = _column_range(rows)
        return cls(extent, len(rows) > 1 and not _has_numbers(_sample(rows, extent)))

    def continues_in(self, below: Rows) -> bool:
        """Whether rows below a blank row belong to the table: they are in its columns and have no header of their own.

        A table that is all text continues in rows that are all text, because a header cannot be recognized there.
        """
        first, last = _column_range(below)
        if not self.extent[0] <= first < last <= self.extent[1] or len(below[0][1]) < 2:
            return False
        texts = _sample(below, self.extent)
        more = self.all_text and (first, last) == self.extent and not _has_numbers(texts)
        return more or not has_header(texts)


def _regions(rows: Rows, *, side_by_side: bool) -> Iterator[Rows]:
    """The regions of a sheet: rows without a blank row between them, and tables that continue below a blank row."""
    region: list[tuple[int, Row]] = []
    above: _Table | None = None
    for band in _bands(rows):
        whole = not side_by_side or (above and above.continues_in(band))
        for part in [band] if whole else _split_side_by_side(band):
            if (
                above and part[0][0] > region[-1][0] and above.continues_in(part)
            ):  # not next to rows that have just been added
                region += part
                continue
            if region:
                yield region
            region, above = list(part), _Table.of(part)
    if region:
        yield region


def _bands(rows: Rows) -> Iterator[Rows]:
    """The rows, split at blank rows."""
    start = 0
    for at, (before, after) in enumerate(pairwise(number for number, _ in rows), 1):
        if after > before + 1:
            yield rows[start:at]
            start = at
    if rows:
        yield rows[start:]


def _split_side_by_side(band: Rows) -> list[Rows]:
    """The parts of a band that are side by side: with a wide gap between them, or tables of different heights.

    A single table with a blank column is not split.
    """
    return [part for wide in _split_at_blank_columns(band, _GAP_COLUMNS) for part in _split_tables(wide)]


def _split_tables(band: Rows) -> list[Rows]:
    parts = _split_at_blank_columns(band, 1)
    tables = all(len(part) > 1 and _column_range(part)[0] < _column_range(part)[1] for part in parts)
    heights = {(part[0][0], part[-1][0]) for part in parts}
    return parts if tables and len(heights) == len(parts) else [band]


def _split_at_blank_columns(band: Rows, blank: int) -> list[Rows]:
    """The band, split wherever at least `blank` columns are blank."""
    columns = sorted({at for _, cells in band for at in cells})
    starts = [after for before, after in pairwise(columns) if after > before + blank]
    if not starts:
        return [band]
    part_of = {at: bisect_right(starts, at) for at in columns}
    parts: list[list[tuple[int, Row]]] = [[] for _ in range(len(starts) + 1)]
    for number, cells in band:
        by_part: dict[int, dict[int, str]] = {}
        for at, text in cells.items():
            by_part.setdefault(part_of[at], {})[at] = text
        for part, row_of_part in by_part.items():
            parts[part].append((number, row_of_part))
    return list(parts)


def _column_range(rows: Rows) -> tuple[int, int]:
    return min(min(cells) for _, cells in rows), max(max(cells) for _, cells in rows)


def _write_region(region: Rows, out: MarkdownWriter) -> None:
    """Write one table; texts alone in their rows above it, or without a table, are paragraphs."""
    first, last = _column_range(region)
    lead = next((at for at, (_, cells) in enumerate(region) if len(cells) > 1), len(region))
    if lead == len(region) and (first != last or lead > _MAX_PARAGRAPHS):
        lead = 0
    for number, cells in region[:lead]:
        (at, text), *_ = cells.items()
        out.block(escaped(text), f"{column_name(at)}{number}")
    if lead < len(region):
        out.lines(_table(region[lead:], *_column_range(region[lead:])))


def _table(rows: Rows, first: int, last: int) -> Iterator[tuple[str, str]]:
    """The lines of a table, each with the reference of its cells."""
    if len(rows) * (last - first + 1) > _MAX_TABLE_CELLS:
        raise Unreadable(
            f"a table of {len(rows)} rows and {last - first + 1} columns is too large; split the file", code="limit"
        )
    with_header = has_header(_sample(rows, (first, last)))
    if not with_header:
        yield row([""] * (last - first + 1)), ""
        yield rule(last - first + 1), ""
    left, right = column_name(first), f":{column_name(last)}{{}}" if last > first else ""
    for number, cells in rows:
        yield row([cells.get(place, "") for place in range(first, last + 1)]), f"{left}{number}{right.format(number)}"
        if with_header:
            yield rule(last - first + 1), ""
            with_header = False


def _sample(rows: Rows, extent: tuple[int, int]) -> list[list[str]]:
    return [
        [cells.get(at, "") for at in range(extent[0], extent[1] + 1)] for _, cells in rows[: _HEADER_SAMPLE_ROWS + 1]
    ]


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a header: its cells are short, mostly filled, and none is a number.

    In a table of text only, the first row is a header unless two of its cells are equal.
    """
    if not rows:
        return False
    head = [cell for cell in rows[0] if cell]
    if len(head) * 2 < len(rows[0]) or any(len(cell) > _MAX_LABEL_CHARS for cell in head):
        return False
    if any(_NUMBER.fullmatch(cell) for cell in head):
        return _is_years(rows)
    return _has_numbers(rows[1:]) or len(set(head)) == len(head)


def _has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return any(_NUMBER.fullmatch(cell) for cells in rows for cell in cells if cell)


def _is_years(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a header of years, with a word or nothing in its first column."""
    labels = [cell for cell in rows[0][1:] if cell]
    years = labels and all(re.fullmatch(r"(?:19|20)\d\d", cell) for cell in labels if _NUMBER.fullmatch(cell))
    return bool(years) and not _NUMBER.fullmatch(rows[0][0]) and len(rows) > 1
