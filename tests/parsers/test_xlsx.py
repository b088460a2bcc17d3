"""Workbooks: sheets, tables, formatted numbers, and the reference of every cell."""

import io
import zipfile
from datetime import date
from pathlib import Path

import pytest
import xlsxwriter

from pincite.config.branches.ingestion import Chunking
from pincite.core import progress
from pincite.core.documents.cells import cells_of_row
from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page
from pincite.errors import Unreadable
from pincite.ingest.read.parse_and_chunk import parse_and_chunk
from pincite.parsers.office import xlsx_cells
from pincite.parsers.xlsx import Options, make_parser
from tests.office_maker import make_xlsx

OFFICE = Path(__file__).parent / "office"


def parse(data: bytes) -> Parsed:
    return make_parser(Options()).parse(data)


def by_cell(parsed: Parsed, page: Page) -> dict[str, str]:
    """The text of each cell of a page, found by its position in the text."""
    return {
        one.ref: parsed.text[one.start : one.end]
        for mark in page.unpack_marks()
        for one in cells_of_row(mark, parsed.text[mark.start : mark.end])
    }


def test_a_workbook_saved_by_libreoffice_comes_out_right():
    parsed = parse((OFFICE / "accounts.xlsx").read_bytes())
    assert parsed.text == (OFFICE / "accounts.md").read_text("utf-8")
    assert [(page.kind, page.name) for page in parsed.pages] == [("sheet", "Nights"), ("sheet", "Old")]
    nights, old = parsed.pages
    found = by_cell(parsed, nights)
    assert (found["A1"], found["B4"], found["D4"], found["E5"]) == ("Nights sold", "04.07.2026", "1,488.00 €", "0.0%")
    assert (found["B8"], found["C9"]) == ("Warden", "6")
    assert by_cell(parsed, old)["B2"] == "1204"


def test_a_workbook_with_everything_comes_out_right():
    target = io.BytesIO()
    with xlsxwriter.Workbook(target) as book:
        book.set_properties({"title": "Orders", "author": "Mira", "keywords": "a; b", "comments": "All of them"})
        money = book.add_format({"num_format": '#,##0.00 "€"'})
        day = book.add_format({"num_format": "d mmm yyyy"})
        share = book.add_format({"num_format": "0.0%"})
        book.add_worksheet("Empty")
        sheet = book.add_worksheet("Sales & more")
        sheet.merge_range("B2:D2", "Orders", None)
        sheet.write_row("B3", ["Region", "Due", "Amount", "Share"])
        sheet.merge_range("B4:B5", "North", None)
        sheet.write_datetime("C4", date(2026, 3, 1), day)
        sheet.write_number("D4", 1234.5, money)
        sheet.write_number("E4", 0.125, share)
        sheet.write_url("C5", "https://example.org/", string="later")
        sheet.write_boolean("D5", True)
        sheet.write_formula("E5", "=1/0", None, "#DIV/0!")
        sheet.write_rich_string("B7", "no ", money, "table", " here")
        sheet.write_comment("B7", "not this")
    parsed = parse(target.getvalue())
    assert parsed.text == (
        "# Sales & more\n\nOrders\n\n| Region | Due | Amount | Share |\n| --- | --- | --- | --- |\n"
        "| North | 1 Mar 2026 | 1,234.50 € | 12.5% |\n| North | [later](https://example.org/) | TRUE | #DIV/0! |\n\n"
        "no table here"
    )
    assert (parsed.title, parsed.author, parsed.tags) == ("Orders", "Mira", ("a", "b"))
    assert [(page.name, page.start) for page in parsed.pages] == [("Empty", 0), ("Sales & more", 0)]
    found = by_cell(parsed, parsed.pages[1])
    assert (found["C4"], found["D4"], found["B5"], found["B7"]) == (
        "1 Mar 2026",
        "1,234.50 €",
        "North",
        "no table here",
    )


def test_a_merged_header_names_all_its_columns():
    rows = (
        f'<row r="1">{c("A1", "Region", "str")}{c("B1", "Sales", "str")}</row>'
        f'<row r="2">{c("A2", "North", "str")}{c("B2", "1")}{c("C2", "2")}</row>'
    )
    parsed = parse(make_xlsx(f'<sheetData>{rows}</sheetData><mergeCells><mergeCell ref="B1:C1"/></mergeCells>'))
    assert parsed.text.endswith("| Region | Sales | Sales |\n| --- | --- | --- |\n| North | 1 | 2 |")


def c(reference: str, text: str, kind: str = "n", style: int = 0) -> str:
    value = f"<is><t>{text}</t></is>" if kind == "inlineStr" else f"<v>{text}</v>"
    return f'<c r="{reference}" t="{kind}" s="{style}">{value}</c>'


