"""Words with their positions on a page, and the ruling lines drawn between them."""

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.documents.pages import Box

SLANTED = 4
"""The `turn` of words that run neither horizontally nor vertically, such as a watermark."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its box, baseline, font size and link target."""

    text: str
    box: Box
    base: float
    size: float
    bold: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal or vertical ruling line at `at`, from `start` to `end`."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """The words of one text direction on a page, rotated so that they read from left to right and downwards.

    `turn` is the number of clockwise quarter turns by which the words are rotated on the page as displayed.
    """

    turn: int
    width: float
    height: float
    words: tuple[Word, ...]
    across: tuple[Rule, ...] = ()
    down: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page as displayed, one sheet per text direction; the sheet with most text comes first."""

    width: float
    height: float
    sheets: tuple[Sheet, ...] = ()


def rotate_box(box: Box, turn: int, width: float, height: float) -> Box:
    """Rotate a box of a page of this size so that words with this `turn` become upright."""
    left, top, right, bottom = box
    if turn == 1:
        return top, width - right, bottom, width - left
    if turn == 2:
        return width - right, height - bottom, width - left, height - top
    if turn == 3:
        return height - bottom, left, height - top, right
    return box


def to_page_box(box: Box, sheet: Sheet) -> Box:
    """The box on the page of a box on a sheet."""
    back = {1: 3, 3: 1}.get(sheet.turn, sheet.turn)
    return rotate_box(box, back, sheet.width, sheet.height)


def bounding_box(boxes: Sequence[Box]) -> Box:
    """The smallest box that contains all boxes."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
