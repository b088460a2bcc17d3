"""Writes Markdown for parsers: headings, tables, links and escaped text, with marks for positions in the file."""

import re
from collections.abc import Iterable, Sequence

from pincite.core.documents.pages import Page, PageKind, PageMark, pack

_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]")
"""Control characters, invisible characters for line breaking, and code points that are no characters."""
_LIKE_MARKDOWN = re.compile(r"#{1,6}(?=\s|$)|`{3}|~{3}|=+$|(?=[^-]*-)[|:\s-]+$|<[A-Za-z!?/]")
"""A line that Markdown would take for a heading, fence, underline, table rule or HTML; lists are allowed."""
_TAG = re.compile(r"<(?=[A-Za-z!?/])")
_CLOSING_HASHES = re.compile(r"(?<=\s)(?=#+$)")
_WEB_TARGET = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f<>]{1,2000}$", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n{3,}")
_BREAK = "\n\n"
_ORDERED = re.compile(r"[0-9]{1,9}[.)]")
BULLET = "-"


def one_line(text: str) -> str:
    """The text on one line, without invisible characters."""
    if text.isascii() and text.isprintable() and "  " not in text:  # a fast path for most cells
        return text.strip(" ")
    return " ".join(_INVISIBLE.sub("", text).split())


def escaped(text: str) -> str:
    """The text with a backslash before lines that Markdown would take for structure."""
    lines = (_INVISIBLE.sub("", line).strip() for line in text.splitlines())
    kept = "\n".join("\\" + line if _LIKE_MARKDOWN.match(line) else line for line in lines)
    return _BLANK_LINES.sub(_BREAK, kept).strip("\n")


def heading(level: int, text: str) -> str:
    """A heading of level 1 to 6; empty where the text is empty."""
    title = _CLOSING_HASHES.sub(r"\\", _TAG.sub(r"\\<", one_line(text)))
    return f"{'#' * min(max(level, 1), 6)} {title}" if title else ""


def link(text: str, target: str) -> str:
    """The text as a link where the target is a web or mail address; else the text itself."""
    target = target.strip()
    if not text.strip() or not _WEB_TARGET.match(target) or text.strip() == target:
        return text
    lead, words, trail = text[: len(text) - len(text.lstrip())], text.strip(), text[len(text.rstrip()) :]
    words = words.replace("[", r"\[").replace("]", r"\]")
    return f"{lead}[{words}]({target.replace('(', '%28').replace(')', '%29')}){trail}"


def row(cells: Iterable[str]) -> str:
    """One row of a table; each cell is on one line with its pipes escaped."""
    return "| " + " | ".join(one_line(cell).replace("|", r"\|") for cell in cells) + " |"


def rule(width: int) -> str:
    """The line between a table's header and its rows."""
    return "|" + " --- |" * width


def table(rows: Sequence[Sequence[str]], header: bool = True) -> list[str]:
    """The lines of a table: header, rule and other rows; the header is blank where the table has none."""
    width = max((len(cells) for cells in rows), default=0)
    if not width:
        return []
    lines = [row([*cells, *[""] * (width - len(cells))]) for cells in rows]
    head = [lines.pop(0)] if header else [row([""] * width)]
    return [*head, rule(width), *lines]


class Items:
    """Writes items of nested lists, each indented to the text of its parent item."""

    def __init__(self) -> None:
        self._open: list[tuple[int, int]] = []

    def write(self, text: str, marker: str, depth: int) -> str:
        """The next item; a marker that Markdown does not support, such as `(a)`, is written after a bullet."""
        while self._open and self._open[-1][0] >= depth:
            self._open.pop()
        indent = self._open[-1][1] if self._open else 0
        if marker != BULLET and not _ORDERED.fullmatch(marker):
            text, marker = f"{marker} {text}", BULLET
        self._open.append((depth, indent + len(marker) + 1))
        lines = [line for line in escaped(text).splitlines() if line]
        return " " * indent + f"{marker} " + ("\n" + " " * self._open[-1][1]).join(lines)


class MarkdownWriter:
    """Collects a document's text block by block and page by page, with marks for the position of each block."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._pages: list[Page] = []
        self._marks: list[PageMark] = []
        self._waiting: list[tuple[PageKind, str]] = []

    def page(self, kind: PageKind, name: str = "") -> None:
        """Start a page; its text starts with the next block."""
        self._waiting.append((kind, one_line(name)))

    def block(self, text: str, ref: str = "") -> None:
        """Add a paragraph, heading or other block with its reference; empty text adds nothing."""
        self.lines([(text, ref)])

    def lines(self, lines: Iterable[tuple[str, str]]) -> None:
        """Add a block of lines, each with its reference in the file, such as the rows of a table."""
        begun = False
        for text, ref in lines:
            text = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
            if not text.strip():
                continue
            self._put("\n" if begun else _BREAK if self._parts else "")
            if not begun:
                self._open()
                begun = True
            start = self._length
            self._put(text)
            if ref:
                self._marks.append(PageMark(start, self._length, ref=ref))

    def done(self) -> tuple[str, tuple[Page, ...]]:
        """The whole text and its pages."""
        self._open()
        self._close()
        return "".join(self._parts), tuple(self._pages)

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _open(self) -> None:
        """Start the pages that wait for text at this offset; all but the last of them are empty."""
        if self._waiting:
            self._close()
            self._pages += [Page(self._length, kind, name) for kind, name in self._waiting]
            self._waiting = []

    def _close(self) -> None:
        if self._pages and self._marks:
            last = self._pages[-1]
            self._pages[-1] = Page(last.start, last.kind, last.name, marks=pack(self._marks))
        self._marks = []
