"""Reads the cells of a workbook's sheets from streamed XML, each formatted as Excel shows it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from pincite.core import progress
from pincite.core.documents.cells import Cells
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.tables import MAX_COLUMNS
from pincite.parsers.office.number_format import BUILT_IN, format_text, format_value
from pincite.parsers.office.package import Element, Office, attribute, child, children, parse_int
from pincite.parsers.office.zip_safety import ZIP_ERRORS, Archive

MAX_CELLS = 2_000_000
"""Maximum number of cells, and of shared strings, of a workbook."""
MAX_SPANS = 100_000
"""Maximum number of merged ranges, and of links, of a sheet; further ones are ignored."""

_READ_BYTES = 65536
"""Bytes of XML that are parsed at a time."""
_MAX_DEPTH = 256
_MAX_ELEMENT_NAMES = 1000
"""Maximum nesting of elements, and number of different element names; more is an attack."""
_DIGITS = "0123456789"
_CODE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_PROGRESS_ROWS = 500
"""Rows between two progress reports."""

Attributes = Mapping[str, str]


@dataclass(slots=True)
class Sheet:
    """The cells of a sheet (row → column → text), its merged ranges, and its links with their relation ids."""

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[Cells] = field(default_factory=list)
    links: list[tuple[Cells, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CellFormats:
    """The format code of each cell style, and whether dates count from 1904."""

    formats: tuple[str, ...]
    since_1904: bool

    def number(self, text: str, style: int) -> str:
        """A number formatted by its style."""
        try:
            value = float(text)
        except ValueError:
            return text
        return format_value(value, self._format(style), since_1904=self.since_1904)

    def text(self, text: str, style: int) -> str:
        """A text formatted by its style."""
        return format_text(text, self._format(style)) if style else text

    def _format(self, style: int) -> str:
        return self.formats[style] if 0 <= style < len(self.formats) else "General"


def read_formats(office: Office) -> CellFormats:
    """Read the formats of a workbook's cell styles."""
    properties = child(office.document, "workbookPr")
    since_1904 = properties is not None and attribute(properties, "date1904") in ("1", "true")
    part = next(office.related(office.main, "styles"), None)
    return CellFormats(() if part is None else tuple(_formats(office.archive.xml(part))), since_1904)


def _formats(root: Element) -> list[str]:
    own = {
        attribute(one, "numFmtId"): attribute(one, "formatCode") for one in children(child(root, "numFmts"), "numFmt")
    }
    found = []
    for style in children(child(root, "cellXfs"), "xf"):
        number = attribute(style, "numFmtId")
        found.append(own.get(number) or BUILT_IN.get(parse_int(number), "General"))
    return found


class _Stream:
    """Parses XML as a stream and refuses document types, entities and extreme nesting."""

    def __init__(self, archive: Archive, part: str) -> None:
        self.archive = archive
        self.part = part
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = _refuse_declaration
        self.parser.EntityDeclHandler = _refuse_declaration

    def run(
        self, start: Callable[[str, Attributes], None], end: Callable[[str], None], text: Callable[[str], None]
    ) -> None:
        """Call the handlers for elements and text; element names come without prefix."""
        names: dict[str, str] = {}
        depth = 0

        def local(name: str) -> str:
            if len(names) > _MAX_ELEMENT_NAMES:
                raise Unreadable("its XML has too many kinds of elements; save it again", code="unsafe")
            return names.setdefault(name, name.rpartition(":")[2])

        def started(name: str, attributes: Attributes) -> None:
            nonlocal depth
            depth += 1
            if depth > _MAX_DEPTH:
                raise Unreadable("its XML is nested too deeply; save it again", code="unsafe")
            start(names.get(name) or local(name), attributes)

        def ended(name: str) -> None:
            nonlocal depth
            depth -= 1
            end(names[name])

        self.parser.StartElementHandler, self.parser.EndElementHandler = started, ended
        self.parser.CharacterDataHandler = text
        try:
            with self.archive.open(self.part) as source:
                while piece := source.read(_READ_BYTES):
                    self.parser.Parse(piece, False)
            self.parser.Parse(b"", True)
        except (*ZIP_ERRORS, expat.ExpatError) as error:
            raise Unreadable(f"its part {self.part} is broken ({error}); save it again", code="broken") from None


def _refuse_declaration(*_: Any) -> None:
    raise Unreadable("its XML declares a document type or entities; such files are not read", code="unsafe")


