"""The outline of a file, and the lines on its pages that it names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.parsers.layout.blocks import Flow, Line
from pincite.parsers.layout.tables import Table

_NUMBER = re.compile(r"(?:\d+|[A-Z])(?:\.\d+)*\.?(?=\s)|(?:chapter|section|kapitel|abschnitt|appendix|anhang)\b", re.I)
"""What a line may begin with that the outline leaves out."""
_LETTERS = re.compile(r"[\W_]+")
_MAX_LINES = 4

Place = tuple[int, int]
"""A page and a line on it, both counted from 0."""
_Keys = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the file's outline: the page, counted from 0, that it leads to."""

    title: str
    level: int
    page: int


def find_headings(pages: Sequence[Flow], outline: Sequence[Bookmark]) -> dict[Place, int]:
    """Page and place of the lines that the outline names, with its level; one of several lines is named by each."""
    found: dict[Place, int] = {}
    keys: dict[int, list[_Keys]] = {}
    for mark in outline:
        wanted = _key(mark.title)
        if not wanted or not 0 <= mark.page < len(pages):
            continue
        if mark.page not in keys:
            keys[mark.page] = [_keys(item) for item in pages[mark.page]]
        said = keys[mark.page]
        for index in range(len(said)):
            if (mark.page, index) not in found and (
                count := _count_title_lines(said[index : index + _MAX_LINES], wanted)
            ):
                found |= {(mark.page, index + extra): mark.level for extra in range(count)}
                break
    return found


def _keys(item: Line | Table) -> _Keys:
    """What a line says, in letters alone: all of it, and without the number it begins with."""
    text = item.piece.text if isinstance(item, Line) else ""
    return _key(text), _key(_NUMBER.sub("", text, count=1))


def _count_title_lines(said: Sequence[_Keys], wanted: str) -> int:
    """How many of these lines, from the first on, make the title that is wanted; 0 where they do not."""
    whole, less = said[0]
    for begun in {whole, less} - {""}:
        title = begun
        for count, (more, _) in enumerate((*said[1:], ("", "")), 1):
            if title == wanted:
                return count
            if not more or not wanted.startswith(title):
                break
            title += more
    return 0


def _key(title: str) -> str:
    return _LETTERS.sub("", title).casefold()
