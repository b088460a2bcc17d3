"""Spans of a version's text → where they stand in its file, and places there → the text."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pincite.core.documents.cells import Cells, cells, split
from pincite.core.documents.pages import Box, Page, PageKind, PageMark

PLAIN = "text"
"""The reference of what a slide says outside of titles, tables and notes: it says nothing more than the slide."""
_COUNTED = re.compile(r"(.*\W|)(\w++) (\d++)")
"""`table 2, row 3` → what stands before, what is counted, and the number."""
_RANGE = re.compile(r"(.*\W|)(\w+)s (\d++)[–-](\d++)")
"""`table 2, rows 3–5` likewise, with both numbers."""


@dataclass(frozen=True, slots=True)
class PageText:
    """A page of a version, or a part of a long one: which it is, and where its text ends."""

    number: int
    page: Page
    end: int


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A span of a version's text."""

    document_id: str
    version: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a version's text; `start` is where it begins there."""

    text: str
    start: int = 0

    def of(self, mark: PageMark) -> str | None:
        """The text of a mark; None where the stretch does not hold all of it."""
        whole = self.start <= mark.start and mark.end <= self.start + len(self.text)
        return self.text[mark.start - self.start : mark.end - self.start] if whole else None


@dataclass(frozen=True, slots=True)
class Place:
    """Where [start:end] of the text stands: on one page, in boxes, one for each line, or at a reference."""

    number: int
    kind: PageKind
    name: str
    start: int
    end: int
    boxes: tuple[Box, ...] = ()
    ref: str = ""


def leaves(pages: Sequence[Page], length: int) -> list[PageText]:
    """The pages of a text of so many characters, numbered."""
    ends = [page.start for page in pages[1:]] + [length]
    return [PageText(number, page, end) for number, (page, end) in enumerate(zip(pages, ends, strict=True), start=1)]


def locate(found: Sequence[PageText], start: int, end: int, text: Slice) -> tuple[Place, ...]:
    """Where [start:end] stands, page by page; `text` holds at least that span, and the rows it is in."""
    places: list[Place] = []
    for leaf in found:
        low, high = max(start, leaf.page.start), min(end, leaf.end)
        if low < high:
            place = placing(leaf, touching(leaf.page.placed(low, high), low, high, text), low, high)
            places = [*places[:-1], _joined(places[-1], place)] if _same(places, place) else [*places, place]
    return tuple(places)


def placing(leaf: PageText, touched: Sequence[PageMark], start: int, end: int) -> Place:
    """The place of [start:end] of a page, by the marks it touches."""
    page = leaf.page
    return Place(leaf.number, page.kind, page.name, start, end, lines(mark.box for mark in touched), _ref(touched))


def _same(places: Sequence[Place], place: Place) -> bool:
    return bool(places) and places[-1].number == place.number


def _joined(first: Place, second: Place) -> Place:
    """Two parts of one page."""
    ref = _ref([PageMark(0, 0, ref=place.ref) for place in (first, second) if place.ref])
    return replace(first, end=second.end, boxes=first.boxes + second.boxes, ref=ref)


def touching(marks: Sequence[PageMark], start: int, end: int, text: Slice) -> list[PageMark]:
    """The marks that have a character in [start:end]: words, paragraphs, and of a sheet's rows the very cells."""
    first = bisect_right(marks, start, key=lambda mark: mark.end)
    last = bisect_left(marks, end, key=lambda mark: mark.start)
    touched: list[PageMark] = []
    for mark in marks[first:last]:
        row = text.of(mark) if start > mark.start or end < mark.end else None
        parts = [mark] if row is None else [cell for cell in cells(mark, row) if cell.start < end and start < cell.end]
        touched += parts or [mark]
    return touched


def lines(boxes: Iterable[Box | None]) -> tuple[Box, ...]:
    """The boxes of words in a row as one for each line."""
    found: list[Box] = []
    for box in boxes:
        if box is None:
            continue
        if found and _on_one_line(found[-1], box):
            last = found[-1]
            found[-1] = min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3])
        else:
            found.append(box)
    return tuple(found)


def _on_one_line(line: Box, word: Box) -> bool:
    """Whether a word stands on a line and after it: the middle of the lower one of the two is inside the other."""
    shared = min(line[3], word[3]) - max(line[1], word[1])
    height = min(line[3] - line[1], word[3] - word[1])
    return shared >= height / 2 and word[2] >= line[0] and word[0] >= line[2] - height


