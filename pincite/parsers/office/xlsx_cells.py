"""The cells of a workbook's sheets, read from their XML as it streams by, each as it is shown."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from pincite.core import progress
from pincite.core.documents.cells import Cells
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.tables import MAX_COLUMNS
from pincite.parsers.office.number_format import BUILT_IN, shown, shown_text
from pincite.parsers.office.package import Element, Office, attribute, child, children, whole
from pincite.parsers.office.zip_safety import FAULTS, Archive

MAX_CELLS = 2_000_000
MAX_SPANS = 100_000
"""Merged ranges and links of a sheet that are looked at."""

_PIECE = 65536
_DEEPEST = 256
_NAMES = 1000
_DIGITS = "0123456789"
_CODE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_PACE = 500
"""Rows between two words about how far it is."""

Attributes = Mapping[str, str]


@dataclass(slots=True)
class Sheet:
    """What a sheet holds: row → column → text, what is merged, and which cells lead where."""

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[Cells] = field(default_factory=list)
    links: list[tuple[Cells, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Looks:
    """How a workbook's values are shown: the format of each style, and since when its days count."""

    formats: tuple[str, ...]
    since_1904: bool

    def number(self, text: str, style: int) -> str:
        """A number as its style shows it."""
        try:
            value = float(text)
        except ValueError:
            return text
        return shown(value, self._format(style), since_1904=self.since_1904)

    def text(self, text: str, style: int) -> str:
        """A text as its style shows it."""
        return shown_text(text, self._format(style)) if style else text

    def _format(self, style: int) -> str:
        return self.formats[style] if 0 <= style < len(self.formats) else "General"


def looks(office: Office) -> Looks:
    """The formats of a workbook's styles."""
    properties = child(office.document, "workbookPr")
    since_1904 = properties is not None and attribute(properties, "date1904") in ("1", "true")
    part = next(office.related(office.main, "styles"), None)
    return Looks(() if part is None else tuple(_formats(office.archive.xml(part))), since_1904)


def _formats(root: Element) -> list[str]:
    own = {
        attribute(one, "numFmtId"): attribute(one, "formatCode") for one in children(child(root, "numFmts"), "numFmt")
    }
    found = []
    for style in children(child(root, "cellXfs"), "xf"):
        number = attribute(style, "numFmtId")
        found.append(own.get(number) or BUILT_IN.get(whole(number), "General"))
    return found


class _Stream:
    """Reads XML without ever holding it whole, and refuses what no such file needs."""

    def __init__(self, archive: Archive, part: str) -> None:
        self.archive = archive
        self.part = part
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = _refuse
        self.parser.EntityDeclHandler = _refuse

    def run(
        self, start: Callable[[str, Attributes], None], end: Callable[[str], None], text: Callable[[str], None]
    ) -> None:
        """Tell what comes, by names without their prefix."""
        names: dict[str, str] = {}
        depth = 0

        def local(name: str) -> str:
            if len(names) > _NAMES:
                raise Unreadable("its XML has too many kinds of elements; save it again", code="unsafe")
            return names.setdefault(name, name.rpartition(":")[2])

        def started(name: str, attributes: Attributes) -> None:
            nonlocal depth
            depth += 1
            if depth > _DEEPEST:
                raise Unreadable("its XML is nested too deep; save it again", code="unsafe")
            start(names.get(name) or local(name), attributes)

        def ended(name: str) -> None:
            nonlocal depth
            depth -= 1
            end(names[name])

        self.parser.StartElementHandler, self.parser.EndElementHandler = started, ended
        self.parser.CharacterDataHandler = text
        try:
            with self.archive.open(self.part) as source:
                while piece := source.read(_PIECE):
                    self.parser.Parse(piece, False)
            self.parser.Parse(b"", True)
        except (*FAULTS, expat.ExpatError) as error:
            raise Unreadable(f"its part {self.part} is broken ({error}); save it again", code="broken") from None


