"""The body of a Word document written as Markdown: paragraphs, lists, tables, notes and text boxes in reading order."""

import re
from collections import Counter

from pincite.parsers.markdown_out.writer import BULLET, Items, MarkdownWriter, escaped, heading, one_line, table
from pincite.parsers.office.docx_numbering import Numbering
from pincite.parsers.office.docx_styles import Style, Styles
from pincite.parsers.office.docx_tables import grid, inside
from pincite.parsers.office.docx_text import TRANSPARENT, Line, Note, Reader
from pincite.parsers.office.merged_cells import Row, filled
from pincite.parsers.office.package import (
    Element,
    Office,
    attribute,
    child,
    children,
    chosen,
    links_of,
    local,
    value,
    whole,
)

_BOLD_LEVEL = 2
_BOLD_CHARS = 100
"""Where no style says what is a heading, a short line in bold letters is one."""
_CAPTION = re.compile(r"(?:table|figure|fig\.|chart|tabelle|abbildung|abb\.|diagramm)(?=[\s:])", re.IGNORECASE)
_NOT_NOTES = ("separator", "continuationSeparator", "continuationNotice")


class Notes:
    """Foot- and endnotes, numbered in the order in which they are referred to."""

    def __init__(self, office: Office) -> None:
        self.elements: dict[Note, Element] = {}
        self.labels: dict[Note, str] = {}
        self.counts: Counter[str] = Counter()
        self.links: dict[str, dict[str, str]] = {}
        for kind in ("footnote", "endnote"):
            for part in office.related(office.main, f"{kind}s"):
                self.links[kind] = links_of(office, part)
                for note in children(office.archive.xml(part), kind):
                    if attribute(note, "type") not in _NOT_NOTES:
                        self.elements[kind, attribute(note, "id")] = note

    def label(self, note: Note) -> str:
        """What a note is called, `1` or `e1`; empty where there is no such note."""
        if note not in self.elements:
            return ""
        if note not in self.labels:
            self.counts[note[0]] += 1
            self.labels[note] = f"{'e' if note[0] == 'endnote' else ''}{self.counts[note[0]]}"
        return self.labels[note]

    def text(self, note: Note) -> str:
        """A note's words on one line."""
        reader = Reader(self.links.get(note[0], {}), lambda _: "")
        return one_line(" ".join(reader.line(paragraph).text for paragraph in inside(self.elements[note], "p")))