def shared_strings(office: Office) -> list[str]:
    """The shared strings, which cells refer to by index."""
    part = next(office.related(office.main, "sharedStrings"), None)
    if part is None:
        return []
    found: list[str] = []
    pieces: list[str] = []
    open_: list[str] = []

    def start(name: str, _: Attributes) -> None:
        open_.append(name)
        if name == "si":
            pieces.clear()

    def end(name: str) -> None:
        open_.pop()
        if name == "si":
            found.append(_decode_escapes("".join(pieces)))
            if len(found) > MAX_CELLS:
                raise Unreadable(f"it has more than {MAX_CELLS} texts; split the file", code="limit")

    def text(data: str) -> None:
        if open_[-1] == "t" and "rPh" not in open_:  # `rPh` holds phonetic hints, not text
            pieces.append(data)

    _Stream(office.archive, part).run(start, end, text)
    return found


class WorkbookReader:
    """Reads the sheets of one workbook."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.strings = shared_strings(office)
        self.formats = read_formats(office)
        self.cells = 0

    def sheet(self, part: str) -> Sheet:
        """Read one sheet."""
        handler = _SheetHandler(self)
        _Stream(self.office.archive, part).run(handler.start, handler.end, handler.text)
        return handler.sheet


class _SheetHandler:
    """The XML handlers for one sheet, with the current row and cell and its text so far."""

    def __init__(self, reader: WorkbookReader) -> None:
        self.reader = reader
        self.sheet = Sheet()
        self.row = 0
        self.numbered = True
        self.column = 0
        self.columns: dict[str, int] = {}
        self.last = 0
        self.kind = ""
        self.style = 0
        self.collecting = False
        self.phonetic_depth = 0
        self.pieces: list[str] = []

    def start(self, name: str, attributes: Attributes) -> None:
        """Handle the start of an element."""
        if name == "c":
            self._cell(attributes)
        elif name == "v" or (name == "t" and not self.phonetic_depth):
            self.collecting = True
        elif name == "row":
            self._row(attributes.get("r", ""))
        elif name == "rPh":
            self.phonetic_depth += 1
        elif (
            name == "mergeCell"
            and len(self.sheet.merged) < MAX_SPANS
            and (found := Cells.parse(attributes.get("ref", "")))
        ):
            self.sheet.merged.append(found)
        elif (
            name == "hyperlink"
            and len(self.sheet.links) < MAX_SPANS
            and (found := Cells.parse(attributes.get("ref", "")))
        ):
            relation = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            self.sheet.links.append((found, relation))

        elif name == "dimension" and (found := Cells.parse(attributes.get("ref", ""))):
            self.last = found.bottom

    def _row(self, number: str) -> None:
        self.row, self.numbered = parse_int(number, self.row + 1), bool(number)
        self.column = 0
        if self.row % _PROGRESS_ROWS == 0:
            progress.report_progress("row", self.row, max(self.row, self.last))

    def _cell(self, attributes: Attributes) -> None:
        place = attributes.get("r", "")
        letters = place.rstrip(_DIGITS)
        if not self.numbered:  # then the cell references may give its number
            self.row = parse_int(place[len(letters) :], self.row)
        if letters not in self.columns:
            found = Cells.parse(f"{letters}1")
            self.columns[letters] = found.left if found else 0
        self.column = self.columns[letters] or self.column + 1
        self.kind = attributes.get("t", "n")
        self.style = parse_int(attributes.get("s", "0"))
        self.pieces = []

    def text(self, data: str) -> None:
        """Handle text."""
        if self.collecting:
            self.pieces.append(data)

    def end(self, name: str) -> None:
        """Handle the end of an element."""
        if name in ("v", "t"):
            self.collecting = False
        elif name == "rPh":
            self.phonetic_depth -= 1
        elif name == "c" and self.pieces and (text := self._formatted("".join(self.pieces))):
            self._store(text)

    def _store(self, text: str) -> None:
        if self.column > MAX_COLUMNS:
            raise Unreadable(f"it has more than {MAX_COLUMNS} columns; split the file", code="limit")
        self.reader.cells += 1
        if self.reader.cells > MAX_CELLS:
            raise Unreadable(f"it has more than {MAX_CELLS} cells; split the file", code="limit")
        self.sheet.rows.setdefault(self.row, {})[self.column] = text

    def _formatted(self, text: str) -> str:
        if self.kind == "n":
            return self.reader.formats.number(text, self.style)
        if self.kind == "s":
            index = parse_int(text, len(self.reader.strings))
            text = self.reader.strings[index] if index < len(self.reader.strings) else ""
        elif self.kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        else:
            text = _decode_escapes(text)
        return self.reader.formats.text(text, self.style) if text.strip() else ""


def _decode_escapes(text: str) -> str:
    """The text with the escapes for characters that XML cannot hold decoded: `_x000D_` is a carriage return."""
    return _CODE.sub(lambda code: chr(int(code[1], 16)), text) if "_x" in text else text
