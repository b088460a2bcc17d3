"""Workbooks: a page per sheet, its tables found, numbers and dates as they are shown."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.documents.cells import Cells
from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.tables import MAX_COLUMNS, tell
from pincite.parsers.markdown_out.writer import MarkdownWriter, heading, link
from pincite.parsers.office.package import Office, attribute, child, children, links_of, relation_id
from pincite.parsers.office.xlsx_cells import Reader, Sheet

MAX_SHEETS = 1_000

_OPEN = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HIDDEN = "(hidden sheet)"
_REPEATED = 80
"""Characters: a longer text in cells merged downwards is written once, not in every row."""
_FILLED = 1_000_000
"""Cells that merged ranges may fill in."""


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to choose."""


class Workbook:
    """Reads workbooks as Markdown. Formulas count as their results; macros, charts and comments are not looked at."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {
            f"{_OPEN}.sheet": ".xlsx",
            f"{_OPEN}.template": ".xltx",
            "application/vnd.ms-excel.sheet.macroEnabled.12": ".xlsm",
        }

    def parse(self, data: bytes) -> Parsed:
        """The text of all sheets, each a page, with the cells that every row was made of."""
        office = Office(data, "workbook")
        relations = office.relations(office.main)
        listed = list(children(child(office.document, "sheets"), "sheet"))
        if len(listed) > MAX_SHEETS:
            raise Unreadable(f"it has {len(listed)} sheets; at most {MAX_SHEETS} are read", code="limit")
        reader, out, held = Reader(office), MarkdownWriter(), False
        for element in listed:
            name = attribute(element, "name")
            relation = relations.get(relation_id(element))
            out.page("sheet", name)
            if relation and relation.kind == "worksheet" and relation.target in office.archive:
                sheet = reader.sheet(relation.target)
                held = held or bool(sheet.rows)
                _tell(sheet, name, links_of(office, relation.target), out, attribute(element, "state"))
        if not held:
            raise Unreadable("there is nothing in its sheets", code="empty")
        text, pages = out.done()
        return office.about().parsed(text, pages)


def make_parser(options: Options) -> Parser:
    """Build the parser."""
    return Workbook()


def _tell(sheet: Sheet, name: str, links: Mapping[str, str], out: MarkdownWriter, state: str) -> None:
    if not sheet.rows:
        return
    out.block(heading(1, name))
    if state in ("hidden", "veryHidden"):
        out.block(_HIDDEN)
    for place, relation in sheet.links:
        _link(sheet, place, links.get(relation, ""))
    _fill(sheet)
    tell([(number, sheet.rows[number]) for number in sorted(sheet.rows)], out)


def _link(sheet: Sheet, place: Cells, address: str) -> None:
    row = sheet.rows.get(place.top, {})
    if address and place.left in row:
        row[place.left] = link(row[place.left], address)


def _fill(sheet: Sheet) -> None:
    """Repeat what is merged downwards in every row that holds something, and across the columns that it heads."""
    numbers, budget = sorted(sheet.rows), _FILLED
    for cells in sheet.merged:
        text = sheet.rows.get(cells.top, {}).get(cells.left, "")
        if not text or len(text) > _REPEATED:
            continue
        below = numbers[bisect_right(numbers, cells.top) : bisect_right(numbers, cells.bottom)]
        heads = cells.top == numbers[0] and len(sheet.rows[cells.top]) > 1  # alone in its row it is a title
        beside = range(cells.left + 1, min(cells.right, MAX_COLUMNS) + 1) if heads else range(0)
        budget -= len(below) + len(beside)
        if budget < 0:
            return
        for number in below:
            sheet.rows[number].setdefault(cells.left, text)
        for column in beside:
            sheet.rows[cells.top].setdefault(column, text)