def test_cells_of_all_kinds_are_shown():
    strings = "<si><t>sha_x000D_red</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>unspoken</t></rPh></si>"
    row = (
        c("A1", "0", "s")
        + c("B1", "1", "s")
        + c("C1", "inline", "inlineStr")
        + c("D1", "made", "str")
        + c("E1", "1", "b")
        + c("F1", "#N/A", "e")
        + c("G1", "2026-03-01", "d")
        + c("H1", "0.5")
        + c("I1", "99", "s")
    )
    parsed = parse(make_xlsx(f'<sheetData><row r="1">{row}</row></sheetData>', strings=strings))
    found = by_cell(parsed, parsed.pages[0])
    assert list(found.values()) == ["sha red", "rich", "inline", "made", "TRUE", "#N/A", "2026-03-01", "0.5"]


def test_cells_without_reference_are_counted():
    rows = "<row><c><v>1</v></c><c><v>2</v></c></row><row><c/><c><v>3</v></c></row>"
    parsed = parse(make_xlsx(f"<sheetData>{rows}</sheetData>"))
    assert by_cell(parsed, parsed.pages[0]) == {"A1": "1", "B1": "2", "A2": "", "B2": "3"}


def test_cell_references_give_the_row_if_the_row_has_no_number():
    rows = '<row><c r="B7"><v>1</v></c><c r="C7"><v>2</v></c></row><row><c r="B8"><v>3</v></c></row>'
    parsed = parse(make_xlsx(f"<sheetData>{rows}</sheetData>"))
    assert by_cell(parsed, parsed.pages[0]) == {"B7": "1", "C7": "2", "B8": "3", "C8": ""}


def test_namespace_prefixes_and_dates_since_1904_are_supported():
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    sheet = '<x:sheetData xmlns:x="u"><x:row r="2"><x:c r="B2" s="1"><x:v>1</x:v></x:c></x:row></x:sheetData>'
    parsed = parse(make_xlsx(sheet, styles=styles, workbook='<workbookPr date1904="1"/>'))
    assert by_cell(parsed, parsed.pages[0]) == {"B2": "1904-01-02"}


def test_an_empty_workbook_is_refused():
    with pytest.raises(Unreadable) as refusal:
        parse(make_xlsx("<sheetData/>"))
    assert refusal.value.code == "empty"


@pytest.mark.parametrize(
    ("sheet", "code"),
    [
        ("<sheetData><row>" + "<x>" * 300, "unsafe"),
        ("".join(f"<a{number}/>" for number in range(2000)), "unsafe"),
        ("<sheetData><row>", "broken"),
        ('<sheetData><row r="1"><c r="XFE1"><v>1</v></c></row></sheetData>', "limit"),
    ],
)
def test_hostile_sheets_are_refused(sheet: str, code: str):
    with pytest.raises(Unreadable) as refusal:
        parse(make_xlsx(sheet))
    assert refusal.value.code == code


def test_entities_are_refused_while_they_stream_by():
    data = make_xlsx("<sheetData/>")
    laughing = (
        b'<!DOCTYPE a [<!ENTITY a "ha">]><worksheet><sheetData><row><c><v>&a;</v></c></row></sheetData></worksheet>'
    )
    source, target = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for name in source.namelist():
            made.writestr(name, laughing if name.endswith("sheet1.xml") else source.read(name))
    with pytest.raises(Unreadable) as refusal:
        parse(target.getvalue())
    assert refusal.value.code == "unsafe"


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(xlsx_cells, "MAX_CELLS", 2)
    with pytest.raises(Unreadable, match="more than 2 cells"):
        parse(make_xlsx(f'<sheetData><row r="1">{c("A1", "1")}{c("B1", "2")}{c("C1", "3")}</row></sheetData>'))


def test_endless_merged_ranges_fill_only_existing_rows():
    rows = f'<row r="1">{c("A1", "x", "str")}{c("B1", "1")}</row><row r="9">{c("B9", "2")}</row>'
    merged = (
        '<mergeCells><mergeCell ref="A1:A1048576"/><mergeCell ref="C1:XFD1048576"/><mergeCell ref="?"/></mergeCells>'
    )
    parsed = parse(make_xlsx(f"<sheetData>{rows}</sheetData>{merged}"))
    assert by_cell(parsed, parsed.pages[0])["A9"] == "x"


@pytest.mark.slow
def test_a_large_sheet_is_split_between_rows_under_its_header_and_reports_progress():
    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"constant_memory": True}) as book:
        sheet = book.add_worksheet("Orders")
        sheet.write_row(0, 0, ["Order", "Customer", "Amount"])
        for number in range(1, 3001):
            sheet.write_row(number, 0, [number, f"Customer {number}", number * 1.5])
    heard: list[tuple[str, int, int]] = []
    with progress.progress_listener(lambda what, done, of: heard.append((what, done, of))):
        prepared = parse_and_chunk(target.getvalue(), "xlsx", Chunking())
    assert ("row", 500, 3001) in heard
    parts = [chunk for chunk in prepared.chunks if chunk.header]
    assert len(parts) > 50
    assert {chunk.header for chunk in parts} == {"| Order | Customer | Amount |\n| --- | --- | --- |"}
    assert all(line.startswith("| ") and line.endswith(" |") for chunk in parts for line in chunk.text.split("\n"))
