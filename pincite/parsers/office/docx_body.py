"""Writes the body of a Word document as Markdown: paragraphs, lists, tables, notes and text boxes in reading order."""

import re
from collections import Counter

from pincite.parsers.markdown_out.writer import BULLET, Items, MarkdownWriter, escaped, heading, one_line, table
from pincite.parsers.office.docx_numbering import Numbering
from pincite.parsers.office.docx_styles import Style, Styles
from pincite.parsers.office.docx_tables import content_elements, read_rows
from pincite.parsers.office.docx_text import WRAPPERS, Line, Note, ParagraphReader
from pincite.parsers.office.merged_cells import Row, fill_merged_cells
from pincite.parsers.office.package import (
    Element,
    Office,
    attribute,
    child,
    children,
    links_of,
    local_name,
    parse_int,
    selected_alternative,
    value,
)

_BOLD_LEVEL = 2
_MAX_BOLD_CHARS = 100
"""Level and maximum length of a bold line that counts as a heading, in documents without heading styles."""
_CAPTION = re.compile(r"(?:table|figure|fig\.|chart|tabelle|abbildung|abb\.|diagramm)(?=[\s:])", re.IGNORECASE)
_NOT_NOTES = ("separator", "continuationSeparator", "continuationNotice")


class Notes:
    """Footnotes and endnotes, numbered in the order of their references."""

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
        """The label of a note, `1` or `e1`; empty where the note does not exist."""
        if note not in self.elements:
            return ""
        if note not in self.labels:
            self.counts[note[0]] += 1
            self.labels[note] = f"{'e' if note[0] == 'endnote' else ''}{self.counts[note[0]]}"
        return self.labels[note]

    def text(self, note: Note) -> str:
        """The text of a note on one line."""
        reader = ParagraphReader(self.links.get(note[0], {}), lambda _: "")
        return one_line(
            " ".join(reader.line(paragraph).text for paragraph in content_elements(self.elements[note], "p"))
        )


