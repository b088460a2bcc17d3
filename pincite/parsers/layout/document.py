"""Joins pages to one document: removes running headers, finds headings, and writes each page as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from pincite.core.documents.pages import Page, PageMark, pack
from pincite.parsers.layout.blocks import Flow, Line, page_items, to_flow
from pincite.parsers.layout.headers_footers import remove_running_lines
from pincite.parsers.layout.headings import Style, style_of, with_headings
from pincite.parsers.layout.outline import Bookmark
from pincite.parsers.layout.render import HyphenJoiner, render
from pincite.parsers.layout.words import PageWords, to_page_box
from pincite.text.sentences import normalise

_BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of all pages; the title is the first heading of the highest level."""

    text: str
    pages: tuple[Page, ...]
    title: str | None


def build_document(leaves: Sequence[PageWords], outline: Sequence[Bookmark] = ()) -> DocumentText:
    """The text of the pages in their order, with a blank line between them."""
    main = [page_items(leaf.sheets[0]) if leaf.sheets else [] for leaf in leaves]
    main = remove_running_lines(main, [leaf.sheets[0].height if leaf.sheets else leaf.height for leaf in leaves])
    flows = [to_flow(found) for found in main]
    style = style_of(flows)
    flows = with_headings(flows, style, outline)
    joiner = HyphenJoiner(flows)
    written = [_render_page(leaf, page, style, joiner) for leaf, page in zip(leaves, flows, strict=True)]
    text, pages = _join_pages(leaves, written)
    return DocumentText(text, pages, _title(flows))


Written = tuple[str, list[PageMark]]
"""A text and the marks of its words."""


def _render_page(leaf: PageWords, page: Flow, style: Style, joiner: HyphenJoiner) -> Written:
    """The text of a page: first its main text direction, then text in other directions."""
    parts = [render(page, style, joiner, partial(to_page_box, sheet=leaf.sheets[0]))] if leaf.sheets else []
    for sheet in leaf.sheets[1:]:
        parts.append(render(to_flow(page_items(sheet)), style, joiner, partial(to_page_box, sheet=sheet)))
    return _join_parts(parts)


def _join_parts(parts: Sequence[Written]) -> Written:
    text, marks = parts[0] if parts else ("", [])
    for part, own in parts[1:]:
        text += _BREAK if text and part else ""
        marks += _shift(own, len(text))
        text += part
    return text, marks


def _shift(marks: Sequence[PageMark], by: int) -> list[PageMark]:
    return [PageMark(mark.start + by, mark.end + by, mark.box) for mark in marks] if by else list(marks)


def _join_pages(leaves: Sequence[PageWords], written: Sequence[Written]) -> tuple[str, tuple[Page, ...]]:
    """The whole text, and the start of each page; an empty page starts where the next one does."""
    pages: list[Page] = []
    parts: list[str] = []
    start = 0
    for leaf, (text, marks) in zip(leaves, written, strict=True):
        pages.append(Page(start, width=leaf.width, height=leaf.height, marks=pack(_shift(marks, start))))
        if text:
            parts.append(text)
            start += len(text) + len(_BREAK)
    whole = _BREAK.join(parts)
    if normalise(whole) != whole:
        raise ValueError("the text of a page is not normalized")
    return whole, tuple(replace(page, start=min(page.start, len(whole))) for page in pages)


def _title(flows: Sequence[Flow]) -> str | None:
    lines = [item for page in flows for item in page if isinstance(item, Line) and item.level]
    return min(lines, key=lambda line: line.level).piece.text if lines else None
