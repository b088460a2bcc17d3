"""The cells of a sheet: their names, ranges of them, and where they stand in a row of a Markdown table."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from pincite.core.documents.pages import PageMark

_RANGE = re.compile(r"([A-Z]{1,6})([1-9]\d{0,8})(?::([A-Z]{1,6})([1-9]\d{0,8}))?")
_CELL = re.compile(r"((?:[^|]|(?<=\\)\|)*)(?:(?<!\\)\||$)")
"""A pipe with a backslash before it belongs to the cell."""


@dataclass(frozen=True, slots=True)
class Cells:
    """A rectangle of cells; columns and rows count from 1, and both ends belong to it."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def of(cls, ref: str) -> Self | None:
        """The cells that `C7` or `C7:F9` names; None where a reference names no cells."""
        found = _RANGE.fullmatch(ref)
        if found is None:
            return None
        left, top = _number(found[1]), int(found[2])
        return cls(left, top, _number(found[3]) if found[3] else left, int(found[4]) if found[4] else top)

    def joined(self, other: "Cells") -> "Cells":
        """The smallest rectangle that holds both."""
        return Cells(
            min(self.left, other.left), min(self.top, other.top),
            max(self.right, other.right), max(self.bottom, other.bottom),
        )  # fmt: skip

    def meets(self, other: "Cells") -> bool:
        """Whether the two have a cell in common."""
        return (
            self.left <= other.right and other.left <= self.right
            and self.top <= other.bottom and other.top <= self.bottom
        )  # fmt: skip

    def __str__(self) -> str:
        first, last = f"{letters(self.left)}{self.top}", f"{letters(self.right)}{self.bottom}"
        return first if first == last else f"{first}:{last}"


def split(ref: str) -> tuple[str, Cells | None]:
    """A reference to cells as what stands before them and the cells: `sheet Budget, C7`, as in a workbook sent by mail."""
    _, comma, last = ref.rpartition(", ")
    return ref[: len(ref) - len(last)] if comma else "", Cells.of(last)


def letters(column: int) -> str:
    """What a column is called: A for 1, AA for 27."""
    name = ""
    while column > 0:
        column, digit = divmod(column - 1, 26)
        name = chr(ord("A") + digit) + name
    return name


def _number(name: str) -> int:
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


@lru_cache(maxsize=8)  # a wide row is asked for again by every passage that it was cut into
def cells(row: PageMark, text: str) -> tuple[PageMark, ...]:
    """The cells of a row, each at its own reference; `text` is the row's. The row itself where it is none of a sheet."""
    lead, whole = split(row.ref)
    if whole is None or not text.startswith("|"):  # a cell that stands alone is a paragraph, whatever is in it
        return (row,)
    found, column = list[PageMark](), whole.left
    for piece in _CELL.finditer(text, 1):
        if column > whole.right:
            break
        inner = piece[1].strip()
        start = row.start + piece.start(1) + piece[1].find(inner)
        found.append(PageMark(start, start + len(inner), ref=f"{lead}{letters(column)}{whole.top}"))
        column += 1
    return tuple(found)
