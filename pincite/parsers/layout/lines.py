"""Joins adjacent words to pieces of lines, and pieces on one baseline to lines."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from pincite.core.documents.pages import Box
from pincite.parsers.layout.words import Word, bounding_box

MAX_WORD_GAP = 0.9
"""Maximum gap within a piece, relative to the font size; beyond it a new piece starts, perhaps of another column."""
_MAX_JOIN_GAP = 0.35
"""Maximum gap at which two pieces that the file draws separately are joined, relative to the font size."""
_MIN_SPACE = 0.08
"""Minimum width of a space relative to the font size; words with a smaller gap are joined …"""
_NARROW_SHARE, _MAX_NARROW_SPACE = 0.3, 0.2
"""… and so are words with less than this share of the line's usual space, up to a maximum relative to the font size."""
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_SAME_LINE = 0.3
"""Maximum distance of the baselines of one line, relative to the font size …"""
_MAX_RAISE = 0.6
"""… and the same for smaller letters that are raised or lowered, such as a footnote's mark."""
_SIZE_SAMPLE_WORDS = 5
"""Words at the start of a piece that determine its font size."""


@dataclass(frozen=True, slots=True)
class LinePiece:
    """Adjacent words: a line, or its part in one column."""

    words: tuple[Word, ...]
    box: Box
    base: float
    size: float

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        return " ".join(word.text for word in self.words)

    @property
    def bold(self) -> bool:
        """Whether all words are bold."""
        return all(word.bold for word in self.words)


def piece(words: Sequence[Word]) -> LinePiece:
    """The piece of these words, in reading direction."""
    # The first words decide, because in headings in small capitals only the initials have the full size.
    size = median(word.size for word in words[:_SIZE_SAMPLE_WORDS])
    usual = next(word for word in words if word.size >= size)
    return LinePiece(tuple(_in_reading_direction(words)), bounding_box([word.box for word in words]), usual.base, size)


def pieces(words: Iterable[Word]) -> list[LinePiece]:
    """The pieces of lines that words in the order of the file form."""
    runs: list[list[Word]] = []
    for word in words:
        last = runs[-1][-1] if runs else None
        gap = word.box[0] - last.box[2] if last else 0.0
        if last and _on_same_line(last, word) and -0.5 * last.size < gap <= MAX_WORD_GAP * max(last.size, word.size):
            runs[-1].append(word)
        else:
            runs.append([word])
    return _join_pieces([piece(_join_split_words(run)) for run in runs])


def rows(found: Iterable[LinePiece]) -> list[list[LinePiece]]:
    """The pieces grouped by baseline, from top to bottom, each row from left to right."""
    lines: list[list[LinePiece]] = []
    for item in sorted(found, key=lambda item: (item.base, item.box[0])):
        if lines and item.base - lines[-1][0].base <= _SAME_LINE * min(item.size, lines[-1][0].size):
            lines[-1].append(item)
        else:
            lines.append([item])
    return [sorted(line, key=lambda item: item.box[0]) for line in lines]


def _on_same_line(one: Word, other: Word) -> bool:
    """Whether two words are on one line."""
    apart, small, large = abs(one.base - other.base), *sorted((one.size, other.size))
    return apart <= (_MAX_RAISE * large if small < 0.85 * large else _SAME_LINE * large)


def _in_reading_direction(words: Sequence[Word]) -> Sequence[Word]:
    """Return words sorted from left to right in reading order: reversed if most are in a right-to-left script."""
    backwards = sum(1 for word in words if not word.text.isascii() and _RIGHT_TO_LEFT.search(word.text))
    return sorted(words, key=lambda word: -word.box[2]) if backwards * 2 > len(words) else words


def _join_split_words(words: Sequence[Word]) -> list[Word]:
    """The words, joined where the space between them is much narrower than others of the line."""
    gaps = [after.box[0] - before.box[2] for before, after in pairwise(words)]
    usual = sorted(gaps)[len(gaps) * 3 // 4] if len(gaps) > 1 else 0.0
    done = list(words[:1])
    for gap, word in zip(gaps, words[1:], strict=True):
        last = done[-1]
        if gap < max(_MIN_SPACE * word.size, min(_NARROW_SHARE * usual, _MAX_NARROW_SPACE * word.size)):
            done[-1] = replace(
                last, text=last.text + word.text, box=bounding_box((last.box, word.box)), size=max(last.size, word.size)
            )
        else:
            done.append(word)
    return done


def _join_pieces(found: list[LinePiece]) -> list[LinePiece]:
    """Join adjacent pieces that the file draws separately."""
    done: list[LinePiece] = []
    for row in rows(found):
        start = len(done)
        for item in row:
            last = done[-1] if len(done) > start else None
            gap = item.box[0] - last.box[2] if last else 0.0
            if last and -0.2 * item.size < gap <= _MAX_JOIN_GAP * max(last.size, item.size):
                done[-1] = piece((*last.words, *item.words))
            else:
                done.append(item)
    return done
