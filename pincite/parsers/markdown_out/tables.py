"""Cells in rows and columns written as Markdown: where one table ends and another begins, and which row is its header."""

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
"""Column, counted from 1, → what is shown there; blank cells are left out."""
Rows = Sequence[tuple[int, Row]]
"""Rows with their numbers, in order; blank rows are left out."""

MAX_COLUMNS = 16_384

_NUMBER = re.compile(
    r"[\s.,:;/%()+'€$£¥-]*\d[\s\d.,:;/%()+'€$£¥-]*(?:E[+-]?\d+)?|TRUE|FALSE|[A-Z]{3} ?-?[\d.,]+", re.IGNORECASE
)
_LONGEST_LABEL = 120
"""Characters a column's label has at most."""
_FEW = 5
"""Texts in one column that are paragraphs; more of them are a table."""
_FAR = 3
"""Blank columns that part what stands side by side, whatever it is."""
_MAX_GRID = 20_000_000
"""Cells, blank ones with them, that a table may be written with."""
_LOOKED_AT = 20
"""Rows below the first that tell whether that is a header."""


def tell(rows: Rows, out: MarkdownWriter, *, side_by_side: bool = True) -> None:
    """Write what a sheet holds, table by table; tables may stand `side_by_side` where its author arranged them."""
    for region in _regions(rows, side_by_side=side_by_side):
        _tell_region(region, out)


@dataclass(frozen=True, slots=True)
class _Table:
    """What is remembered of a table while looking at what comes below: its columns, and whether it is all text."""

    extent: tuple[int, int]
    all_text: bool

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """The table that these rows are, or begin."""
        extent = _extent(rows)
        return cls(extent, len(rows) > 1 and not _has_numbers(_texts(rows, extent)))

    def goes_on(self, below: Rows) -> bool:
        """Whether rows below a blank one belong to it: in its columns, and without a header of their own.

        Of a table that is all text, what is all text below it is more, since nothing tells a header there.
        """
        first, last = _extent(below)
        if not self.extent[0] <= first < last <= self.extent[1] or len(below[0][1]) < 2:
            return False
        texts = _texts(below, self.extent)
        more = self.all_text and (first, last) == self.extent and not _has_numbers(texts)
        return more or not has_header(texts)


def _regions(rows: Rows, *, side_by_side: bool) -> Iterator[Rows]:
    """Stretches without a blank row; what goes on below a blank row as it was above is one table."""
    region: list[tuple[int, Row]] = []
    above: _Table | None = None
    for band in _bands(rows):
        whole = not side_by_side or (above and above.goes_on(band))
        for part in [band] if whole else _columns_apart(band):
            if above and part[0][0] > region[-1][0] and above.goes_on(part):  # not beside what has just gone on
                region += part
                continue
            if region:
                yield region
            region, above = list(part), _Table.of(part)
    if region:
        yield region


def _bands(rows: Rows) -> Iterator[Rows]:
    start = 0
    for at, (before, after) in enumerate(pairwise(number for number, _ in rows), 1):
        if after > before + 1:
            yield rows[start:at]
            start = at
    if rows:
        yield rows[start:]


def _columns_apart(band: Rows) -> list[Rows]:
    """What stands side by side: far apart, or tables that end in different rows; a table with a gap is not torn apart."""
    return [part for far in _cut(band, _FAR) for part in _tables_apart(far)]


def _tables_apart(band: Rows) -> list[Rows]:
    parts = _cut(band, 1)
    tables = all(len(part) > 1 and _extent(part)[0] < _extent(part)[1] for part in parts)
    heights = {(part[0][0], part[-1][0]) for part in parts}
    return parts if tables and len(heights) == len(parts) else [band]


def _cut(band: Rows, blank: int) -> list[Rows]:
    """The band in parts, wherever at least so many columns are blank."""
    columns = sorted({at for _, cells in band for at in cells})
    starts = [after for before, after in pairwise(columns) if after > before + blank]
    if not starts:
        return [band]
    part_of = {at: bisect_right(starts, at) for at in columns}
    parts: list[list[tuple[int, Row]]] = [[] for _ in range(len(starts) + 1)]
    for number, cells in band:
        held: dict[int, dict[int, str]] = {}
        for at, text in cells.items():
            held.setdefault(part_of[at], {})[at] = text
        for part, row_of_part in held.items():
            parts[part].append((number, row_of_part))
    return list(parts)


def _extent(rows: Rows) -> tuple[int, int]:
    return min(min(cells) for _, cells in rows), max(max(cells) for _, cells in rows)


def _tell_region(region: Rows, out: MarkdownWriter) -> None:
    """One table; texts that stand alone above it, or in no table at all, are paragraphs."""
    first, last = _extent(region)
    lead = next((at for at, (_, cells) in enumerate(region) if len(cells) > 1), len(region))
    if lead == len(region) and (first != last or lead > _FEW):
        lead = 0
    for number, cells in region[:lead]:
        (at, text), *_ = cells.items()
        out.block(escaped(text), f"{column_name(at)}{number}")
    if lead < len(region):
        out.lines(_table(region[lead:], *_extent(region[lead:])))


def _table(rows: Rows, first: int, last: int) -> Iterator[tuple[str, str]]:
    """A table's lines with the cells each was made of."""
    if len(rows) * (last - first + 1) > _MAX_GRID:
        raise Unreadable(
            f"a table of {len(rows)} rows and {last - first + 1} columns is too large; split it", code="limit"
        )
    headed = has_header(_texts(rows, (first, last)))
    if not headed:
        yield row([""] * (last - first + 1)), ""
        yield rule(last - first + 1), ""
    left, right = column_name(first), f":{column_name(last)}{{}}" if last > first else ""
    for number, cells in rows:
        yield row([cells.get(place, "") for place in range(first, last + 1)]), f"{left}{number}{right.format(number)}"
        if headed:
            yield rule(last - first + 1), ""
            headed = False


def _texts(rows: Rows, extent: tuple[int, int]) -> list[list[str]]:
    return [[cells.get(at, "") for at in range(extent[0], extent[1] + 1)] for _, cells in rows[: _LOOKED_AT + 1]]


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: short texts, most of them there, and none of them a number.

    Where all is text, the first row is taken for a header as well, unless it repeats itself.
    """
    if not rows:
        return False
    head = [cell for cell in rows[0] if cell]
    if len(head) * 2 < len(rows[0]) or any(len(cell) > _LONGEST_LABEL for cell in head):
        return False
    if any(_NUMBER.fullmatch(cell) for cell in head):
        return _is_years(rows)
    return _has_numbers(rows[1:]) or len(set(head)) == len(head)


def _has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return any(_NUMBER.fullmatch(cell) for cells in rows for cell in cells if cell)


def _is_years(rows: Sequence[Sequence[str]]) -> bool:
    """Labels that look like numbers: years above their figures, with a word or nothing in the first column."""
    labels = [cell for cell in rows[0][1:] if cell]
    years = labels and all(re.fullmatch(r"(?:19|20)\d\d", cell) for cell in labels if _NUMBER.fullmatch(cell))
    return bool(years) and not _NUMBER.fullmatch(rows[0][0]) and len(rows) > 1
