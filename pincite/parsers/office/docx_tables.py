"""Tables of a Word document as a grid: merged cells filled in, deleted rows left out."""

from collections.abc import Iterator

from pincite.parsers.office.docx_text import TRANSPARENT
from pincite.parsers.office.merged_cells import Cell, Row
from pincite.parsers.office.package import Element, attribute, child, chosen, local, value, whole

MAX_COLUMNS = 1_000


def inside(element: Element, *names: str) -> Iterator[Element]:
    """Content of these names, also where content controls, accepted insertions and the like stand around it."""
    for one in element:
        name = local(one)
        if name in names:
            yield one
        elif name in TRANSPARENT:
            yield from inside(one, *names)
        elif name == "AlternateContent" and (choice := chosen(one)) is not None:
            yield from inside(choice, *names)


def grid(table: Element) -> list[Row]:
    """The rows of a table; those whose deletion is tracked are gone."""
    return [_row(row) for row in inside(table, "tr") if child(row, "trPr", "del") is None]


def _row(row: Element) -> Row:
    cells: list[Cell] = []
    column = _number(value(row, "trPr", "gridBefore"), 0)
    for element in inside(row, "tc"):
        properties = child(element, "tcPr")
        if child(properties, "cellDel") is not None:
            continue
        span = min(_number(value(properties, "gridSpan"), 1), MAX_COLUMNS - column)
        merge = child(properties, "vMerge")
        continued = merge is not None and attribute(merge, "val", "continue") == "continue"
        if span > 0:
            cells.append(Cell(element, column, span, continued))
        column += max(span, 0)
    return tuple(cells)


def _number(text: str, least: int) -> int:
    return max(whole(text, least), least)
