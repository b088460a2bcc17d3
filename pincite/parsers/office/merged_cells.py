"""Tables with merged cells, filled in so that every row can be read by itself."""

from collections.abc import Callable
from dataclasses import dataclass

from pincite.parsers.office.package import Element

_REPEATED = 80
"""Characters: a longer text in cells merged downwards is written once, not in every row."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row: where it begins, how many columns it covers, and whether it goes on from the row above."""

    element: Element
    column: int
    span: int
    continued: bool


Row = tuple[Cell, ...]


def filled(rows: list[Row], text_of: Callable[[Element], str]) -> list[list[str]]:
    """The texts of a grid. A cell merged downwards is repeated in every row, so that each says all it means; one
    merged to the right is repeated in the first row, where it heads several columns, and stands once elsewhere."""
    width = max((cell.column + cell.span for row in rows for cell in row), default=0)
    found: list[list[str]] = []
    for number, row in enumerate(rows):
        texts = [""] * width
        for cell in row:
            above = found[-1][cell.column] if found and cell.continued else ""
            text = (above if len(above) <= _REPEATED else "") if cell.continued else text_of(cell.element)
            heads = number == 0 and cell.span < width
            texts[cell.column : cell.column + cell.span] = [text] + [text if heads else ""] * (cell.span - 1)
        found.append(texts)
    return found
