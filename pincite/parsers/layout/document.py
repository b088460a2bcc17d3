"""Pages put together: what is the same on all of them decided once, then each written as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from pincite.core.documents.pages import Page, PageMark, pack
from pincite.parsers.layout.blocks import Flow, Line, flow, items
from pincite.parsers.layout.headers_footers import without_running
from pincite.parsers.layout.headings import Style, style_of, with_headings
from pincite.parsers.layout.outline import Bookmark
from pincite.parsers.layout.render import Speller, render
from pincite.parsers.layout.words import PageWords, shown
from pincite.text.sentences import normalise

_BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class Book:
    """All pages as one text; the title is the first heading of the highest level."""

    text: str
    pages: tuple[Page, ...]
    title: str | None


def build_document(leaves: Sequence[PageWords], outline: Sequence[Bookmark] = ()) -> Book:
    """The pages in their order, with a blank line between them."""
    main = [items(leaf.sheets[0]) if leaf.sheets else [] for leaf in leaves]
    main = without_running(main, [leaf.sheets[0].height if leaf.sheets else leaf.height for leaf in leaves])
    flows = [flow(found) for found in main]
    style = style_of(flows)
    flows = with_headings(flows, style, outline)
    speller = Speller(flows)
    written = [_written(leaf, page, style, speller) for leaf, page in zip(leaves, flows, strict=True)]
    text, pages = _joined(leaves, written)
    return Book(text, pages, _title(flows))


Written = tuple[str, list[PageMark]]


def _written(leaf: PageWords, page: Flow, style: Style, speller: Speller) -> Written:
    """A page's text: first what most of it is, then what runs in other directions."""
    parts = [render(page, style, speller, partial(shown, sheet=leaf.sheets[0]))] if leaf.sheets else []
    for sheet in leaf.sheets[1:]:
        parts.append(render(flow(items(sheet)), style, speller, partial(shown, sheet=sheet)))
    return _appended(parts)


def _appended(parts: Sequence[Written]) -> Written:
    text, marks = parts[0] if parts else ("", [])
    for part, own in parts[1:]:
        text += _BREAK if text and part else ""
        marks += _moved(own, len(text))
        text += part
    return text, marks


def _moved(marks: Sequence[PageMark], by: int) -> list[PageMark]:
    return [PageMark(mark.start + by, mark.end + by, mark.box) for mark in marks] if by else list(marks)


def _joined(leaves: Sequence[PageWords], written: Sequence[Written]) -> tuple[str, tuple[Page, ...]]:
    """The whole text, and where each page begins; one without text begins where it would."""
    pages: list[Page] = []
    parts: list[str] = []
    start = 0
    for leaf, (text, marks) in zip(leaves, written, strict=True):
        pages.append(Page(start, width=leaf.width, height=leaf.height, marks=pack(_moved(marks, start))))
        if text:
            parts.append(text)
            start += len(text) + len(_BREAK)
    whole = _BREAK.join(parts)
    if normalise(whole) != whole:
        raise ValueError("a page was written that is not normalised")
    return whole, tuple(replace(page, start=min(page.start, len(whole))) for page in pages)


def _title(flows: Sequence[Flow]) -> str | None:
    lines = [item for page in flows for item in page if isinstance(item, Line) and item.level]
    return min(lines, key=lambda line: line.level).piece.text if lines else None
