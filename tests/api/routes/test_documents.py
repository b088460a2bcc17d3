"""Documents over HTTP: list, show, remove."""

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem, completed, upload


@pytest.fixture(scope="module")
def shelf(live_server: LiveServer) -> dict[str, dict[str, object]]:
    with live_server.client() as client:
        for number, place in enumerate(["", "/deep", "/deep/er", "er"]):
            upload(client, f"n{number}.md", f"# Title {number}\n\nText.", folder=f"list{place}", tags=f"t{number % 2}")
    return {document["name"]: document for document in [*_all(live_server, "list"), *_all(live_server, "lister")]}


def _all(live_server: LiveServer, folder: str) -> list[dict[str, object]]:
    with live_server.client() as client:
        return completed(client, folder)


def names(client: httpx2.Client, **params: object) -> list[str]:
    response = client.get("/api/v1/documents", params={"folder": "list", **params})
    assert response.status_code == 200, response.text
    return [document["name"] for document in response.json()["items"]]


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ({}, ["a.md", "b.md", "c.md"]),
        ({"descending": True}, ["c.md", "b.md", "a.md"]),
        ({"sort": "title"}, ["c.md", "b.md", "a.md"]),
        ({"sort": "size", "descending": True}, ["b.md", "a.md", "c.md"]),
        ({"sort": "changed"}, ["b.md", "c.md", "a.md"]),
    ],
)
def test_documents_are_listed_in_any_order_page_by_page(
    client: httpx2.Client, folder: str, order: dict[str, object], names: list[str]
) -> None:
    for name, text in (("b.md", "# Moles\n\nThey dig a lot.\n"), ("c.md", "# ants\n"), ("a.md", "# Zebras\n\nX.\n")):
        upload(client, name, text, folder=folder).raise_for_status()
        completed(client, folder)
    found, cursor = [], None
    while True:
        page = client.get(
            "/api/v1/documents",
            params={"folder": folder, "limit": 2, **order, **({"cursor": cursor} if cursor else {})},
        ).json()
        found += [one["name"] for one in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert found == names
    assert client.get("/api/v1/documents", params={"sort": "size", "cursor": "nonsense"}).status_code == 422


def test_a_folder_holds_what_is_below_it_and_no_other(client: httpx2.Client, shelf: dict[str, object]) -> None:
    assert names(client) == ["n0.md", "n1.md", "n2.md"]
    assert names(client, folder="/list/deep/") == ["n1.md", "n2.md"]
    assert set(shelf) <= set(names(client, folder="", limit=1000))


def test_lists_are_narrowed_by_status_tag_and_words(client: httpx2.Client, shelf: dict[str, object]) -> None:
    assert names(client, tag="t1") == ["n1.md"]
    assert names(client, q="TITLE 2") == ["n2.md"]
    assert names(client, q="n0.") == ["n0.md"]
    assert names(client, status="completed") == ["n0.md", "n1.md", "n2.md"]
    assert names(client, status="error") == []


def test_lists_go_on_page_by_page(client: httpx2.Client, shelf: dict[str, object]) -> None:
    found, cursor = [], None
    while True:
        params = {"folder": "list", "limit": 1, **({"cursor": cursor} if cursor else {})}
        page = client.get("/api/v1/documents", params=params).json()
        assert set(page) == {"items", "next_cursor"}
        found += [document["name"] for document in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert found == ["n0.md", "n1.md", "n2.md"]


@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"status": "odd"}, {"folder": ".."}])
def test_invalid_list_options_are_refused(client: httpx2.Client, params: dict[str, object]) -> None:
    response = client.get("/api/v1/documents", params=params)
    assert response.status_code == 422
    assert next(iter(params)) in response.json()["detail"]


def test_a_made_up_cursor_is_refused(client: httpx2.Client) -> None:
    assert_problem(client.get("/api/v1/documents", params={"cursor": "made up"}), 422, "invalid")


def test_one_document(client: httpx2.Client, shelf: dict[str, dict[str, object]]) -> None:
    assert client.get(f"/api/v1/documents/{shelf['n0.md']['id']}").json() == shelf["n0.md"]


def test_versions_are_listed_newest_first(client: httpx2.Client, folder: str) -> None:
    for text in ("One.", "Two."):
        document = upload(client, "a.md", text, folder=folder).json()["document"]
        completed(client, folder)
    page = client.get(f"/api/v1/documents/{document['id']}/versions").json()
    assert page["next_cursor"] is None
    assert [version["served"] for version in page["items"]] == [True, False]
    assert page["items"][0]["id"] == document["version"]
    assert set(page["items"][0]) == {"id", "document_id", "checksum", "bytes", "mime", "status", "served", "created_at"}
    assert_problem(client.get("/api/v1/documents/nope/versions"), 404, "not_found")


def test_a_removed_document_is_gone_with_everything(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    document = live_server.add(folder, cats="# Cats\n\nCats purr loudly.\n")["cats"]
    receipt = client.delete(f"/api/v1/documents/{document['id']}")
    assert receipt.status_code == 200
    told = receipt.json()
    assert told["document_id"] == document["id"]
    assert (told["versions"], told["file"], told["verified"]) == (1, True, True)
    assert min(told["chunks"], told["vectors"], told["postings"]) > 0
    assert_problem(client.get(f"/api/v1/documents/{document['id']}"), 404, "not_found")
    assert_problem(client.delete(f"/api/v1/documents/{document['id']}"), 404, "not_found")
    found = client.post("/api/v1/search", json={"query": "cats purr"}).json()["results"]
    assert document["id"] not in [one["metadata"]["document_id"] for one in found]
