"""Reads the rows of Word tables, without rows and cells whose deletion is tracked."""

from collections.abc import Iterator

from pincite.parsers.office.docx_text import WRAPPERS
from pincite.parsers.office.merged_cells import Cell, Row
from pincite.parsers.office.package import Element, attribute, child, local_name, parse_int, selected_alternative, value

MAX_COLUMNS = 1_000
"""Maximum number of columns of a table."""


def content_elements(element: Element, *names: str) -> Iterator[Element]:
    """The child elements with these names, also inside wrappers such as content controls and tracked insertions."""
    for one in element:
        name = local_name(one)
        if name in names:
            yield one
        elif name in WRAPPERS:
            yield from content_elements(one, *names)
        elif name == "AlternateContent" and (choice := selected_alternative(one)) is not None:
            yield from content_elements(choice, *names)


def read_rows(table: Element) -> list[Row]:
    """The rows of a table, without those whose deletion is tracked."""
    return [_row(row) for row in content_elements(table, "tr") if child(row, "trPr", "del") is None]


def _row(row: Element) -> Row:
    cells: list[Cell] = []
    column = _at_least(value(row, "trPr", "gridBefore"), 0)
    for element in content_elements(row, "tc"):
        properties = child(element, "tcPr")
        if child(properties, "cellDel") is not None:
            continue
        span = min(_at_least(value(properties, "gridSpan"), 1), MAX_COLUMNS - column)
        merge = child(properties, "vMerge")
        continued = merge is not None and attribute(merge, "val", "continue") == "continue"
        if span > 0:
            cells.append(Cell(element, column, span, continued))
        column += max(span, 0)
    return tuple(cells)


def _at_least(text: str, least: int) -> int:
    return max(parse_int(text, least), least)
