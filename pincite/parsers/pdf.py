"""PDF: the text of each page, with headings told by their size and paragraphs by the gaps between lines."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

from pincite.core.documents import Parsed
from pincite.core.places import Page
from pincite.core.protocols import Parser
from pincite.core.text import normalise
from pincite.errors import Unreadable

MAX_PAGES = 5_000
MAX_CHARS = 20_000_000

_HEADING_SIZE = 1.15
"""A heading is at least this many times larger than the body's text …"""
_HEADING_CHARS = 120
"""… and at most this long."""
_SAME_SIZE = 0.95
_SAME_LINE = 0.3
"""Share of the letters' size: baselines no further apart are one line."""
_PARAGRAPH_GAP = 1.25
"""Times the usual distance of two lines: more is a new paragraph."""

_PAGE_BREAK = "\n\n"
_HYPHEN = "\x02"
"""What PDFium writes where it joined a word that was hyphenated at the end of a line."""
_HYPHENATED = re.compile(rf"([^\W\d_]+){_HYPHEN}([^\W\d_]+)")
_INITIAL = re.compile(r"(?<!\S)\S")
_INITIALS = 5
_WORD = re.compile(r"[^\W\d_]+")
_LEADER = re.compile(r"(?:\. ?){4}")
_INVISIBLE = re.compile(r"[\u00ad\u200b\ufeff\ufffe\uffff]")
_NOISE = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_LIKE_MARKDOWN = re.compile(r"#{1,6}(?=\s|$)|`{3}|~{3}|=+$|-+$|<[A-Za-z!?/]")
_NO_TITLE = re.compile(r"untitled.*|microsoft \w+ - .*|\S+\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|qxd)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to choose."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of text, its letters' size, where it begins, and the baseline it ends on, in points from below left.

    PDFium joins a hyphenated word, so that a line may end lower than it began.
    """

    text: str
    size: float
    x: float
    y: float
    end_y: float
    level: int = 0


_Page = list[_Line]


class Pdf:
    """Reads PDF files as Markdown: `#` before headings, a blank line between paragraphs and between pages."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"application/pdf": ".pdf"}

    def parse(self, data: bytes) -> Parsed:
        """The text of all pages, with the offset at which each begins."""
        pages, metadata = _extract(data)
        if not any(pages):
            raise Unreadable("its pages hold no text; scanned pages and images are not read yet", code="scanned")
        pages = _mark_headings(_undo_hyphens(pages))
        text, starts = _join([_render(page, _usual_pitch(pages)) for page in pages])
        return Parsed(
            text=text,
            markup="markdown",
            title=_title(metadata) or _largest_heading(pages),
            author=_clean(metadata.get("Author", "")) or None,
            pages=tuple(map(Page, starts)),
        )


def make_parser(options: Options) -> Parser:
    """Build the parser."""
    return Pdf()


# Out of the file


def _extract(data: bytes) -> tuple[list[_Page], Mapping[str, str]]:
    """The lines of each page as they stand in the file, and its metadata."""
    import pypdfium2  # a native library: only the process that reads a PDF loads it

    try:
        with closing(pypdfium2.PdfDocument(data)) as document:
            if len(document) > MAX_PAGES:
                raise Unreadable(f"it has {len(document)} pages; at most {MAX_PAGES} are read", code="limit")
            return _pages(document), document.get_metadata_dict()
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY):
            raise Unreadable("it is encrypted; remove the password and add it again", code="encrypted") from None
        raise Unreadable(f"it is not a PDF that can be read ({error})", code="broken") from None


def _pages(document: Any) -> list[_Page]:
    pages: list[_Page] = []
    chars = 0
    for number in range(len(document)):
        with closing(document[number]) as page, closing(page.get_textpage()) as content:
            chars += content.count_chars()
            if chars > MAX_CHARS:
                raise Unreadable(f"it has more than {MAX_CHARS} characters; split it", code="limit")
            pages.append(_same_baseline(_lines(content)))
    return pages


def _lines(content: Any) -> Iterator[_Line]:
    """PDFium's lines with their geometry."""
    from pypdfium2 import raw

    codes = [raw.FPDFText_GetUnicode(content, index) for index in range(content.count_chars())]
    text = "".join(chr(code) if code < 0x110000 else " " for code in codes)
    start = 0
    for line in text.split("\r\n"):
        words = [start + match.start() for match in _INITIAL.finditer(line)]
        last = start + len(line.rstrip()) - 1
        start += len(line) + 2
        if words and (shown := _clean(line)):
            x, y = _origin(content, words[0])
            # Initials, because headings in small capitals have only these at full size.
            size = median(_size(content, index) for index in words[:_INITIALS])
            yield _Line(shown, size, x, y, _origin(content, last)[1])


def _size(content: Any, index: int) -> float:
    """The height of the font as it is drawn; 0 for letters that run up or down, such as a stamp in the margin."""
    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(content, index, matrix)
    if abs(matrix.b) > abs(matrix.a):
        return 0.0
    return round(float(raw.FPDFText_GetFontSize(content, index)) * math.hypot(matrix.c, matrix.d), 1)


def _origin(content: Any, index: int) -> tuple[float, float]:
    from ctypes import c_double

    from pypdfium2 import raw

    x, y = c_double(), c_double()
    raw.FPDFText_GetCharOrigin(content, index, x, y)
    return x.value, y.value


