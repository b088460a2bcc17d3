"""Citations into every kind of file: from the question to the place and back."""

import io
from typing import Any

import httpx2
import pytest

from tests.api.live_server import LiveServer, completed, upload
from tests.pdf_maker import make_pdf

API = "/api/v1"
FOLDER = "kinds"


def pdf() -> bytes:
    return make_pdf([["Manual of the pump"], ["Maintenance", "The seal of the pump is greased every fortnight."]])


def docx() -> bytes:
    from docx import Document

    made = Document()
    made.add_heading("Working hours", 1)
    made.add_paragraph("Hours differ by season.")
    table = made.add_table(rows=3, cols=2)
    rows = [("Season", "Hours"), ("Winter", "The bakery opens at seven"), ("Summer", "The bakery opens at six")]
    for cells, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(cells.cells, texts, strict=True):
            cell.text = text
    return saved(made)


def pptx() -> bytes:
    from pptx import Presentation

    made = Presentation()
    for title, text in (("Goals", "Sell more bread."), ("Risks", "The oven in Graz is forty years old.")):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    return saved(made)


def xlsx() -> bytes:
    import xlsxwriter

    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        book.add_worksheet("Notes").write("A1", "Nothing to see here.")
        sheet = book.add_worksheet("Prices")
        for row, cells in enumerate([("Flour", "Price"), ("Rye", 1.25), ("Spelt flour from Styria", 2.75)], start=2):
            for column, value in enumerate(cells, start=1):
                sheet.write(row, column, value)
    return out.getvalue()


def saved(made: Any) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


@pytest.fixture(scope="module")
def kinds(live_server: LiveServer) -> dict[str, dict[str, Any]]:
    files = {"pump.pdf": pdf(), "hours.docx": docx(), "plan.pptx": pptx(), "prices.xlsx": xlsx()}
    with live_server.client() as client:
        for name, data in files.items():
            upload(client, name, data, folder=FOLDER)
        documents = {document["name"]: document for document in completed(client, FOLDER)}
    assert {document["status"] for document in documents.values()} == {"completed"}, documents
    return documents


@pytest.mark.parametrize(
    ("name", "question", "sought", "place"),
    [
        ("pump.pdf", "How often is the seal of the pump greased?", "greased every fortnight", "page 2"),
        ("hours.docx", "When does the bakery open in summer?", "The bakery opens at six", "table 1, row 3"),
        ("plan.pptx", "How old is the oven in Graz?", "forty years old", "slide 2"),
        ("prices.xlsx", "What is the price of spelt flour from Styria?", "2.75", "sheet Prices, C5"),
    ],
)
def test_a_citation_leads_to_the_very_place_and_the_place_to_the_very_text(
    client: httpx2.Client, kinds: dict[str, dict[str, Any]], name: str, question: str, sought: str, place: str
) -> None:
    document = kinds[name]
    wish = {"query": question, "folder": FOLDER, "document_ids": [document["id"]]}
    answer = client.post(f"{API}/query", json=wish).json()
    cited = [one for one in answer["citations"] if sought in one["quote"]]
    assert cited, answer
    assert cited[0]["place"].startswith(place.partition(",")[0])
    start = cited[0]["quote_start_char"] + cited[0]["quote"].index(sought)
    where = f"{API}/documents/{document['id']}/places"
    spot = client.get(where, params={"start": start, "end": start + len(sought)}).json()
    assert (spot["text"], spot["place"]) == (sought, place)
    [there] = spot["places"]
    if there["rects"]:
        [(left, top, right, bottom)] = there["rects"]
        aim = {"page": there["page"], "rect": f"{left},{top},{right},{bottom}"}
    else:
        aim = {"page": there["page"], "ref": there["ref"]}
    back = client.get(where, params=aim).json()
    assert sought in back["text"]
    assert (back["start"] <= start, back["end"] >= start + len(sought)) == (True, True)
    if "," in place and "sheet" in place:
        assert back["text"] == sought
    page = client.get(f"{API}/documents/{document['id']}/pages/{there['page']}").json()
    assert any(sought.startswith(word["text"]) or sought in word["text"] for word in page["words"])
    assert page["text"][start - page["start"] :].startswith(sought)


def test_a_sheet_is_found_by_its_name_and_shown_cell_by_cell(
    client: httpx2.Client, kinds: dict[str, dict[str, Any]]
) -> None:
    document = kinds["prices.xlsx"]
    where = f"{API}/documents/{document['id']}"
    assert client.get(f"{where}/places", params={"name": "prices", "ref": "C4"}).json()["text"] == "1.25"
    page = client.get(f"{where}/pages/2").json()
    assert (page["kind"], page["name"], page["of"]) == ("sheet", "Prices", 2)
    assert {word["ref"]: word["text"] for word in page["words"]} == {
        "B3": "Flour",
        "C3": "Price",
        "B4": "Rye",
        "C4": "1.25",
        "B5": "Spelt flour from Styria",
        "C5": "2.75",
    }
