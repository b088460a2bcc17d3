"""Tables of a web page: told from those that only lay it out, with spanning cells in every row and column they cover."""

import re

from pincite.errors import Unreadable
from pincite.parsers.webpage.inline import on_one_line
from pincite.parsers.webpage.tree import Element

MAX_CELLS = 500_000
_MAX_SPAN = 200
_LONG_CELL = 400
"""Letters that a cell of a table without headings has on average where it rather is a part of the page."""
_NUMBER = re.compile(r"[-+−]?\d[\d.,:/\s]*(?:%|[^\W\d]{1,4}|[€$£])?")
_PAGE_PARTS = frozenset("table h1 h2 h3 h4 h5 h6 main article pre".split())


def is_layout(table: Element) -> bool:
    """Whether a table is there for the looks: its cells hold parts of a page."""
    if table.get("role") in ("presentation", "none"):
        return True
    cells = [cell for row in _rows(table) for cell in _cells(row)]
    headed = any(cell.tag == "th" for cell in cells)
    if not headed and table.has(_PAGE_PARTS):
        return True
    if headed and not any(inside.tag == "table" for inside in table.elements()):
        return False
    wide = max((len(_cells(row)) for row in _rows(table)), default=0)
    if wide < 2 or len(_rows(table)) < 2:
        return True
    return table.chars / len(cells) > _LONG_CELL


def caption(table: Element) -> str:
    """What a table says it shows."""
    found = next((child for child in table.children if isinstance(child, Element) and child.tag == "caption"), None)
    return on_one_line(found) if found else ""


def grid(table: Element, base: str) -> tuple[list[list[str]], bool]:
    """The rows of a table, and whether the first is its header; several rows of headings become one."""
    rows = _rows(table)
    headings = _count_headings(rows)
    filled = _filled(rows, base)
    width = max(map(len, filled), default=0)
    filled = [[*row, *[""] * (width - len(row))] for row in filled]
    if headings > 1:
        columns = zip(*filled[:headings], strict=True)
        filled[:headings] = [[" ".join(dict.fromkeys(filter(None, column))) for column in columns]]
    kept = [row for number, row in enumerate(filled) if any(row) or (number == 0 and headings)]
    return kept, headings > 0 or _begins_with_names(kept)


def _begins_with_names(rows: list[list[str]]) -> bool:
    """Whether the first row of a table that marks none names the columns: words above numbers."""
    first, *others = rows or [[]]
    words = all(cell and not _NUMBER.search(cell) for cell in first)
    return words and len(first) > 1 and any(_NUMBER.fullmatch(cell) for row in others for cell in row)


def _filled(rows: list[Element], base: str) -> list[list[str]]:
    """The rows with each cell's text wherever the cell reaches; one that spans a whole row stands there once."""
    filled: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    count = 0
    for row in rows:
        cells: list[str] = []
        given = _cells(row)
        for cell in given:
            _cover(cells, below)
            text, across = on_one_line(cell, base), _span(cell, "colspan")
            for place in range(len(cells), len(cells) + across):
                if (down := _span(cell, "rowspan")) > 1:
                    below[place] = (down, text)
            cells += [text] * across if len(given) > 1 else [text, *[""] * (across - 1)]
        _cover(cells, below)
        below = {place: (left - 1, text) for place, (left, text) in below.items() if left > 1}
        count += len(cells)
        if count > MAX_CELLS:
            raise Unreadable(f"its tables have more than {MAX_CELLS:,} cells; split it", code="limit")
        filled.append(cells)
    return filled


def _cover(cells: list[str], below: dict[int, tuple[int, str]]) -> None:
    """Go on to the next free column, past cells that reach down from the rows above."""
    while len(cells) in below:
        cells.append(below[len(cells)][1])


def _count_headings(rows: list[Element]) -> int:
    """How many rows at the top are headings."""
    count = 0
    for row in rows:
        cells = _cells(row)
        in_head = row.parent is not None and row.parent.tag == "thead"
        if not in_head and not (cells and all(cell.tag == "th" for cell in cells)):
            break
        count += 1
    return count


def _rows(table: Element) -> list[Element]:
    """The rows of a table itself, not of tables inside; its head comes first and its foot last."""
    groups: dict[str, list[Element]] = {"thead": [], "": [], "tfoot": []}
    for child in table.children:
        if not isinstance(child, Element):
            continue
        if child.tag == "tr":
            groups[""].append(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            rows = [row for row in child.children if isinstance(row, Element) and row.tag == "tr"]
            groups[child.tag if child.tag in groups else ""] += rows
    return [*groups["thead"], *groups[""], *groups["tfoot"]]


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row.children if isinstance(cell, Element) and cell.tag in ("td", "th")]


def _span(cell: Element, name: str) -> int:
    value = cell.get(name).strip()
    return min(max(int(value), 1), _MAX_SPAN) if value.isascii() and value.isdecimal() and len(value) < 9 else 1
