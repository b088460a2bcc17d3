"""Detects headings and their levels: by the outline, by font size, by bold type and by numbering."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from pincite.parsers.layout.blocks import Flow, Line
from pincite.parsers.layout.lines import LinePiece
from pincite.parsers.layout.outline import Bookmark, Place, find_headings
from pincite.parsers.layout.tables import Table

_MIN_SIZE_RATIO = 1.15
"""Minimum font size of a heading relative to the body text …"""
_MAX_CHARS = 120
"""… and its maximum length in characters."""
_MAX_BOLD_CHARS = 90
"""Maximum length of a heading that has the size of the body text."""
_SAME_SIZE = 0.95
"""Ratio from which two font sizes count as equal."""
_ENTRY_GAP = 2.0
"""Minimum gap before the page number of a table of contents, relative to the font size."""
_LEADER = re.compile(r"(?:\. ?){4}")
_MAX_PITCH = 1.8
"""Distance of the lines of one heading, in sizes of its letters."""
_NEW_SECTION = re.compile(r"(?:§\s*\d+|\d{1,2}(?:\.\d{1,2})*[.)]|\d{1,2}(?:\.\d{1,2})+)\s+\S")
"""The number of a section: its line begins a heading of its own."""
_NUMBERED = re.compile(
    r"(\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)\.?\s+(?=[^\W\d_])|[A-Z]\.\s|(?i:chapter|section|kapitel|appendix|anhang)\b"
)
_CAPTION = re.compile(r"(?:table|figure|fig|tabelle|abbildung|abb)\b", re.IGNORECASE)
_SENTENCE_END = (".", ",", ";", ":", "?", "!")
_MAX_BOLD_SHARE = 0.3
"""Maximum share of bold text in a document for which bold type marks headings."""
_MAX_LINES = 4
"""Maximum number of lines of one heading."""
_MAX_PITCH = 3.0
"""Maximum line pitch, relative to the font size."""


@dataclass(frozen=True, slots=True)
class Style:
    """The usual font size of a document, its line pitch relative to that size, and whether much of it is bold."""

    size: float
    pitch: float
    bold: bool


def style_of(pages: Sequence[Flow]) -> Style:
    """The style of most of a document's text."""
    weights: Counter[float] = Counter()
    bold = 0
    for line in _lines(pages):
        weights[line.piece.size] += len(line.piece.text)
        bold += len(line.piece.text) * line.piece.bold
    if not weights:
        return Style(0.0, 1.2, False)
    return Style(weights.most_common(1)[0][0], _pitch(pages), bold > _MAX_BOLD_SHARE * weights.total())


def with_headings(pages: Sequence[Flow], style: Style, outline: Sequence[Bookmark]) -> list[Flow]:
    """The pages with the level of each heading set."""
    sizes = _size_levels({line.piece.size for line in _lines(pages) if _is_larger(line.piece, style)})
    named = find_headings(pages, outline)
    if len(set(named.values())) > 1:
        named = _under_title(pages, named, sizes)
        level_of = _size_levels_from_outline(pages, named, sizes)
    else:  # an outline of one level names headings but not their levels
        named = _levels_by_size(pages, named, sizes)
        level_of = dict(sizes)
    lowest = max([*level_of.values(), *named.values()], default=0) + 1
    done: list[Flow] = []
    for number, page in enumerate(pages):
        flow: Flow = []
        for index, item in enumerate(page):
            if isinstance(item, Line):
                level = named.get((number, index), 0)
                if not level and _is_larger(item.piece, style):
                    level = level_of[item.piece.size]
                elif not level and _is_bold_heading(page, index, style):
                    level = lowest
                item = replace(item, level=min(level, 6))
            flow.append(item)
        done.append(_without_long_runs(flow, number, named))
    return [_merge_headings(page) for page in _with_numbered_headings(done, style)]


def _without_long_runs(page: Flow, number: int, named: Mapping[Place, int]) -> Flow:
    """The page without headings of many lines, which are large text and no headings."""
    done = list(page)
    start = 0
    for index in range(len(page) + 1):
        one, two = page[index - 1] if index else None, page[index] if index < len(page) else None
        if isinstance(one, Line) and isinstance(two, Line) and one.level and _continues(one, two):
            continue
        run = range(start, index)
        if len(run) > _MAX_LINES and not any((number, place) in named for place in run):
            done[start:index] = [replace(item, level=0) for item in page[start:index] if isinstance(item, Line)]
        start = index
    return done


def _with_numbered_headings(pages: Sequence[Flow], style: Style) -> list[Flow]:
    """The pages with headings found by number: `3.1.2 Costs` is a heading below `3.1` where that is one."""
    levels: dict[str, int] = {}
    done: list[Flow] = []
    for page in pages:
        flow = list(page)
        for index, item in enumerate(page):
            number = _NUMBERED.match(item.piece.text) if isinstance(item, Line) else None
            if not isinstance(item, Line) or not number or not number[1]:
                continue
            above = levels.get(number[1].rpartition(".")[0], 0)
            if above and (item.level or (_may_be_heading(item.piece) and _stands_alone(page, index, style))):
                flow[index] = item = replace(item, level=max(item.level, min(above + 1, 6)))
            if item.level:
                levels.setdefault(number[1], item.level)
        done.append(flow)
    return done


