"""Words and pieces of lines, made by hand."""

from collections.abc import Callable

import pytest

from pincite.parsers.layout.lines import LinePiece, pieces
from pincite.parsers.layout.words import Word

MakeWords = Callable[..., list[Word]]
MakePiece = Callable[..., LinePiece]

_ADVANCE = 0.5
"""Width of a letter, and of the space between two words, relative to the font size."""


@pytest.fixture
def words() -> MakeWords:
    """The words of a line at a position."""

    def make(
        text: str, x: float = 0, base: float = 100, size: float = 10, bold: bool = False, link: str = ""
    ) -> list[Word]:
        found = []
        for token in text.split():
            end = x + _ADVANCE * size * len(token)
            found.append(Word(token, (x, base - 0.8 * size, end, base + 0.2 * size), base, size, bold, link))
            x = end + _ADVANCE * size
        return found

    return make


@pytest.fixture
def line(words: MakeWords) -> MakePiece:
    """A line at a position."""

    def make(text: str, x: float = 0, base: float = 100, size: float = 10, bold: bool = False) -> LinePiece:
        (only,) = pieces(words(text, x, base, size, bold))
        return only

    return make
