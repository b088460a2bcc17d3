"""The outline of the sources: their sections in the documents' order, each with its items, rows, lines and paragraphs.

A section that chunking has split is one section again. A plain text has no headings that a parser knows: lines that look
like headings start its sections.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.hits import Hit
from pincite.extractive.tables import is_header, is_row
from pincite.text.markdown_blocks import plain
from pincite.text.sentences import trim

BlockKind = Literal["item", "step", "row", "header", "line", "code", "prose"]
"""A list item, a numbered one, a table's row or its header, a line of its own such as `Action: …`, code, a paragraph."""

MAX_HEADING_CHARS = 70
MAX_HEADING_WORDS = 9
DELIBERATE_BREAK = 0.75
"""A line that ends before this share of the widest line, though the next word had fitted, was not wrapped."""

_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*+•–▪◦]|(?P<number>\(?\d{1,3}[.)]|\(?[a-z]\)))[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<title>\S.*)")
_RULE = re.compile(r"[ \t]*(?:[=~_*-][ \t]*){3,}$|\|[ \t:|-]+$")
_NUMBERED = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2})*[.)]?|\[\d{1,3}\]|§+ ?\d+\w?|[A-ZÄÖÜ]{3,8} \d{1,2}[.:]?|[IVX]{1,5}\.)\s+\S"
)
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?\b"
_DATE = r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}\.\d{1,2}\.)"
_DAY = r"(?:[^\W\d_]{2,9}\.?,? )?(?:\d{1,2}\.? [^\W\d_]{3,9}\.?|[^\W\d_]{3,9} {1,2}\d{1,2}),?(?: \d{4},?)?"
LOG_LINE = re.compile(rf"[ \t]*\[?(?:{_DATE}(?:[T ]+{_TIME})?|{_TIME}|{_DAY} {_TIME})\S*\]?[ \t]+\S")
"""A line of a log: it starts with a date or a time."""
LABELLED_LINE = re.compile(r"[ \t]*(?:\*\*)?[^\W\d_](?:[^\W_]|[ /&-](?=[^\W_])){1,30}(?::\*\*|(?:\*\*)?:)[ \t]+\S")
"""A line that begins with a label and a colon."""
_COLUMNS = re.compile(r"[ \t]*\S+(?: \S+)*[ \t]{2,}\S")
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a section: the span of a source."""

    kind: BlockKind
    source: int
    start: int
    end: int


@dataclass(slots=True)
class OutlineSection:
    """A section of a document: the headings above it, its own last, and its blocks in order."""

    document: str
    title: str
    language: str
    path: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """Its own heading; empty where it has none."""
        return self.path[-1] if self.path else ""


def sections_of(sources: Sequence[Hit]) -> list[OutlineSection]:
    """The sections of the sources with text below their headings, document by document."""
    documents = list(dict.fromkeys(hit.chunk.document_id for hit in sources))
    ordered = sorted(
        enumerate(sources, 1), key=lambda one: (documents.index(one[1].chunk.document_id), one[1].chunk.start_char)
    )
    found, reached = list[OutlineSection](), 0
    for number, hit in ordered:
        chunk = hit.chunk
        path = tuple(part for part in chunk.heading_path if part != NO_HEADINGS)
        same = found and found[-1].document == chunk.document_id
        if not same:
            reached = 0
        if not same or (path and found[-1].path != path) or (not path and reached == 0):
            found.append(OutlineSection(chunk.document_id, chunk.title, chunk.language, path))
        _Scanner(found, number, chunk.text, path).scan(max(0, reached - chunk.start_char))
        reached = max(reached, chunk.end_char)
    return [section for section in found if section.blocks]


@dataclass(slots=True)
class _Scanner:
    """Reads the lines of one source into the last of the sections; a plain heading begins another."""

    found: list[OutlineSection]
    source: int
    text: str
    path: tuple[str, ...]
    """The headings of the chunk; empty where the parser knows none."""
    kind: BlockKind | None = None
    begun: int = 0
    ended: int = 0
    indent: int = 0
    body: int | None = None
    """Indentation of the first line below the heading."""

    def scan(self, after: int) -> None:
        lines = [line for line in _lines(self.text) if line[0] >= after]
        width = max((len(line) for _, line in lines), default=0)
        fenced = gap = False
        for n, (start, line) in enumerate(lines):
            fenced = fenced != line.lstrip().startswith(_FENCES)
            if not line.strip() or _RULE.match(line) or line.lstrip().startswith(_FENCES):
                gap = True
                continue
            following = [text for _, text in lines[n + 1 : n + 3]]
            opens = n == 0 or gap
            if not fenced and (heading := _HEADING.match(line)):
                self._close()
                self._enter(heading["title"], known=True)
            elif not fenced and not self.path and opens and _is_heading(line, following, width):
                self._close()
                self._enter(line, known=False)
            elif fenced:
                self._add_code(start, line)
            else:
                if gap and not self.path and self._leaves(line):
                    self._close()
                    self.found.append(replace(self.found[-1], path=(), blocks=[]))
                    self.body = None
                self._add(start, line, gap=gap)
            gap = False
        self._close()

    def _add(self, start: int, line: str, *, gap: bool) -> None:
        """Begin a block with a line, or go on with the block before."""
        item = _ITEM.match(line)
        depth = len(line) - len(line.lstrip())
        self.body = depth if self.body is None else self.body
        listed = self.kind in ("item", "step")
        if item and item["number"] and self.kind == "prose" and not gap and not _is_first(item["number"]):
            item = None  # a wrapped line that begins with a date or a number
        if listed and depth > self.indent and (not gap or item or not line[0].isalnum()):
            self.ended = start + len(line)
            return
        kind: BlockKind
        if is_row(line):
            kind = "header" if is_header(self.text, start + len(line)) else "row"
        elif item:
            kind = "step" if item["number"] else "item"
        elif LOG_LINE.match(line) or LABELLED_LINE.match(line) or _COLUMNS.match(line):
            if self.kind == "line" and depth > self.indent + 3 and not gap and not LOG_LINE.match(line):
                self.ended = start + len(line)
                return
            kind = "line"
        elif self.kind and not gap and self.kind not in ("row", "header", "code"):
            self.ended = start + len(line)
            return
        else:
            kind = "prose"
        self._close()
        self.kind, self.begun, self.ended, self.indent = (
            kind,
            start + (item.end() if item else 0),
            start + len(line),
            depth,
        )

    def _add_code(self, start: int, line: str) -> None:
        """Go on with a block of code; code inside a list item belongs to the item."""
        if self.kind not in ("item", "step", "code"):
            self._close()
            self.kind, self.begun, self.indent = "code", start, 0
        self.ended = start + len(line)

    def _leaves(self, line: str) -> bool:
        """Whether a line without indentation ends a section whose text is indented."""
        return bool(self.found[-1].path and self.body) and not line[0].isspace()

    def _close(self) -> None:
        if self.kind:
            start, end = trim(self.text, self.begun, self.ended)
            self.found[-1].blocks.append(Block(self.kind, self.source, start, end))
        self.kind = None

    def _enter(self, title: str, *, known: bool) -> None:
        """Begin the section of a heading, unless the headings of the chunk already name it."""
        self.body = None
        last, name = self.found[-1], plain(title.strip().strip("#*•- \t").rstrip(":"))
        if known and last.path and plain(last.path[-1]) == name:
            return
        depth = next((n for n, part in enumerate(self.path, 1) if known and plain(part) == name), 0)
        path = self.path[:depth] or (name,)
        self.found.append(OutlineSection(last.document, last.title, last.language, path))


def _is_heading(line: str, following: Sequence[str], width: int) -> bool:
    """Whether a line of plain text looks like a heading: short, no sentence, and not wrapped."""
    bare, after = line.strip(), following[0].strip() if following else ""
    if not after and len(following) > 1:
        after = following[1].strip()
    if not after or len(bare) > MAX_HEADING_CHARS or bare[-1] in ".,;!?" or len(bare.split()) > MAX_HEADING_WORDS:
        return False
    if _RULE.match(after):
        return True
    if LOG_LINE.match(line) and not _NUMBERED.match(bare):
        return False
    fits = len(line) + 1 + len(after.split()[0]) < DELIBERATE_BREAK * width
    numbered = _NUMBERED.match(bare)
    if numbered:
        return fits and not _NUMBERED.match(after) and (bare[0] == "[" or bool(re.search(r"[^\W\d_]{3}", bare)))
    if sum(map(str.isalpha, bare)) > 2 and bare.isupper():
        return True
    named = bare[0].isupper() and not LABELLED_LINE.match(line) and not _COLUMNS.match(line) and not _ITEM.match(line)
    return named and fits and not line[0].isspace() and bool(following[0].strip())


def _is_first(number: str) -> bool:
    return number.strip("(.)") in ("1", "a")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def label_of(text: str) -> str:
    """The label that a line begins with, such as `Action` in `Action: …`; empty where it has none."""
    return text.partition(":")[0].strip("* \t").casefold() if LABELLED_LINE.match(text) else ""