class Story:
    """Walks through a body once and writes what it meets; `title` is the paragraph styled as such, if there is one."""

    def __init__(self, office: Office, out: MarkdownWriter) -> None:
        self.out = out
        self.title = ""
        self.first_heading = ""
        self._styles = Styles(_part(office, "styles"))
        self._numbering = Numbering(_part(office, "numbering"), self._styles)
        self._notes = Notes(office)
        self._reader = Reader(links_of(office, office.main), self._notes.label)
        self._paragraphs = self._tables = self._boxes = 0
        self._place = ""
        self._carried = ""
        self._group: list[tuple[str, str]] = []
        self._grouped = ""
        self._items = Items()
        self._noted: list[Note] = []
        self._told: set[Note] = set()
        self._bold_heads = False

    def write(self, body: Element | None) -> None:
        """Write the whole of a body."""
        if body is None:
            return
        self._bold_heads = not any(self._styles.of(one).role == "heading" for one in inside(body, "p"))
        self._walk(body)
        self._flush()
        self.out.block(escaped(self._carried))

    def _walk(self, container: Element) -> None:
        for one in container:
            name = local(one)
            if name == "p":
                if len(one):
                    self._paragraph(one)
            elif name == "tbl":
                self._table(one)
            elif name in TRANSPARENT:
                self._walk(one)
            elif name == "AlternateContent" and (choice := chosen(one)) is not None:
                self._walk(choice)

    # Paragraphs

    def _paragraph(self, element: Element) -> None:
        line = self._reader.line(element)
        if child(element, "pPr", "rPr", "del") is not None:
            self._carried += line.text  # its end was deleted: it goes on in the next one
            self._noted += line.notes
            return
        text, self._carried = self._carried + line.text, ""
        style = self._styles.of(element)
        marker = self._marker(element, style)
        if text.strip():
            if self._bold_heads and not marker and not self._place and _may_head(line, text.strip()):
                style = Style("heading", _BOLD_LEVEL)
            self._paragraphs += not self._place
            ref = self._place or f"paragraph {self._paragraphs}"
            self._write(text, ref, style, marker)
        self._noted += line.notes
        self._after(line)

    def _write(self, text: str, ref: str, style: Style, marker: tuple[str, int] | None) -> None:
        if style.role in ("heading", "title"):
            self._flush()
            words = f"{marker[0]} {text}" if marker and marker[0] != BULLET else text
            self.title = self.title or (one_line(text) if style.role == "title" else "")
            self.first_heading = self.first_heading or ("" if self._bold_heads else one_line(text))
            self.out.block(heading(style.level, words), ref)
        elif style.role == "code":
            self._add("code", text, ref)
        elif style.role == "contents":
            self._add("contents", escaped(text), ref)
        elif marker:
            if self._grouped != "list":
                self._items = Items()
            self._add("list", self._items.write(text, *marker), ref)
        else:
            self._flush()
            self.out.block(escaped(text), ref)

    def _marker(self, element: Element, style: Style) -> tuple[str, int] | None:
        """A list's marker and how deep it stands; None for what is in no list."""
        own = child(element, "pPr", "numPr")
        num, level = value(own, "numId") or style.numbering, value(own, "ilvl")
        if not num or num == "0":
            return None
        depth = whole(level, style.depth or 0)
        marker = self._numbering.next(num, depth)
        return (marker, depth) if marker else None

    def _add(self, kind: str, text: str, ref: str) -> None:
        """Put a line to those of its kind just before it."""
        if self._grouped != kind:
            self._flush(kind)
        self._group.append((text, ref))

    def _flush(self, then: str = "") -> None:
        """Write the lines that were held together, and the notes they refer to."""
        if self._grouped == "code":
            fence = max(
                (mark[0] + "`" for text, _ in self._group for mark in re.finditer("`{3,}", text)), default="```"
            )
            self._group = [(fence, ""), *self._group, (fence, "")]
        self.out.lines(self._group)
        self._group, self._grouped = [], then
        self._tell_notes()

    def _tell_notes(self) -> None:
        for note in self._noted:
            if note not in self._told:
                self._told.add(note)
                label = self._notes.label(note)
                self.out.block(f"[^{label}]: {self._notes.text(note)}", f"{note[0]} {label.removeprefix('e')}")
        self._noted = []

    def _after(self, line: Line) -> None:
        """Notes of a paragraph that stands for itself, and the text boxes anchored in it."""
        if not self._grouped:
            self._tell_notes()
        for box in line.boxes:
            self._boxes += 1
            self._within(f"text box {self._boxes}", box)

    def _within(self, place: str, container: Element) -> None:
        """Write what has no place of its own to be counted by."""
        self._flush()
        outer, self._place = self._place, self._place or place
        self._walk(container)
        self._flush()
        self._place = outer

    # Tables

    def _table(self, element: Element) -> None:
        self._flush()
        self._tables += 1
        number = self._tables
        rows = grid(element)
        if self._is_layout(rows):
            for count, row in enumerate(rows, 1):
                for cell in row:
                    if not cell.continued:
                        self._within(f"table {number}, row {count}", cell.element)
            return
        boxes: list[Element] = []
        texts = filled(rows, lambda cell: self._cell(cell, boxes))
        self._rows(texts, [self._place or f"table {number}, row {count}" for count in range(1, len(rows) + 1)])
        self._tell_notes()
        for box in boxes:
            self._boxes += 1
            self._within(f"text box {self._boxes}", box)
        for inner in (inner for row in rows for cell in row for inner in inside(cell.element, "tbl")):
            self._table(inner)

    def _rows(self, texts: list[list[str]], refs: list[str]) -> None:
        """The rows that hold words; one that is a single text above the others stands before them."""
        held = [(texts[at], refs[at]) for at in range(len(texts)) if any(map(str.strip, texts[at]))]
        while len(held) > 1 and sum(map(bool, held[0][0])) == 1 and len(held[0][0]) > 1 and held[0][0][0]:
            self.out.block(escaped(held[0][0][0]), held[0][1])
            held = held[1:]
        lines = table([cells for cells, _ in held])
        places = [ref for _, ref in held]
        self.out.lines(zip(lines, [*places[:1], "", *places[1:]], strict=bool(lines)))

    def _cell(self, cell: Element, boxes: list[Element]) -> str:
        """A cell's words on one line; its text boxes are put aside."""
        words: list[str] = []
        for paragraph in inside(cell, "p"):
            line = self._reader.line(paragraph)
            marker = self._marker(paragraph, self._styles.of(paragraph))
            if line.text.strip():
                words.append(f"{marker[0]} {line.text}" if marker else line.text)
            self._noted += line.notes
            boxes += line.boxes
        return one_line(" ".join(words))

    def _is_layout(self, rows: list[Row]) -> bool:
        """Whether a table only arranges things: a single cell, headings inside, tables side by side."""
        cells = [cell.element for row in rows for cell in row]
        if len(cells) == 1:
            return True
        if any(self._styles.of(one).role in ("heading", "title") for cell in cells for one in inside(cell, "p")):
            return True
        in_line = len(rows) == 1 or all(len(row) == 1 for row in rows)
        return in_line and any(True for cell in cells for _ in inside(cell, "tbl"))


def _may_head(line: Line, text: str) -> bool:
    if line.light or not line.bold or len(text) > _BOLD_CHARS or "\n" in text or text[-1] in ".,;!?":
        return False
    return any(map(str.isalpha, text)) and not _CAPTION.match(text)


def _part(office: Office, kind: str) -> Element | None:
    part = next(office.related(office.main, kind), None)
    return None if part is None else office.archive.xml(part)