def _clean(text: str) -> str:
    """The text on one line, without control characters; hyphenation marks between letters stay."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")  # PDFium may give halves of pairs
    kept = _INVISIBLE.sub("", text).split(_HYPHEN)
    joined = kept[0]
    for before, after in pairwise(kept):
        joined += (_HYPHEN if before[-1:].isalpha() and after[:1].isalpha() else " ") + after
    return _HYPHEN.join(_NOISE.sub(" ", part) for part in joined.split(_HYPHEN)).strip()


def _same_baseline(lines: Iterator[_Line]) -> _Page:
    """Lines that PDFium broke although they stand side by side are one."""
    page: _Page = []
    for line in lines:
        last = page[-1] if page else None
        if last and line.x > last.x and abs(line.y - last.end_y) <= _SAME_LINE * min(line.size, last.size):
            page[-1] = replace(last, text=f"{last.text} {line.text}", end_y=line.end_y)
        else:
            page.append(line)
    return page


# Into Markdown


def _undo_hyphens(pages: list[_Page]) -> list[_Page]:
    """Join hyphenated words, unless both halves are words of the document and the whole is none."""
    whole = (_HYPHENATED.sub(" ", line.text) for page in pages for line in page)
    known = {word.lower() for text in whole for word in _WORD.findall(text)}

    def join(match: re.Match[str]) -> str:
        head, tail = match[1], match[2]
        compound = {head.lower(), tail.lower()} <= known and (head + tail).lower() not in known
        return f"{head}-{tail}" if compound or tail[0].isupper() else head + tail

    return [[replace(line, text=_rejoin(line.text, join)) for line in page] for page in pages]


def _rejoin(text: str, join: Callable[[re.Match[str]], str]) -> str:
    return _HYPHENATED.sub(join, text).replace(_HYPHEN, "-") if _HYPHEN in text else text


def _mark_headings(pages: list[_Page]) -> list[_Page]:
    """Give lines in larger letters the level of a heading: the largest size is level 1."""
    weights: Counter[float] = Counter()
    for page in pages:
        for line in page:
            weights[line.size] += len(line.text)
    body = weights.most_common(1)[0][0]
    levels = _levels({line.size for page in pages for line in page if _may_be_heading(line, body)})
    return [_merge_headings(replace(line, level=_level(line, body, levels)) for line in page) for page in pages]


def _may_be_heading(line: _Line, body: float) -> bool:
    if line.size < body * _HEADING_SIZE or not body or len(line.text) > _HEADING_CHARS:
        return False
    return sum(map(str.isalpha, line.text)) > 1 and not _LEADER.search(line.text)


def _level(line: _Line, body: float, levels: Mapping[float, int]) -> int:
    return levels[line.size] if _may_be_heading(line, body) else 0


def _levels(sizes: set[float]) -> dict[float, int]:
    """Sizes, the nearly equal ones together, numbered from the largest."""
    levels: dict[float, int] = {}
    top, level = math.inf, 0
    for size in sorted(sizes, reverse=True):
        if size < top * _SAME_SIZE:
            top, level = size, level + 1
        levels[size] = min(level, 6)
    return levels


def _merge_headings(lines: Iterator[_Line]) -> _Page:
    """A heading that runs over several lines is one."""
    page: _Page = []
    for line in lines:
        last = page[-1] if page else None
        near = last and 0 < last.end_y - line.y < 2 * line.size
        short = last and len(last.text) + len(line.text) < _HEADING_CHARS
        if last and near and short and line.level and line.level == last.level:
            page[-1] = replace(last, text=f"{last.text} {line.text}", end_y=line.end_y)
        else:
            page.append(line)
    return page


def _usual_pitch(pages: list[_Page]) -> float:
    """The usual distance of two lines, as a multiple of their size."""
    pitches = [
        (upper.end_y - lower.y) / upper.size
        for page in pages
        for upper, lower in pairwise(page)
        if upper.size == lower.size > 0 and upper.end_y > lower.y
    ]
    return median(pitches) if pitches else 1.2


def _render(page: _Page, pitch: float) -> str:
    """A page as Markdown; text that only looks like Markdown is escaped."""
    parts: list[str] = []
    for number, line in enumerate(page):
        if number:
            parts.append("\n\n" if _new_paragraph(page[number - 1], line, pitch) else "\n")
        parts.append("#" * line.level + " " if line.level else "\\" if _LIKE_MARKDOWN.match(line.text) else "")
        parts.append(line.text)
    return normalise("".join(parts))


def _new_paragraph(last: _Line, line: _Line, pitch: float) -> bool:
    if line.level or last.level:
        return True
    if line.y > last.end_y:  # the next column: a paragraph goes on unless its last sentence has ended
        return last.text.endswith((".", "!", "?", ":"))
    return last.end_y - line.y > _PARAGRAPH_GAP * pitch * max(last.size, line.size)


def _join(pages: list[str]) -> tuple[str, tuple[int, ...]]:
    """The pages with a blank line between them, and where each begins; one without text begins where it would."""
    starts = [0]
    for page in pages[:-1]:
        starts.append(starts[-1] + (len(page) + len(_PAGE_BREAK) if page else 0))
    text = _PAGE_BREAK.join(filter(None, pages))
    return text, tuple(min(start, len(text)) for start in starts)


def _title(metadata: Mapping[str, str]) -> str | None:
    title = _clean(metadata.get("Title", ""))
    return None if not title or _NO_TITLE.fullmatch(title) else title


def _largest_heading(pages: list[_Page]) -> str | None:
    return next((line.text for page in pages for line in page if line.level == 1), None)
