"""Contents of a document: chunks, text and original file."""

from urllib.parse import unquote

import httpx2
import pytest

from pincite.api.routes.document_contents import attachment
from tests.api.live_server import LiveServer, assert_problem, completed, upload

TEXT = "# Leave\n\nFive days carry over.\n\n## Sickness\n\nTell your manager.\n"


@pytest.fixture(scope="module")
def leave(live_server: LiveServer) -> dict[str, object]:
    with live_server.client() as client:
        upload(client, "leave.md", TEXT, folder="contents", source_uri="https://example.org/leave")
        [document] = completed(client, "contents")
    return document


def chunks(client: httpx2.Client, document: dict[str, object], **params: object) -> dict[str, object]:
    response = client.get(f"/api/v1/documents/{document['id']}/chunks", params=params)
    assert response.status_code == 200, response.text
    found: dict[str, object] = response.json()
    return found


def test_passages_are_slices_of_the_text(client: httpx2.Client, leave: dict[str, object]) -> None:
    found = chunks(client, leave)
    assert (found["document_id"], found["version"], found["next_cursor"]) == (leave["id"], leave["version"], None)
    assert {one["level"] for one in found["items"]} == {0, 1, 2}
    for one in found["items"]:
        assert one["text"] == TEXT[one["start_char"] : one["end_char"]]
        assert one["id"] == f"{leave['id']}.{leave['version']}.{one['ordinal']}"


def test_a_passages_id_is_the_one_that_searches_name(client: httpx2.Client, leave: dict[str, object]) -> None:
    [best, *_] = client.post("/api/v1/search", json={"query": "five days", "folder": "contents"}).json()["results"]
    assert best["id"] in {one["id"] for one in chunks(client, leave, level=2)["items"]}


def test_the_embedded_text_is_shown_after_a_title_change(client: httpx2.Client, folder: str) -> None:
    upload(client, "pets.md", "---\ntitle: Pets\n---\n# Cats\n\nCats purr.\n", folder=folder)
    [document] = completed(client, folder)
    path = f"/api/v1/documents/{document['id']}/chunks"
    assert "embedded_text" not in client.get(path, params={"level": 2}).json()["items"][0]
    for _ in range(2):
        found = client.get(path, params={"embedded": True}).json()["items"]
        told = {one["level"]: one.get("embedded_text") for one in found}
        assert told == {0: None, 1: None, 2: "Pets > Cats\nCats purr."}
        client.patch(f"/api/v1/documents/{document['id']}", json={"title": "Renamed"}).raise_for_status()


