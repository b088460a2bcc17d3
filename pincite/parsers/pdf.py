"""Parses PDF files: text in reading order, with headings, lists, tables and links, and a box for each word."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pincite.core import progress
from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.layout import ocr
from pincite.parsers.layout.document import DocumentText, build_document
from pincite.parsers.layout.outline import Bookmark
from pincite.parsers.layout.pdfium import is_scan, read_page
from pincite.parsers.layout.words import PageWords
from pincite.parsers.markdown_out.titles import real_note, real_title
from pincite.parsers.markdown_out.writer import one_line

MAX_PAGES = 5_000
MAX_CHARS = 20_000_000
"""Maximum number of pages, and of characters on all pages."""

_MAX_BOOKMARKS = 5_000
_SCAN_DPI, _MAX_SCAN_PIXELS = 200, 2400
"""Resolution at which a scanned page is rendered for text recognition, and maximum length of its longer side."""


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class Pdf:
    """Parses PDF files to Markdown in reading order."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"application/pdf": ".pdf"}

    def parse(self, data: bytes) -> Parsed:
        """The text of all pages, with the start of each page and the box of each word."""
        import pypdfium2  # a native library, loaded only in the process that parses a PDF

        try:
            with closing(pypdfium2.PdfDocument(data)) as document:
                pages, scanned = _read_pages(document)
                metadata, outline = document.get_metadata_dict(), tuple(_bookmarks(document))
        except pypdfium2.PdfiumError as error:
            if error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY):
                raise Unreadable("it is encrypted; remove the password and add it again", code="encrypted") from None
            raise Unreadable(f"it is not a PDF that can be read ({error})", code="broken") from None
        book = build_document(pages, outline)
        if not book.text:
            raise _no_text_error(scanned)
        return _parsed(book, metadata)


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return Pdf()


def _parsed(book: DocumentText, metadata: Mapping[str, str]) -> Parsed:
    return Parsed(
        text=book.text,
        markup="markdown",
        title=real_title(one_line(metadata.get("Title", ""))) or book.title,
        author=real_note(one_line(metadata.get("Author", ""))) or None,
        pages=book.pages,
    )


def _no_text_error(scanned: int) -> Unreadable:
    """The error for a PDF without text."""
    if not scanned:
        return Unreadable("its pages are empty", code="empty")
    if not ocr.available():
        return Unreadable(f"its pages are scanned; {ocr.INSTALL_HINT} to read them", code="scanned")
    return Unreadable("its pages are pictures, and no text can be read in them", code="scanned")


def _read_pages(document: Any) -> tuple[list[PageWords], int]:
    """The words of every page, and the number of scanned pages; these are recognized where the extra is installed."""
    if len(document) > MAX_PAGES:
        raise Unreadable(f"it has {len(document)} pages; at most {MAX_PAGES} are read", code="limit")
    pages: list[PageWords] = []
    chars = scanned = 0
    for number in range(len(document)):
        page = read_page(document, number)
        if is_scan(document, number, page):
            scanned += 1
            page = max(page, _recognize_page(document, number), key=_count_chars) if ocr.available() else page
        pages.append(page)
        progress.report_progress("page", number + 1, len(document))
        chars += _count_chars(page)
        if chars > MAX_CHARS:
            raise Unreadable(f"it has more than {MAX_CHARS} characters; split the file", code="limit")
    return pages, scanned


def _count_chars(page: PageWords) -> int:
    return sum(len(word.text) + 1 for sheet in page.sheets for word in sheet.words)


def _recognize_page(document: Any, number: int) -> PageWords:
    """Render a scanned page and recognize its text."""
    with closing(document[number]) as page:
        width, height = page.get_size()
        scale = min(_SCAN_DPI / 72, _MAX_SCAN_PIXELS / max(width, height, 1))
        pixels = page.render(scale=scale, may_draw_forms=False).to_numpy()
        return ocr.read_picture(pixels[:, :, :3], width, height)


def _bookmarks(document: Any) -> Iterator[Bookmark]:
    """The entries of the file's outline that lead to a page."""
    for count, item in enumerate(document.get_toc()):
        if count == _MAX_BOOKMARKS:
            return
        target = item.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            yield Bookmark(item.get_title(), item.level + 1, page)
