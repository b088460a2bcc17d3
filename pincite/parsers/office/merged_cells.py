"""Fills in the merged cells of a table, so that every row is complete by itself."""

from collections.abc import Callable
from dataclasses import dataclass

from pincite.parsers.office.package import Element

_MAX_REPEATED_CHARS = 80
"""Maximum length of a text in vertically merged cells that is repeated in every row; a longer one is written once."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row: its first column, the number of columns it covers, and whether it continues the cell above."""

    element: Element
    column: int
    span: int
    continued: bool


Row = tuple[Cell, ...]


def fill_merged_cells(rows: list[Row], text_of: Callable[[Element], str]) -> list[list[str]]:
    """The texts of a table. The text of vertically merged cells is repeated in every row.

    The text of horizontally merged cells is repeated in the first row, where it is the header of several columns. In
    other rows it is written once.
    """
    width = max((cell.column + cell.span for row in rows for cell in row), default=0)
    found: list[list[str]] = []
    for number, row in enumerate(rows):
        texts = [""] * width
        for cell in row:
            above = found[-1][cell.column] if found and cell.continued else ""
            text = (above if len(above) <= _MAX_REPEATED_CHARS else "") if cell.continued else text_of(cell.element)
            is_header = number == 0 and cell.span < width
            texts[cell.column : cell.column + cell.span] = [text] + [text if is_header else ""] * (cell.span - 1)
        found.append(texts)
    return found