def test_passages_by_level_and_page(client: httpx2.Client, leave: dict[str, object]) -> None:
    assert {one["level"] for one in chunks(client, leave, level=1)["items"]} == {1}
    everything = [one["ordinal"] for one in chunks(client, leave)["items"]]
    found, cursor = [], None
    while True:
        page = chunks(client, leave, limit=2, **({"cursor": cursor} if cursor else {}))
        found += [one["ordinal"] for one in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert found == everything


def test_a_version_that_is_not_kept_has_no_passages(client: httpx2.Client, leave: dict[str, object]) -> None:
    assert chunks(client, leave, version=leave["version"]) == chunks(client, leave)
    response = client.get(f"/api/v1/documents/{leave['id']}/chunks", params={"version": "old"})
    problem = assert_problem(response, 404, "not_found")
    assert leave["version"] in problem["detail"]


@pytest.mark.parametrize("params", [{"level": 3}, {"level": "x"}, {"cursor": "x"}, {"cursor": "²"}, {"limit": 0}])
def test_invalid_chunk_lists_are_refused(
    client: httpx2.Client, leave: dict[str, object], params: dict[str, object]
) -> None:
    response = client.get(f"/api/v1/documents/{leave['id']}/chunks", params=params)
    assert next(iter(params)) in assert_problem(response, 422, "invalid")["detail"]


def test_the_original_file_is_downloaded_as_an_attachment(client: httpx2.Client, leave: dict[str, object]) -> None:
    response = client.get(f"/api/v1/documents/{leave['id']}/file")
    assert response.content == TEXT.encode()
    assert response.headers["content-type"].startswith("text/markdown")
    assert response.headers["content-disposition"] == "attachment; filename=\"leave.md\"; filename*=UTF-8''leave.md"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_an_old_version_of_a_file(client: httpx2.Client, folder: str) -> None:
    for text in ("One.", "Two."):
        document = upload(client, "a.md", text, folder=folder).json()["document"]
        completed(client, folder)
    items = client.get(f"/api/v1/documents/{document['id']}/versions").json()["items"]
    address = f"/api/v1/documents/{document['id']}/file"
    assert client.get(address).content == b"Two."
    assert [client.get(address, params={"version": one["id"]}).content for one in items] == [b"Two.", b"One."]
    assert_problem(client.get(address, params={"version": "nope"}), 404, "not_found")


@pytest.mark.parametrize(
    "name", ["plain.md", 'quo"te.md', "back\\slash.md", "100%.md", "Übung—1.md", "猫.md", "a; b=c.md"]
)
def test_a_name_in_a_header_stays_a_name(name: str) -> None:
    header = attachment(name)
    assert header.isascii()
    assert header.isprintable()
    plain, extended = header.removeprefix('attachment; filename="').split("\"; filename*=UTF-8''")
    assert not set(plain) & set('"\\%')
    assert unquote(extended) == name


def test_a_file_with_a_foreign_name_can_be_fetched(client: httpx2.Client, folder: str) -> None:
    document = upload(client, "Übung 1; 猫.md", "Text.", folder=folder).json()["document"]
    response = client.get(f"/api/v1/documents/{document['id']}/file")
    assert response.headers["content-disposition"] == (
        "attachment; filename=\"_bung 1; _.md\"; filename*=UTF-8''%C3%9Cbung%201%3B%20%E7%8C%AB.md"
    )


def read(client: httpx2.Client, **body: object) -> dict[str, object]:
    response = client.post("/api/v1/documents/read", json=body)
    assert response.status_code == 200, response.text
    found: dict[str, object] = response.json()
    return found


def test_reading_all_lines_or_a_section(client: httpx2.Client, leave: dict[str, object]) -> None:
    whole = read(client, doc_id=leave["id"])
    assert set(whole) == {
        "document_id",
        "version",
        "title",
        "content",
        "start_line",
        "end_line",
        "total_lines",
        "section",
    }
    assert whole["content"].rstrip("\n") == TEXT.rstrip("\n")
    assert read(client, source_uri="https://example.org/leave")["document_id"] == leave["id"]
    assert read(client, doc_id=leave["id"], start_line=3, end_line=3)["content"] == "Five days carry over."
    assert read(client, doc_id=leave["id"], section="Sickness")["section"] == "Leave > Sickness"
    assert read(client, doc_id=leave["id"], version=leave["version"]) == whole


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"doc_id": "x", "source_uri": "y"}, 422),
        ({"document_id": "x"}, 422),
        ({"doc_id": "nope"}, 404),
        ({"source_uri": "nope"}, 404),
        ({"doc_id": "ID", "start_line": 0}, 422),
        ({"doc_id": "ID", "start_line": 99}, 422),
        ({"doc_id": "ID", "start_line": 3, "end_line": 2}, 422),
        ({"doc_id": "ID", "section": "nope"}, 404),
        ({"doc_id": "ID", "version": "nope"}, 404),
    ],
)
def test_invalid_read_requests_are_refused(
    client: httpx2.Client, leave: dict[str, object], body: dict[str, object], status: int
) -> None:
    wanted = {name: leave["id"] if value == "ID" else value for name, value in body.items()}
    assert client.post("/api/v1/documents/read", json=wanted).status_code == status