def _refuse(*_: Any) -> None:
    raise Unreadable("its XML declares a document type or entities, which no such file needs", code="unsafe")


def shared_strings(office: Office) -> list[str]:
    """The texts that cells refer to by number."""
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
            found.append(_plain("".join(pieces)))
            if len(found) > MAX_CELLS:
                raise Unreadable(f"it has more than {MAX_CELLS} texts; split it", code="limit")

    def text(data: str) -> None:
        if open_[-1] == "t" and "rPh" not in open_:  # how a word is pronounced is not what it says
            pieces.append(data)

    _Stream(office.archive, part).run(start, end, text)
    return found


class Reader:
    """Reads sheets of one workbook."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.strings = shared_strings(office)
        self.looks = looks(office)
        self.cells = 0

    def sheet(self, part: str) -> Sheet:
        """The cells of one sheet."""
        reading = _Reading(self)
        _Stream(self.office.archive, part).run(reading.start, reading.end, reading.text)
        return reading.sheet


class _Reading:
    """A sheet being read: which row and cell is open, and what it says so far."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.sheet = Sheet()
        self.row = 0
        self.numbered = True
        self.column = 0
        self.columns: dict[str, int] = {}
        self.last = 0
        self.kind = ""
        self.style = 0
        self.taking = False
        self.spoken = 0
        self.pieces: list[str] = []

    def start(self, name: str, attributes: Attributes) -> None:
        """An element begins."""
        if name == "c":
            self._cell(attributes)
        elif name == "v" or (name == "t" and not self.spoken):
            self.taking = True
        elif name == "row":
            self._row(attributes.get("r", ""))
        elif name == "rPh":
            self.spoken += 1
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
        self.row, self.numbered = whole(number, self.row + 1), bool(number)
        self.column = 0
        if self.row % _PACE == 0:
            progress.report_progress("row", self.row, max(self.row, self.last))

    def _cell(self, attributes: Attributes) -> None:
        place = attributes.get("r", "")
        letters = place.rstrip(_DIGITS)
        if not self.numbered:  # then its cells may say which row it is
            self.row = whole(place[len(letters) :], self.row)
        if letters not in self.columns:
            found = Cells.parse(f"{letters}1")
            self.columns[letters] = found.left if found else 0
        self.column = self.columns[letters] or self.column + 1
        self.kind = attributes.get("t", "n")
        self.style = whole(attributes.get("s", "0"))
        self.pieces = []

    def text(self, data: str) -> None:
        """Words of the open element."""
        if self.taking:
            self.pieces.append(data)

    def end(self, name: str) -> None:
        """An element ends."""
        if name in ("v", "t"):
            self.taking = False
        elif name == "rPh":
            self.spoken -= 1
        elif name == "c" and self.pieces and (text := self._shown("".join(self.pieces))):
            self._keep(text)

    def _keep(self, text: str) -> None:
        if self.column > MAX_COLUMNS:
            raise Unreadable(f"it has more than {MAX_COLUMNS} columns; split it", code="limit")
        self.reader.cells += 1
        if self.reader.cells > MAX_CELLS:
            raise Unreadable(f"it has more than {MAX_CELLS} cells; split it", code="limit")
        self.sheet.rows.setdefault(self.row, {})[self.column] = text

    def _shown(self, text: str) -> str:
        if self.kind == "n":
            return self.reader.looks.number(text, self.style)
        if self.kind == "s":
            index = whole(text, len(self.reader.strings))
            text = self.reader.strings[index] if index < len(self.reader.strings) else ""
        elif self.kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        else:
            text = _plain(text)
        return self.reader.looks.text(text, self.style) if text.strip() else ""


def _plain(text: str) -> str:
    """A text without the codes that stand for what XML cannot hold: `_x000D_` is a line's end."""
    return _CODE.sub(lambda code: chr(int(code[1], 16)), text) if "_x" in text else text