def _continues(one: Line, two: Line) -> bool:
    """Whether a heading may continue in the line below it."""
    near = 0 < two.piece.base - one.piece.words[-1].base < _MAX_PITCH * two.piece.size
    if _NEW_SECTION.match(two.piece.text):
        return False
    return near and one.level == two.level and abs(one.piece.size - two.piece.size) < 1 and not two.fresh


def _lines(pages: Iterable[Flow]) -> Iterable[Line]:
    return (item for page in pages for item in page if isinstance(item, Line))


def _pitch(pages: Sequence[Flow]) -> float:
    """The median distance of two lines of the same size, relative to that size."""
    pairs = (
        (above.piece, below.piece)
        for page in pages
        for above, below in pairwise(page)
        if isinstance(above, Line) and isinstance(below, Line)
    )
    pitches = [
        (below.base - above.base) / above.size
        for above, below in pairs
        if above.size == below.size > 0 and below.base > above.base
    ]
    return min(median(pitches), _MAX_PITCH) if pitches else 1.2


def _is_larger(piece: LinePiece, style: Style) -> bool:
    if not style.size or piece.size < style.size * _MIN_SIZE_RATIO or len(piece.text) > _MAX_CHARS:
        return False
    return sum(map(str.isalpha, piece.text)) > 1 and not _is_entry(piece)


def _is_entry(piece: LinePiece) -> bool:
    """Whether this is a line of a table of contents: with leader dots, or with a gap and a page number."""
    *_, before, last = (piece.words[0], *piece.words)
    far = last.box[0] - before.box[2] > _ENTRY_GAP * piece.size
    return bool(_LEADER.search(piece.text)) or (far and last.text.isdecimal())


def _is_bold_heading(page: Flow, index: int, style: Style) -> bool:
    """Whether a bold line of the usual size is a heading: it is numbered or separate from the paragraphs around it."""
    line = page[index]
    if not isinstance(line, Line) or style.bold or not line.piece.bold or line.piece.size < style.size * _SAME_SIZE:
        return False
    if not _may_be_heading(line.piece):
        return False
    if _NUMBERED.match(line.piece.text):
        return True
    below = page[index + 1] if index + 1 < len(page) else None
    if isinstance(below, Table):
        return not _CAPTION.match(line.piece.text) and _stands_alone(page, index, style)
    return below is not None and not below.piece.bold and not below.fresh and _stands_alone(page, index, style)


def _may_be_heading(piece: LinePiece) -> bool:
    """Whether a line of the usual size may be a heading: it is short, no sentence, and not in a table of contents."""
    text = piece.text
    if len(text) > _MAX_BOLD_CHARS or text.endswith(_SENTENCE_END) or sum(map(str.isalpha, text)) < 3:
        return False
    return not _is_entry(piece) and text[0].isalnum() and not text[0].islower()


def _stands_alone(page: Flow, index: int, style: Style) -> bool:
    """Whether the gap above a line is larger than between two lines of text."""
    line, above = page[index], page[index - 1] if index else None
    if not isinstance(line, Line) or not isinstance(above, Line) or line.fresh:
        return True
    return line.piece.base - above.piece.base > 1.25 * style.pitch * style.size


def _size_levels(sizes: set[float]) -> dict[float, int]:
    """A level for each font size, from 1 for the largest; nearly equal sizes share a level."""
    levels: dict[float, int] = {}
    top, level = math.inf, 0
    for size in sorted(sizes, reverse=True):
        if size < top * _SAME_SIZE:
            top, level = size, level + 1
        levels[size] = min(level, 6)
    return levels


def _levels_by_size(pages: Sequence[Flow], named: Mapping[Place, int], sizes: Mapping[float, int]) -> dict[Place, int]:
    """The levels of the named lines by font size; those of the usual size get the lowest level."""
    lowest = max(sizes.values(), default=0) + 1
    lines = {place: pages[place[0]][place[1]] for place in named}
    return {place: sizes.get(line.piece.size, lowest) for place, line in lines.items() if isinstance(line, Line)}


def _under_title(pages: Sequence[Flow], named: dict[Place, int], sizes: Mapping[float, int]) -> dict[Place, int]:
    """The levels of the outline, one deeper where the document has a larger title that the outline does not name."""
    lines = [pages[number][index] for number, index in named]
    largest = max((line.piece.size for line in lines if isinstance(line, Line)), default=math.inf)
    first = next((page for page in pages if page), [])
    titled = any(isinstance(line, Line) and line.piece.size in sizes and line.piece.size > largest for line in first)
    return {place: level + titled for place, level in named.items()}


def _size_levels_from_outline(
    pages: Sequence[Flow], named: Mapping[Place, int], sizes: Mapping[float, int]
) -> dict[float, int]:
    """The level of each font size: the median level of its lines in the outline, if it names any."""
    levels: dict[float, list[int]] = defaultdict(list)
    for (number, index), level in named.items():
        item = pages[number][index]
        if isinstance(item, Line):
            levels[item.piece.size].append(level)
    return {size: round(median(levels[size])) if size in levels else level for size, level in sizes.items()}


def _merge_headings(page: Flow) -> Flow:
    """Merge the lines of each heading that spans several lines."""
    done: Flow = []
    for item in page:
        last = done[-1] if done else None
        if isinstance(item, Line) and isinstance(last, Line) and item.level and _continues(last, item):
            words = (*last.piece.words, *item.piece.words)
            whole = replace(last, piece=replace(last.piece, words=words))
            if len(whole.piece.text) <= _MAX_CHARS:
                done[-1] = whole
                continue
        done.append(item)
    return done
