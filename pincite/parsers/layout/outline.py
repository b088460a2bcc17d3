"""Finds the lines on pages that the file's outline (its bookmarks) names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.parsers.layout.blocks import Flow, Line
from pincite.parsers.layout.tables import Table

_NUMBER = re.compile(r"(?:\d+|[A-Z])(?:\.\d+)*\.?(?=\s)|(?:chapter|section|kapitel|abschnitt|appendix|anhang)\b", re.I)
"""Numbers and words at the start of a heading that the outline may leave out."""
_LETTERS = re.compile(r"[\W_]+")
_MAX_LINES = 4
"""Maximum number of lines of one heading."""

Place = tuple[int, int]
"""Page index and line index, both from 0."""
_Keys = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the file's outline: its title, level and page index."""

    title: str
    level: int
    page: int


def find_headings(pages: Sequence[Flow], outline: Sequence[Bookmark]) -> dict[Place, int]:
    """The level of each line that the outline names; a heading of several lines has an entry for each line."""
    found: dict[Place, int] = {}
    keys: dict[int, list[_Keys]] = {}
    for mark in outline:
        wanted = _key(mark.title)
        if not wanted or not 0 <= mark.page < len(pages):
            continue
        if mark.page not in keys:
            keys[mark.page] = [_keys(item) for item in pages[mark.page]]
        lines = keys[mark.page]
        for index in range(len(lines)):
            if (mark.page, index) not in found and (
                count := _count_title_lines(lines[index : index + _MAX_LINES], wanted)
            ):
                found |= {(mark.page, index + extra): mark.level for extra in range(count)}
                break
    return found


def _keys(item: Line | Table) -> _Keys:
    """The letters of a line: all of them, and without the number at its start."""
    text = item.piece.text if isinstance(item, Line) else ""
    return _key(text), _key(_NUMBER.sub("", text, count=1))


def _count_title_lines(lines: Sequence[_Keys], wanted: str) -> int:
    """How many lines from the first on form the wanted title; 0 where they do not."""
    whole, less = lines[0]
    for begun in {whole, less} - {""}:
        title = begun
        for count, (more, _) in enumerate((*lines[1:], ("", "")), 1):
            if title == wanted:
                return count
            if not more or not wanted.startswith(title):
                break
            title += more
    return 0


def _key(title: str) -> str:
    return _LETTERS.sub("", title).casefold()