def _ref(marks: Sequence[PageMark]) -> str:
    """One reference for marks in a row: the cells they span, or from the first to the last."""
    refs = [mark.ref for mark in marks if mark.ref]
    if not refs:
        return ""
    parts = [split(ref) for ref in refs]
    lead, whole = parts[0]
    for other, one in parts:
        if whole is None or one is None or other != lead:
            return _range(refs[0], refs[-1])
        whole = whole.joined(one)
    return f"{lead}{whole}"


def _range(first: str, last: str) -> str:
    """`paragraph 2` and `paragraph 4` → `paragraphs 2–4`."""
    if first == last:
        return first
    one, other = _COUNTED.fullmatch(first), _COUNTED.fullmatch(last)
    if one and other and one[1] == other[1] and one[2] == other[2]:
        return f"{one[1]}{one[2]}s {one[3]}–{other[3]}"
    return f"{first} to {last}"


# --- in words -----------------------------------------------------------------------------------------------


def in_words(places: Sequence[Place]) -> str | None:
    """`page 3`, `slides 2–4`, `sheet Prices, B7`, `table 2, row 3`; None where nothing is known."""
    if not places:
        return None
    first, last = places[0], places[-1]
    if first.number == last.number:
        return _one_in_words(first) or None
    if first.kind == last.kind and first.kind in ("page", "slide"):
        return f"{first.kind}s {first.number}–{last.number}"
    return f"{_called(first)} to {_called(last)}"


def _one_in_words(place: Place) -> str:
    ref = "" if place.ref == PLAIN else place.ref
    return ", ".join(filter(None, (_called(place), ref)))


def _called(place: Place) -> str:
    """A page by what its readers call it: its number, or the name on its tab; nothing where there is but one."""
    if place.kind == "text" or (place.kind == "sheet" and not place.name):
        return ""
    return f"{place.kind} {place.name if place.kind in ('sheet', 'part') and place.name else place.number}"


# --- the other way ------------------------------------------------------------------------------------------


def at_ref(leaf: PageText, ref: str, text: Slice) -> tuple[int, int] | None:
    """The span of text at a reference of a page; of a range of cells, from its first row to its last."""
    lead, _, last = ref.casefold().rpartition(", ")
    wanted = Cells.of(last.upper())
    marks = leaf.page.placed()
    if wanted is None:
        first, last = (ref, ref) if _called_so(marks, ref) else _ends(ref)
        opening, closing = _called_so(marks, first), _called_so(marks, last)
        return (opening[0].start, closing[-1].end) if opening and closing else None
    rows = [mark for mark in marks if _meets(mark, lead, wanted)]
    return _span([cell for row in rows for cell in cells(row, text.of(row) or "") if _meets(cell, lead, wanted)])


def _called_so(marks: Sequence[PageMark], ref: str) -> list[PageMark]:
    return [mark for mark in marks if mark.ref.casefold() == ref.casefold()]


def _ends(ref: str) -> tuple[str, str]:
    """The first and the last of a range, as `_range` wrote it."""
    if counted := _RANGE.fullmatch(ref):
        return f"{counted[1]}{counted[2]} {counted[3]}", f"{counted[1]}{counted[2]} {counted[4]}"
    first, _, last = ref.partition(" to ")
    return first, last


def _meets(mark: PageMark, lead: str, wanted: Cells) -> bool:
    before, known = split(mark.ref)
    return known is not None and known.meets(wanted) and before.casefold().removesuffix(", ") == lead


def in_box(leaf: PageText, box: Box) -> tuple[int, int] | None:
    """The span from the first to the last word whose middle is inside a box."""
    left, top, right, bottom = box

    def inside(mark: PageMark) -> bool:
        if mark.box is None:
            return False
        across, down = (mark.box[0] + mark.box[2]) / 2, (mark.box[1] + mark.box[3]) / 2
        return left <= across <= right and top <= down <= bottom

    return _span([mark for mark in leaf.page.placed() if inside(mark)])


def _span(marks: Sequence[PageMark]) -> tuple[int, int] | None:
    return (marks[0].start, marks[-1].end) if marks else None
