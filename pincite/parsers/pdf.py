"""PDF: the text of each page as it is read, with headings, lists, tables and links, and a box for each word."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pincite.core import progress
from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.layout import ocr
from pincite.parsers.layout.document import Book, build_document
from pincite.parsers.layout.outline import Bookmark
from pincite.parsers.layout.pdfium import is_scan, read_leaf
from pincite.parsers.layout.words import PageWords
from pincite.parsers.markdown_out.writer import one_line

MAX_PAGES = 5_000
MAX_CHARS = 20_000_000

_MAX_BOOKMARKS = 5_000
_SCAN_DPI, _SCAN_SIDE = 200, 2400
"""How finely a scanned page is looked at, and how many pixels that may make along its longer side."""
_NO_TITLE = re.compile(r"untitled.*|microsoft \w+ - .*|\S+\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|qxd)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to choose."""


class Pdf:
    """Reads PDF files as Markdown, in the order a person reads them."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"application/pdf": ".pdf"}

    def parse(self, data: bytes) -> Parsed:
        """The text of all pages, with where each begins and where its words stand."""
        import pypdfium2  # a native library: only the process that reads a PDF loads it

        try:
            with closing(pypdfium2.PdfDocument(data)) as document:
                leaves, scanned = _leaves(document)
                metadata, outline = document.get_metadata_dict(), tuple(_bookmarks(document))
        except pypdfium2.PdfiumError as error:
            if error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY):
                raise Unreadable("it is encrypted; remove the password and add it again", code="encrypted") from None
            raise Unreadable(f"it is not a PDF that can be read ({error})", code="broken") from None
        book = build_document(leaves, outline)
        if not book.text:
            raise _without_text(scanned)
        return _parsed(book, metadata)


def make_parser(options: Options) -> Parser:
    """Build the parser."""
    return Pdf()


def _parsed(book: Book, metadata: Mapping[str, str]) -> Parsed:
    title = one_line(metadata.get("Title", ""))
    return Parsed(
        text=book.text,
        markup="markdown",
        title=title if title and not _NO_TITLE.fullmatch(title) else book.title,
        author=one_line(metadata.get("Author", "")) or None,
        pages=book.pages,
    )


def _without_text(scanned: int) -> Unreadable:
    if not scanned:
        return Unreadable("its pages are empty", code="empty")
    if not ocr.available():
        return Unreadable(f"its pages are scanned; {ocr.MISSING} to read them", code="scanned")
    return Unreadable("its pages are pictures, and no text can be read in them", code="scanned")


def _leaves(document: Any) -> tuple[list[PageWords], int]:
    """Every page as it stands in the file, and how many are pictures; those are read where the extra is installed."""
    if len(document) > MAX_PAGES:
        raise Unreadable(f"it has {len(document)} pages; at most {MAX_PAGES} are read", code="limit")
    leaves: list[PageWords] = []
    chars = scanned = 0
    for number in range(len(document)):
        leaf = read_leaf(document, number)
        if is_scan(document, number, leaf):
            scanned += 1
            leaf = max(leaf, _scan(document, number), key=_chars) if ocr.available() else leaf
        leaves.append(leaf)
        progress.report_progress("page", number + 1, len(document))
        chars += _chars(leaf)
        if chars > MAX_CHARS:
            raise Unreadable(f"it has more than {MAX_CHARS} characters; split it", code="limit")
    return leaves, scanned


def _chars(leaf: PageWords) -> int:
    return sum(len(word.text) + 1 for sheet in leaf.sheets for word in sheet.words)


def _scan(document: Any, number: int) -> PageWords:
    """A page without text, read from what it looks like."""
    with closing(document[number]) as page:
        width, height = page.get_size()
        scale = min(_SCAN_DPI / 72, _SCAN_SIDE / max(width, height, 1))
        pixels = page.render(scale=scale, may_draw_forms=False).to_numpy()
        return ocr.read_picture(pixels[:, :, :3], width, height)


def _bookmarks(document: Any) -> Iterator[Bookmark]:
    """The file's outline, as far as it leads to pages."""
    for count, item in enumerate(document.get_toc()):
        if count == _MAX_BOOKMARKS:
            return
        target = item.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            yield Bookmark(item.get_title(), item.level + 1, page)