class BodyWriter:
    """Writes a body in one pass; `title` is the paragraph with the style Title, if there is one."""

    def __init__(self, office: Office, out: MarkdownWriter) -> None:
        self.out = out
        self.title = ""
        self.first_heading = ""
        self._styles = Styles(_part(office, "styles"))
        self._numbering = Numbering(_part(office, "numbering"), self._styles)
        self._notes = Notes(office)
        self._reader = ParagraphReader(links_of(office, office.main), self._notes.label)
        self._paragraphs = self._tables = self._boxes = 0
        self._place = ""
        self._carried = ""
        self._group: list[tuple[str, str]] = []
        self._grouped = ""
        self._items = Items()
        self._pending_notes: list[Note] = []
        self._written_notes: set[Note] = set()
        self._bold_headings = False

    def write(self, body: Element | None) -> None:
        """Write a body."""
        if body is None:
            return
        self._bold_headings = not any(self._styles.of(one).role == "heading" for one in content_elements(body, "p"))
        self._walk(body)
        self._flush()
        self.out.block(escaped(self._carried))

    def _walk(self, container: Element) -> None:
        for one in container:
            name = local_name(one)
            if name == "p":
                if len(one):
                    self._paragraph(one)
            elif name == "tbl":
                self._table(one)
            elif name in WRAPPERS:
                self._walk(one)
            elif name == "AlternateContent" and (choice := selected_alternative(one)) is not None:
                self._walk(choice)

    # Paragraphs

    def _paragraph(self, element: Element) -> None:
        line = self._reader.line(element)
        if child(element, "pPr", "rPr", "del") is not None:
            self._carried += line.text  # its paragraph mark was deleted: the text continues in the next paragraph
            self._pending_notes += line.notes
            return
        text, self._carried = self._carried + line.text, ""
        style = self._styles.of(element)
        marker = self._marker(element, style)
        if text.strip():
            if self._bold_headings and not marker and not self._place and _is_bold_heading(line, text.strip()):
                style = Style("heading", _BOLD_LEVEL)
            self._paragraphs += not self._place
            ref = self._place or f"paragraph {self._paragraphs}"
            self._write(text, ref, style, marker)
        self._pending_notes += line.notes
        self._after(line)

    def _write(self, text: str, ref: str, style: Style, marker: tuple[str, int] | None) -> None:
        if style.role in ("heading", "title"):
            self._flush()
            words = f"{marker[0]} {text}" if marker and marker[0] != BULLET else text
            self.title = self.title or (one_line(text) if style.role == "title" else "")
            self.first_heading = self.first_heading or ("" if self._bold_headings else one_line(text))
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
        """The list marker and level of a paragraph; None outside of lists."""
        own = child(element, "pPr", "numPr")
        num, level = value(own, "numId") or style.numbering, value(own, "ilvl")
        if not num or num == "0":
            return None
        depth = parse_int(level, style.depth or 0)
        marker = self._numbering.next(num, depth)
        return (marker, depth) if marker else None

    def _add(self, kind: str, text: str, ref: str) -> None:
        """Add a line to the group of lines of its kind; a line of another kind starts a new group."""
        if self._grouped != kind:
            self._flush(kind)
        self._group.append((text, ref))

    def _flush(self, then: str = "") -> None:
        """Write the current group of lines and the notes that it refers to."""
        if self._grouped == "code":
            fence = max(
                (mark[0] + "`" for text, _ in self._group for mark in re.finditer("`{3,}", text)), default="```"
            )
            self._group = [(fence, ""), *self._group, (fence, "")]
        self.out.lines(self._group)
        self._group, self._grouped = [], then
        self._write_notes()

    def _write_notes(self) -> None:
        for note in self._pending_notes:
            if note not in self._written_notes:
                self._written_notes.add(note)
                label = self._notes.label(note)
                self.out.block(f"[^{label}]: {self._notes.text(note)}", f"{note[0]} {label.removeprefix('e')}")
        self._pending_notes = []

    def _after(self, line: Line) -> None:
        """Write the notes of a paragraph outside of groups, and the text boxes anchored in it."""
        if not self._grouped:
            self._write_notes()
        for box in line.boxes:
            self._boxes += 1
            self._within(f"text box {self._boxes}", box)

    def _within(self, place: str, container: Element) -> None:
        """Write a container whose paragraphs get the reference `place`, unless an outer container has one."""
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
        rows = read_rows(element)
        if self._is_layout(rows):
            for count, row in enumerate(rows, 1):
                for cell in row:
                    if not cell.continued:
                        self._within(f"table {number}, row {count}", cell.element)
            return
        boxes: list[Element] = []
        texts = fill_merged_cells(rows, lambda cell: self._cell(cell, boxes))
        self._rows(texts, [self._place or f"table {number}, row {count}" for count in range(1, len(rows) + 1)])
        self._write_notes()
        for box in boxes:
            self._boxes += 1
            self._within(f"text box {self._boxes}", box)
        for inner in (inner for row in rows for cell in row for inner in content_elements(cell.element, "tbl")):
            self._table(inner)

    def _rows(self, texts: list[list[str]], refs: list[str]) -> None:
        """Write the filled rows of a table; a row with a single text above the others is written before the table."""
        rows = [(texts[at], refs[at]) for at in range(len(texts)) if any(map(str.strip, texts[at]))]
        while len(rows) > 1 and sum(map(bool, rows[0][0])) == 1 and len(rows[0][0]) > 1 and rows[0][0][0]:
            self.out.block(escaped(rows[0][0][0]), rows[0][1])
            rows = rows[1:]
        lines = table([cells for cells, _ in rows])
        places = [ref for _, ref in rows]
        self.out.lines(zip(lines, [*places[:1], "", *places[1:]], strict=bool(lines)))

    def _cell(self, cell: Element, boxes: list[Element]) -> str:
        """The text of a cell on one line; its text boxes are added to `boxes`."""
        words: list[str] = []
        for paragraph in content_elements(cell, "p"):
            line = self._reader.line(paragraph)
            marker = self._marker(paragraph, self._styles.of(paragraph))
            if line.text.strip():
                words.append(f"{marker[0]} {line.text}" if marker else line.text)
            self._pending_notes += line.notes
            boxes += line.boxes
        return one_line(" ".join(words))

    def _is_layout(self, rows: list[Row]) -> bool:
        """Whether a table is only used for layout: it has a single cell, headings inside, or tables side by side."""
        cells = [cell.element for row in rows for cell in row]
        if len(cells) == 1:
            return True
        if any(
            self._styles.of(one).role in ("heading", "title") for cell in cells for one in content_elements(cell, "p")
        ):
            return True
        in_line = len(rows) == 1 or all(len(row) == 1 for row in rows)
        return in_line and any(True for cell in cells for _ in content_elements(cell, "tbl"))


def _is_bold_heading(line: Line, text: str) -> bool:
    if line.light or not line.bold or len(text) > _MAX_BOLD_CHARS or "\n" in text or text[-1] in ".,;!?":
        return False
    return any(map(str.isalpha, text)) and not _CAPTION.match(text)


def _part(office: Office, kind: str) -> Element | None:
    part = next(office.related(office.main, kind), None)
    return None if part is None else office.archive.xml(part)
