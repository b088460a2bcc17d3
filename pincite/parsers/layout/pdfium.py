"""Reads a PDF page with PDFium: words and ruling lines by text direction, links and annotations."""

import re
from collections.abc import Iterator
from contextlib import closing
from ctypes import byref, c_int, create_string_buffer
from typing import Any

from pincite.core.documents.pages import Box
from pincite.parsers.layout.annotations import annotation_words
from pincite.parsers.layout.pdf_chars import Links, PageChars, View
from pincite.parsers.layout.ruling_lines import find_rules
from pincite.parsers.layout.words import PageWords, Rule, Sheet, rotate_box

_WEB = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f\x7f-\x9f<>]{1,2000}", re.IGNORECASE)
_MAX_LINKS = 2_000
"""Maximum number of links of a page."""
_MAX_SCAN_CHARS = 40
"""Characters from which a page is not a scan; a scan may have a few, such as a stamped number."""
_MIN_IMAGE_SHARE = 0.6
"""Minimum share of the page that the picture of a scan covers."""


def read_page(document: Any, number: int) -> PageWords:
    """The words of a page, by its index from 0, with filled form fields and text annotations."""
    with closing(document[number]) as page:
        return _page_words(page, tuple(_links(document, page)))


def is_scan(document: Any, number: int, leaf: PageWords) -> bool:
    """Whether a page is a scan: it has almost no text, and a picture covers it."""
    from pypdfium2 import raw

    chars = sum(len(word.text) for sheet in leaf.sheets for word in sheet.words)
    if chars >= _MAX_SCAN_CHARS:
        return False
    with closing(document[number]) as page:
        if not chars:
            return bool(raw.FPDFPage_CountObjects(page))
        images = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=2)
        boxes = [item.get_bounds() for item in images]
        return any((x1 - x0) * (y1 - y0) > _MIN_IMAGE_SHARE * leaf.width * leaf.height for x0, y0, x1, y1 in boxes)


def _page_words(page: Any, links: Links) -> PageWords:
    view = View(page)
    with closing(page.get_textpage()) as content:
        groups = PageChars(content, view, links).words()
    if added := annotation_words(page, view):
        groups.setdefault(view.turn(1, 0), []).extend(added)
    if not groups:
        return PageWords(view.width, view.height)
    across, down = find_rules(page, view.box)
    order = sorted(groups, key=lambda turn: -sum(len(word.text) for word in groups[turn]))
    sheets = []
    for turn in order:
        width, height = (view.height, view.width) if turn in (1, 3) else (view.width, view.height)
        lines = _turned_rules(across, down, turn, view) if turn == order[0] else ((), ())
        sheets.append(Sheet(turn, width, height, tuple(groups[turn]), *lines))
    return PageWords(view.width, view.height, tuple(sheets))


def _turned_rules(
    across: tuple[Rule, ...], down: tuple[Rule, ...], turn: int, view: View
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    if turn not in (1, 2, 3):
        return across, down
    boxes = [rotate_box((rule.start, rule.at, rule.end, rule.at), turn, view.width, view.height) for rule in across]
    boxes += [rotate_box((rule.at, rule.start, rule.at, rule.end), turn, view.width, view.height) for rule in down]
    flat = tuple(Rule(top, left, right) for left, top, right, bottom in boxes if top == bottom)
    steep = tuple(Rule(left, top, bottom) for left, top, right, bottom in boxes if left == right and top != bottom)
    return flat, steep


def _links(document: Any, page: Any) -> Iterator[tuple[Box, str]]:
    """The web and mail links of a page, with one box for each line of link text."""
    from pypdfium2 import raw

    view, position, link = View(page), c_int(0), raw.FPDF_LINK()
    for _ in range(_MAX_LINKS):
        if not raw.FPDFLink_Enumerate(page, byref(position), byref(link)):
            return
        if uri := _uri(document, link):
            yield from ((view.box(*box), uri) for box in _link_boxes(link))


def _uri(document: Any, link: Any) -> str:
    from pypdfium2 import raw

    action = raw.FPDFLink_GetAction(link)
    if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
        return ""
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    buffer = create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, buffer, size)
    uri = buffer.value.decode("utf-8", "replace").strip().replace(" ", "%20")
    return uri if _WEB.fullmatch(uri) else ""


def _link_boxes(link: Any) -> Iterator[Box]:
    from pypdfium2 import raw

    quad, rect = raw.FS_QUADPOINTSF(), raw.FS_RECTF()
    count = raw.FPDFLink_CountQuadPoints(link)
    for index in range(count):
        raw.FPDFLink_GetQuadPoints(link, index, byref(quad))
        xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
        yield min(xs), min(ys), max(xs), max(ys)
    if not count and raw.FPDFLink_GetAnnotRect(link, byref(rect)):
        yield rect.left, rect.bottom, rect.right, rect.top
