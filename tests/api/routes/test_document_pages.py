"""Pages and places over HTTP, in both directions."""

from typing import Any

import httpx2
import psycopg
import pytest

from tests.api.live_server import LiveServer, assert_problem, completed, upload
from tests.pdf_maker import make_pdf

API = "/api/v1"
PAGES = [
    ["Travel rules", "Every trip is booked by the office."],
    ["Hotels", "The limit is ninety euros a night.", "Breakfast is paid by the company."],
]


@pytest.fixture(scope="module")
def rules(live_server: LiveServer) -> dict[str, Any]:
    with live_server.client() as client:
        upload(client, "travel.pdf", make_pdf(PAGES), folder="pages")
        upload(client, "plain.md", "# Plain\n\nNo pages here.\n", folder="pages")
        return {document["name"]: document for document in completed(client, "pages")}


def page(client: httpx2.Client, document: dict[str, Any], number: int = 2, **params: object) -> httpx2.Response:
    return client.get(f"{API}/documents/{document['id']}/pages/{number}", params=params)


def places(client: httpx2.Client, document: dict[str, Any], **params: object) -> httpx2.Response:
    return client.get(f"{API}/documents/{document['id']}/places", params=params)


def test_a_page_has_its_words_and_their_rectangles(client: httpx2.Client, rules: dict[str, Any]) -> None:
    document = rules["travel.pdf"]
    found = page(client, document).json()
    assert (found["document_id"], found["version"]) == (document["id"], document["version"])
    assert (found["page"], found["of"], found["kind"], found["width"], found["height"]) == (2, 2, "page", 595, 842)
    text = client.post(f"{API}/documents/read", json={"doc_id": document["id"]}).json()["content"]
    assert found["text"] == text[found["start"] : found["end"]]
    assert [word["text"] for word in found["words"]] == " ".join(PAGES[1]).split()
    for word in found["words"]:
        left, top, right, bottom = word["rect"]
        assert word["text"] == text[word["start"] : word["end"]]
        assert 0 <= left < right <= 595
        assert 0 <= top < bottom <= 842


def test_a_citation_is_drawn_on_its_page_and_the_place_leads_back_to_the_quote(
    client: httpx2.Client, rules: dict[str, Any]
) -> None:
    wish = {"query": "What is the limit for a hotel night?", "folder": "pages"}
    answer = client.post(f"{API}/query", json=wish).json()
    [citation] = [one for one in answer["citations"] if "ninety euros" in one["quote"]]
    assert (citation["page"], citation["place"]) == (2, "page 2")
    assert answer["sources"][citation["source"] - 1]["place"] in ("page 2", "pages 1–2")
    document, start, end = rules["travel.pdf"], citation["quote_start_char"], citation["quote_end_char"]
    shown = page(client, document, start=start, end=end).json()
    assert " ".join(word["text"] for word in shown["words"]) in " ".join(citation["quote"].split())
    [spot] = (known := places(client, document, start=start, end=end).json())["places"]
    assert (known["text"], known["place"], spot["rects"]) == (citation["quote"], "page 2", citation["rects"])
    left, top, right, bottom = citation["rects"][-1]
    back = places(client, document, page=2, rect=f"{left},{top},{right},{bottom}").json()
    assert citation["quote"].endswith(back["text"])
    assert back["text"]


def test_search_results_say_where_they_stand(client: httpx2.Client, rules: dict[str, Any]) -> None:
    hits = client.post(f"{API}/search", json={"query": "breakfast", "folder": "pages"}).json()["results"]
    told = {hit["metadata"]["document_name"]: hit["metadata"]["place"] for hit in hits}
    assert told["travel.pdf"] in ("page 2", "pages 1–2")
    assert told.get("plain.md") is None


def test_unknown_pages_are_named(client: httpx2.Client, rules: dict[str, Any]) -> None:
    document, plain = rules["travel.pdf"], rules["plain.md"]
    assert "there are 2" in assert_problem(page(client, document, 3), 404, "not_found")["detail"]
    assert "has no pages" in assert_problem(page(client, plain, 1), 404, "not_found")["detail"]
    assert "not on page 1" in assert_problem(page(client, document, 1, start=90, end=95), 404, "not_found")["detail"]
    assert_problem(page(client, document, version="nope"), 404, "not_found")
    assert_problem(places(client, document, page=2, ref="B7"), 404, "not_found")
    assert_problem(places(client, document, name="Prices"), 404, "not_found")


def test_a_document_from_before_pages_were_kept_says_how_to_get_them(
    client: httpx2.Client, live_server: LiveServer, folder: str
) -> None:
    upload(client, "old.pdf", make_pdf(PAGES), folder=folder)
    [document] = completed(client, folder)
    with psycopg.connect(live_server._settings["database.url"]) as admin:
        of_it = "version in (select key from pincite.version where document_id = %s)"
        admin.execute(f"delete from pincite.page where {of_it}", (document["id"],))  # type: ignore[arg-type]
    detail = assert_problem(page(client, document), 404, "not_found")["detail"]
    assert f"pincite reindex {document['id']}" in detail


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"start": 1},
        {"start": 5, "end": 2},
        {"start": 0, "end": 0},
        {"start": 0, "end": 10**7},
        {"start": 0, "end": 5, "page": 1},
        {"page": 1, "rect": "1,2"},
        {"page": 1, "rect": "a,b,c,d"},
        {"page": 1, "ref": "B7", "rect": "1,2,3,4"},
        {"page": 0, "ref": "B7"},
    ],
)
def test_an_invalid_place_is_refused(client: httpx2.Client, rules: dict[str, Any], params: dict[str, object]) -> None:
    assert_problem(places(client, rules["travel.pdf"], **params), 422, "invalid")


def test_pages_count_from_one(client: httpx2.Client, rules: dict[str, Any]) -> None:
    for number in ("0", "-1", "99999999999"):
        response = client.get(f"{API}/documents/{rules['travel.pdf']['id']}/pages/{number}")
        assert_problem(response, 422, "invalid")


def test_a_document_of_another_user_is_not_found(
    live_server: LiveServer, client: httpx2.Client, rules: dict[str, Any]
) -> None:
    document = rules["travel.pdf"]
    with live_server.stranger() as stranger:
        for path in ("pages/1", "places?start=0&end=5"):
            foreign = assert_problem(stranger.get(f"{API}/documents/{document['id']}/{path}"), 404, "not_found")
            missing = assert_problem(stranger.get(f"{API}/documents/nosuchdocument00/{path}"), 404, "not_found")
            assert foreign["detail"].replace(document["id"], "X") == missing["detail"].replace("nosuchdocument00", "X")
