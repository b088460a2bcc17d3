"""Show pages of a document, and convert between text spans and places on pages."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.accounts.access import Scope
from pincite.core.documents.cells import cells_of_row
from pincite.core.documents.document import VersionText
from pincite.core.documents.pages import Box, PageKind, PageMark
from pincite.core.documents.positions import (
    PageText,
    Place,
    Slice,
    TextSpan,
    describe_places,
    locate,
    marks_in_span,
    span_at_ref,
    span_in_box,
)
from pincite.errors import Invalid, NotFound
from pincite.store.documents.library import Library
from pincite.store.search.pages import Pages


@dataclass(frozen=True, slots=True)
class Word:
    """A word, row, cell or paragraph of a page, with its box or reference."""

    text: str
    start: int
    end: int
    rect: Box | None
    ref: str


@dataclass(frozen=True, slots=True)
class PageView:
    """A page, slide, sheet or part: its text from `start` to `end`, and the position of each word."""

    document_id: str
    version: str
    page: int
    of: int
    kind: PageKind
    name: str
    width: float
    height: float
    text: str
    start: int
    end: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Location:
    """A span of a version's text and its places; `place` describes them in words."""

    document_id: str
    version: str
    start: int
    end: int
    text: str
    place: str | None
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A requested place: a reference or a box, on a page given by number or name."""

    page: int | None = None
    name: str | None = None
    ref: str | None = None
    box: Box | None = None


class Locator:
    """Locates text on the pages of documents, within a scope."""

    def __init__(self, library: Library, pages: Pages) -> None:
        self._library = library
        self._pages = pages

    async def page(
        self,
        scope: Scope,
        document_id: str,
        number: int,
        version: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> PageView:
        """Return a page with its words, or with those in a span of the text."""
        text = await self._library.text(scope, document_id, version)
        start, end = _span(span, text)
        found, count = await self._pages.of(scope, _text_span(text, start, end), number=number)
        if not found:
            raise _no_page(text, number, count, narrowed=span is not None)
        return await asyncio.to_thread(_page_view, text, found, count, (start, end))

    async def locate(
        self, scope: Scope, document_id: str, span: tuple[int, int], version: str | None = None
    ) -> Location:
        """Return the places of a span of the text."""
        text = await self._library.text(scope, document_id, version)
        start, end = _span(span, text)
        if start == end:
            raise Invalid("the span is empty; its end must be after its start")
        return _location(text, start, end, await self._pages.touched(scope, _text_span(text, start, end)))

    async def text_at(self, scope: Scope, document_id: str, target: Target, version: str | None = None) -> Location:
        """Return the text at a place."""
        text = await self._library.text(scope, document_id, version)
        whole = _text_span(text, 0, len(text.text))
        found, count = await self._pages.of(scope, whole, number=target.page, name=target.name)
        if not found:
            raise _no_page(text, target.name if target.name is not None else target.page or 1, count)
        span = await asyncio.to_thread(_target_span, found, target, Slice(text.text))
        if span is None:
            raise NotFound(
                f"there is no text at {target.ref or 'this rectangle'}; read the page to see its references and boxes"
            )
        return _location(text, *span, found)


def _target_span(found: Sequence[PageText], target: Target, text: Slice) -> tuple[int, int] | None:
    """Return the span of the text at a target; without a reference or box, the whole page."""
    if target.ref is None and target.box is None:
        return found[0].page.start, found[-1].end
    spans = [
        (page_text.number, span)
        for page_text in found
        if (
            span := span_at_ref(page_text, target.ref, text)
            if target.ref is not None
            else span_in_box(page_text, target.box or (0, 0, 0, 0))
        )
    ]
    there = [span for number, span in spans if number == spans[0][0]]  # without a page, the first page with a match
    return (there[0][0], there[-1][1]) if there else None


def _location(text: VersionText, start: int, end: int, found: Sequence[PageText]) -> Location:
    places = locate(found, start, end, Slice(text.text))
    return Location(text.document_id, text.version, start, end, text.text[start:end], describe_places(places), places)


def _page_view(text: VersionText, found: Sequence[PageText], count: int, span: tuple[int, int]) -> PageView:
    first, whole = found[0].page, Slice(text.text)
    start, end = max(span[0], first.start), min(span[1], found[-1].end)
    marks = [mark for page_text in found for mark in marks_in_span(page_text.page.unpack_marks(), start, end, whole)]
    pieces = [
        piece for mark in marks for piece in cells_of_row(mark, whole.text_of(mark) or "") if piece.start < piece.end
    ]
    return PageView(
        document_id=text.document_id,
        version=text.version,
        page=found[0].number,
        of=count,
        kind=first.kind,
        name=first.name,
        width=first.width,
        height=first.height,
        text=text.text[start:end],
        start=start,
        end=end,
        words=tuple(_word(piece, text.text) for piece in pieces),
    )


def _word(mark: PageMark, text: str) -> Word:
    return Word(text[mark.start : mark.end], mark.start, mark.end, mark.box, mark.ref)


def _span(span: tuple[int, int] | None, text: VersionText) -> tuple[int, int]:
    start, end = span or (0, len(text.text))
    if not 0 <= start <= end <= len(text.text):
        raise Invalid(f"{start} to {end} is not a span of the text, which has {len(text.text)} characters")
    return start, end


def _text_span(text: VersionText, start: int, end: int) -> TextSpan:
    return TextSpan(text.document_id, text.version, start, end)


def _no_page(text: VersionText, wanted: int | str, count: int, *, narrowed: bool = False) -> NotFound:
    if not count and text.page_starts:
        return NotFound(
            f"'{text.title}' was indexed before positions were stored; reindex it: pincite reindex {text.document_id}"
        )
    if not count:
        return NotFound(f"'{text.title}' has no pages; read it by lines or sections")
    if narrowed and isinstance(wanted, int) and wanted <= count:
        return NotFound(f"the span is not on page {wanted}; locate it without a page")
    called = f"'{wanted}'" if isinstance(wanted, str) else wanted
    return NotFound(f"there is no page {called}; there are {count}")
