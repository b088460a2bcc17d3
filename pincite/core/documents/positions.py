"""Convert spans of a version's text to places in its file, and places to spans."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pincite.core.documents.cells import Cells, cells_of_row, split_ref
from pincite.core.documents.pages import Box, Page, PageKind, PageMark

SLIDE_TEXT_REF = "text"
"""The reference of slide text outside of titles, tables and notes; descriptions omit it."""
_NUMBERED_REF = re.compile(r"(.*\W|)(\w++) (\d++)")
"""Splits `table 2, row 3` into `table 2, `, `row` and `3`."""
_REF_RANGE = re.compile(r"(.*\W|)(\w+)s (\d++)[–-](\d++)")
"""Splits `table 2, rows 3–5` into `table 2, `, `row`, `3` and `5`."""


@dataclass(frozen=True, slots=True)
class PageText:
    """A page of a document version, or one part of a long page; `end` is the offset where its text ends."""

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
    """A part of a version's text; `start` is its offset in that text."""

    text: str
    start: int = 0

    def text_of(self, mark: PageMark) -> str | None:
        """Return the text of a mark; None if the mark is not completely inside the slice."""
        whole = self.start <= mark.start and mark.end <= self.start + len(self.text)
        return self.text[mark.start - self.start : mark.end - self.start] if whole else None


@dataclass(frozen=True, slots=True)
class Place:
    """The place of the span [start:end] on one page: one box per line, or a reference."""

    number: int
    kind: PageKind
    name: str
    start: int
    end: int
    boxes: tuple[Box, ...] = ()
    ref: str = ""


def number_pages(pages: Sequence[Page], length: int) -> list[PageText]:
    """Number the pages of a text of `length` characters, and set their ends."""
    ends = [page.start for page in pages[1:]] + [length]
    return [PageText(number, page, end) for number, (page, end) in enumerate(zip(pages, ends, strict=True), start=1)]


def locate(found: Sequence[PageText], start: int, end: int, text: Slice) -> tuple[Place, ...]:
    """Return the places of [start:end], one per page; `text` contains at least that span and its table rows."""
    places: list[Place] = []
    for page_text in found:
        low, high = max(start, page_text.page.start), min(end, page_text.end)
        if low < high:
            place = place_on_page(
                page_text, marks_in_span(page_text.page.unpack_marks(low, high), low, high, text), low, high
            )
            places = (
                [*places[:-1], _join_places(places[-1], place)] if _is_same_page(places, place) else [*places, place]
            )
    return tuple(places)


def place_on_page(page_text: PageText, touched: Sequence[PageMark], start: int, end: int) -> Place:
    """Return the place of [start:end] on a page, from the marks in it."""
    page = page_text.page
    return Place(
        page_text.number,
        page.kind,
        page.name,
        start,
        end,
        line_boxes(mark.box for mark in touched),
        _joined_ref(touched),
    )


def _is_same_page(places: Sequence[Place], place: Place) -> bool:
    return bool(places) and places[-1].number == place.number


def _join_places(first: Place, second: Place) -> Place:
    """Join the places of two parts of one page."""
    ref = _joined_ref([PageMark(0, 0, ref=place.ref) for place in (first, second) if place.ref])
    return replace(first, end=second.end, boxes=first.boxes + second.boxes, ref=ref)


def marks_in_span(marks: Sequence[PageMark], start: int, end: int, text: Slice) -> list[PageMark]:
    """Return the marks with a character in [start:end]; a partly covered row of a sheet is split into its cells."""
    first = bisect_right(marks, start, key=lambda mark: mark.end)
    last = bisect_left(marks, end, key=lambda mark: mark.start)
    touched: list[PageMark] = []
    for mark in marks[first:last]:
        row = text.text_of(mark) if start > mark.start or end < mark.end else None
        parts = (
            [mark]
            if row is None
            else [cell for cell in cells_of_row(mark, row) if cell.start < end and start < cell.end]
        )
        touched += parts or [mark]
    return touched


def line_boxes(boxes: Iterable[Box | None]) -> tuple[Box, ...]:
    """Merge the boxes of consecutive words into one box per line."""
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
    """Whether a word continues a line: they overlap by half the smaller height, and the word is not to the left."""
    shared = min(line[3], word[3]) - max(line[1], word[1])
    height = min(line[3] - line[1], word[3] - word[1])
    return shared >= height / 2 and word[2] >= line[0] and word[0] >= line[2] - height


