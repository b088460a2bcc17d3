"""Parses workbooks: one page per sheet, with its tables detected, and numbers and dates formatted as in Excel."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.documents.cells import Cells
from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.tables import MAX_COLUMNS, write_tables
from pincite.parsers.markdown_out.writer import MarkdownWriter, heading, link
from pincite.parsers.office.package import Office, attribute, child, children, links_of, relation_id
from pincite.parsers.office.xlsx_cells import Sheet, WorkbookReader

MAX_SHEETS = 1_000
"""Maximum number of sheets."""

_OPEN = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HIDDEN = "(hidden sheet)"
_MAX_REPEATED_CHARS = 80
"""Maximum length of a text in vertically merged cells that is repeated in every row; a longer one is written once."""
_MAX_FILLED_CELLS = 1_000_000
"""Maximum number of cells that merged ranges fill in."""


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class Workbook:
    """Parses workbooks to Markdown. Formulas are replaced by their results; macros, charts and comments are ignored."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {
            f"{_OPEN}.sheet": ".xlsx",
            f"{_OPEN}.template": ".xltx",
            "application/vnd.ms-excel.sheet.macroEnabled.12": ".xlsm",
        }

    def parse(self, data: bytes) -> Parsed:
        """The text of all sheets, each a page; each row has a reference to its cells."""
        office = Office(data, "workbook")
        relations = office.relations(office.main)
        listed = list(children(child(office.document, "sheets"), "sheet"))
        if len(listed) > MAX_SHEETS:
            raise Unreadable(f"it has {len(listed)} sheets; at most {MAX_SHEETS} are read", code="limit")
        reader, out, has_cells = WorkbookReader(office), MarkdownWriter(), False
        for element in listed:
            name = attribute(element, "name")
            relation = relations.get(relation_id(element))
            out.page("sheet", name)
            if relation and relation.kind == "worksheet" and relation.target in office.archive:
                sheet = reader.sheet(relation.target)
                has_cells = has_cells or bool(sheet.rows)
                _write_sheet(sheet, name, links_of(office, relation.target), out, attribute(element, "state"))
        if not has_cells:
            raise Unreadable("its sheets are empty", code="empty")
        text, pages = out.done()
        return office.metadata().parsed(text, pages)


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return Workbook()


def _write_sheet(sheet: Sheet, name: str, links: Mapping[str, str], out: MarkdownWriter, state: str) -> None:
    if not sheet.rows:
        return
    out.block(heading(1, name))
    if state in ("hidden", "veryHidden"):
        out.block(_HIDDEN)
    for place, relation in sheet.links:
        _add_link(sheet, place, links.get(relation, ""))
    _fill_merged_cells(sheet)
    write_tables([(number, sheet.rows[number]) for number in sorted(sheet.rows)], out)


def _add_link(sheet: Sheet, place: Cells, address: str) -> None:
    row = sheet.rows.get(place.top, {})
    if address and place.left in row:
        row[place.left] = link(row[place.left], address)


def _fill_merged_cells(sheet: Sheet) -> None:
    """Repeat the text of merged cells in every filled row below, and in the columns to the right of a header cell."""
    numbers, budget = sorted(sheet.rows), _MAX_FILLED_CELLS
    for cells in sheet.merged:
        text = sheet.rows.get(cells.top, {}).get(cells.left, "")
        if not text or len(text) > _MAX_REPEATED_CHARS:
            continue
        below = numbers[bisect_right(numbers, cells.top) : bisect_right(numbers, cells.bottom)]
        is_header = cells.top == numbers[0] and len(sheet.rows[cells.top]) > 1  # a cell alone in its row is a title
        right = range(cells.left + 1, min(cells.right, MAX_COLUMNS) + 1) if is_header else range(0)
        budget -= len(below) + len(right)
        if budget < 0:
            return
        for number in below:
            sheet.rows[number].setdefault(cells.left, text)
        for column in right:
            sheet.rows[cells.top].setdefault(column, text)
