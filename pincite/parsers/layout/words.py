"""Words where they stand on a page, and the rules drawn between them."""

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.documents.pages import Box

SLANTED = 4
"""The turn of words that run neither along nor across the page, such as a watermark's."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word, its box, the baseline it stands on, the height of its letters and where it links to."""

    text: str
    box: Box
    base: float
    size: float
    bold: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A line that runs along or across: at `at`, from `start` to `end`."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is read in one direction on a page, turned so that it reads from left to right and downwards.

    `turn` is how many quarter turns clockwise the words run on the page as it is shown.
    """

    turn: int
    width: float
    height: float
    words: tuple[Word, ...]
    across: tuple[Rule, ...] = ()
    down: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class PageWords:
    """A page as it is shown, before anybody decided how it is read; the sheet with most text comes first."""

    width: float
    height: float
    sheets: tuple[Sheet, ...] = ()


def rotate_box(box: Box, turn: int, width: float, height: float) -> Box:
    """A box of a page of this size as it stands when words that run `turn` quarter turns clockwise are read upright."""
    left, top, right, bottom = box
    if turn == 1:
        return top, width - right, bottom, width - left
    if turn == 2:
        return width - right, height - bottom, width - left, height - top
    if turn == 3:
        return height - bottom, left, height - top, right
    return box


def to_page_box(box: Box, sheet: Sheet) -> Box:
    """A box of a sheet as it stands on its page."""
    back = {1: 3, 3: 1}.get(sheet.turn, sheet.turn)
    return rotate_box(box, back, sheet.width, sheet.height)


def bounding_box(boxes: Sequence[Box]) -> Box:
    """The smallest box that holds all of them."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