def _joined_ref(marks: Sequence[PageMark]) -> str:
    """Return one reference for consecutive marks: the cells they span, or a range from the first to the last."""
    refs = [mark.ref for mark in marks if mark.ref]
    if not refs:
        return ""
    parts = [split_ref(ref) for ref in refs]
    lead, whole = parts[0]
    for other, one in parts:
        if whole is None or one is None or other != lead:
            return _ref_range(refs[0], refs[-1])
        whole = whole.union(one)
    return f"{lead}{whole}"


def _ref_range(first: str, last: str) -> str:
    """`paragraph 2` and `paragraph 4` → `paragraphs 2–4`."""
    if first == last:
        return first
    one, other = _NUMBERED_REF.fullmatch(first), _NUMBERED_REF.fullmatch(last)
    if one and other and one[1] == other[1] and one[2] == other[2]:
        return f"{one[1]}{one[2]}s {one[3]}–{other[3]}"
    return f"{first} to {last}"


# --- descriptions -------------------------------------------------------------------------------------------


def describe_places(places: Sequence[Place]) -> str | None:
    """Return `page 3`, `slides 2–4`, `sheet Prices, B7` or `table 2, row 3`; None if the place is unknown."""
    if not places:
        return None
    first, last = places[0], places[-1]
    if first.number == last.number:
        return _describe_place(first) or None
    if first.kind == last.kind and first.kind in ("page", "slide"):
        return f"{first.kind}s {first.number}–{last.number}"
    return f"{_page_name(first)} to {_page_name(last)}"


def _describe_place(place: Place) -> str:
    ref = "" if place.ref == SLIDE_TEXT_REF else place.ref
    return ", ".join(filter(None, (_page_name(place), ref)))


def _page_name(place: Place) -> str:
    """Return the name of a page: its number, or the name of its sheet or part; empty for a file without pages."""
    if place.kind == "text" or (place.kind == "sheet" and not place.name):
        return ""
    return f"{place.kind} {place.name if place.kind in ('sheet', 'part') and place.name else place.number}"


# --- places to spans ----------------------------------------------------------------------------------------


def span_at_ref(page_text: PageText, ref: str, text: Slice) -> tuple[int, int] | None:
    """Return the span of the text at a reference on a page; a range of cells spans from its first to its last cell."""
    lead, _, last = ref.casefold().rpartition(", ")
    wanted = Cells.parse(last.upper())
    marks = page_text.page.unpack_marks()
    if wanted is None:
        first, last = (ref, ref) if _marks_with_ref(marks, ref) else _range_ends(ref)
        opening, closing = _marks_with_ref(marks, first), _marks_with_ref(marks, last)
        return (opening[0].start, closing[-1].end) if opening and closing else None
    rows = [mark for mark in marks if _overlaps_cells(mark, lead, wanted)]
    return _span(
        [
            cell
            for row in rows
            for cell in cells_of_row(row, text.text_of(row) or "")
            if _overlaps_cells(cell, lead, wanted)
        ]
    )


def _marks_with_ref(marks: Sequence[PageMark], ref: str) -> list[PageMark]:
    return [mark for mark in marks if mark.ref.casefold() == ref.casefold()]


def _range_ends(ref: str) -> tuple[str, str]:
    """Return the first and the last reference of a range in the form of `_ref_range`."""
    if counted := _REF_RANGE.fullmatch(ref):
        return f"{counted[1]}{counted[2]} {counted[3]}", f"{counted[1]}{counted[2]} {counted[4]}"
    first, _, last = ref.partition(" to ")
    return first, last


def _overlaps_cells(mark: PageMark, lead: str, wanted: Cells) -> bool:
    before, known = split_ref(mark.ref)
    return known is not None and known.overlaps(wanted) and before.casefold().removesuffix(", ") == lead


def span_in_box(page_text: PageText, box: Box) -> tuple[int, int] | None:
    """Return the span from the first to the last word whose centre is inside a box."""
    left, top, right, bottom = box

    def inside(mark: PageMark) -> bool:
        if mark.box is None:
            return False
        across, down = (mark.box[0] + mark.box[2]) / 2, (mark.box[1] + mark.box[3]) / 2
        return left <= across <= right and top <= down <= bottom

    return _span([mark for mark in page_text.page.unpack_marks() if inside(mark)])


def _span(marks: Sequence[PageMark]) -> tuple[int, int] | None:
    return (marks[0].start, marks[-1].end) if marks else None
