"""Cells of a spreadsheet: references such as `C7:F9`, and their spans in a row of a Markdown table."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from pincite.core.documents.pages import PageMark

_RANGE = re.compile(r"([A-Z]{1,6})([1-9]\d{0,8})(?::([A-Z]{1,6})([1-9]\d{0,8}))?")
_CELL = re.compile(r"((?:[^|]|(?<=\\)\|)*)(?:(?<!\\)\||$)")
"""The text of a cell; a pipe after a backslash belongs to it."""


@dataclass(frozen=True, slots=True)
class Cells:
    """A rectangle of cells; columns and rows count from 1, and both ends are inclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def parse(cls, ref: str) -> Self | None:
        """Parse a reference such as `C7` or `C7:F9`; None if it names no cells."""
        found = _RANGE.fullmatch(ref)
        if found is None:
            return None
        left, top = _column_number(found[1]), int(found[2])
        return cls(left, top, _column_number(found[3]) if found[3] else left, int(found[4]) if found[4] else top)

    def union(self, other: "Cells") -> "Cells":
        """Return the smallest rectangle that contains both."""
        return Cells(
            left=min(self.left, other.left),
            top=min(self.top, other.top),
            right=max(self.right, other.right),
            bottom=max(self.bottom, other.bottom),
        )

    def overlaps(self, other: "Cells") -> bool:
        """Whether the two rectangles share a cell."""
        columns = self.left <= other.right and other.left <= self.right
        return columns and self.top <= other.bottom and other.top <= self.bottom

    def __str__(self) -> str:
        first, last = f"{column_name(self.left)}{self.top}", f"{column_name(self.right)}{self.bottom}"
        return first if first == last else f"{first}:{last}"


def split_ref(ref: str) -> tuple[str, Cells | None]:
    """Split a reference such as `sheet Budget, C7` (a workbook attached to a mail) into its prefix and its cells."""
    _, comma, last = ref.rpartition(", ")
    return ref[: len(ref) - len(last)] if comma else "", Cells.parse(last)


def column_name(column: int) -> str:
    """Return the letters of a column: A for 1, AA for 27."""
    name = ""
    while column > 0:
        column, digit = divmod(column - 1, 26)
        name = chr(ord("A") + digit) + name
    return name


def _column_number(name: str) -> int:
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


@lru_cache(maxsize=8)  # every chunk of a wide row needs the cells of that row
def cells_of_row(row: PageMark, text: str) -> tuple[PageMark, ...]:
    """Return the marks of a row's cells; `text` is the row's text. Return a mark that is no sheet row as it is."""
    prefix, whole = split_ref(row.ref)
    if whole is None or not text.startswith("|"):  # a single cell is rendered as a paragraph
        return (row,)
    found, column = list[PageMark](), whole.left
    for piece in _CELL.finditer(text, 1):
        if column > whole.right:
            break
        inner = piece[1].strip()
        start = row.start + piece.start(1) + piece[1].find(inner)
        found.append(PageMark(start, start + len(inner), ref=f"{prefix}{column_name(column)}{whole.top}"))
        column += 1
    return tuple(found)
