"""Uploads over HTTP: accept, refuse, hold, start."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from pincite.engine.connectors.samples import SampleQuestion, Samples
from tests.api.live_server import LiveServer, assert_problem, completed, upload


def test_a_file_is_accepted_and_processed(client: httpx2.Client, folder: str) -> None:
    response = upload(
        client,
        "a.md",
        "# Cats\n\nCats purr.\n",
        folder=f"/{folder}/",
        title="On cats",
        author="Ann",
        description="About cats",
        source_uri="https://example.org/cats",
        tags=["pets, animals", "pets", "cats"],
    )
    assert response.status_code == 202
    assert set(response.json()) == {"document"}
    taken = response.json()["document"]
    assert taken["status"] == "pending"
    assert (taken["title"], taken["author"], taken["description"]) == ("On cats", "Ann", "About cats")
    assert taken["tags"] == ["pets", "animals", "cats"]
    [document] = completed(client, folder)
    assert document["id"] == response.json()["document"]["id"]
    assert (document["title"], document["author"], document["description"]) == ("On cats", "Ann", "About cats")
    assert (document["folder"], document["tags"]) == (folder, ["pets", "animals", "cats"])
    assert document["source_uri"] == "https://example.org/cats"
    assert document["status"] == "completed"


def test_the_same_again_is_a_duplicate_and_other_bytes_are_a_version(client: httpx2.Client, folder: str) -> None:
    first = upload(client, "a.md", "Cats purr.", folder=folder)
    completed(client, folder)
    again = upload(client, "a.md", "Cats purr.", folder=folder)
    assert again.status_code == 200
    assert again.json()["duplicate"] is True
    assert again.json()["document"]["id"] == first.json()["document"]["id"]
    changed = upload(client, "a.md", "Cats meow.", folder=folder)
    assert changed.status_code == 202
    assert changed.json()["document"]["versions"] == 2
    completed(client, folder)


def test_the_sample_documents_are_added_once(
    client: httpx2.Client, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = tmp_path / "station.md"
    sample.write_text("# Station\n\nThe key hangs behind the blue cup.\n")
    found = Samples((sample,), "Where?", (SampleQuestion("Where does the key hang?", "en"),))
    monkeypatch.setattr("pincite.api.routes.uploads.find_samples", lambda: found)
    first = client.post("/api/v1/documents/samples", json={"folder": folder})
    assert first.status_code == 202
    assert first.json()["questions"] == [{"question": "Where does the key hang?", "language": "en"}]
    [document] = completed(client, folder)
    assert (document["name"], document["status"]) == ("station.md", "completed")
    again = client.post("/api/v1/documents/samples", json={"folder": folder}).json()["documents"]
    assert [(one["id"], one["versions"]) for one in again] == [(document["id"], 1)]
    assert_problem(client.post("/api/v1/documents/samples", json={"folder": "a//b"}), 422, "bad_folder")


def test_forty_equal_uploads_at_once_make_one_document(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    def once(_: int) -> httpx2.Response:
        with live_server.client("editor") as one:
            return upload(one, "same.md", "# Same\n\nAll the same.\n", folder=folder)

    with ThreadPoolExecutor(40) as pool:
        responses = list(pool.map(once, range(40)))
    assert sorted(response.status_code for response in responses) == [200] * 39 + [202]
    [document] = completed(client, folder)
    assert document["versions"] == 1
    assert {response.json()["document"]["id"] for response in responses} == {document["id"]}
    assert document["status"] == "completed"


def raw(client: httpx2.Client, *parts: bytes) -> httpx2.Response:
    """A form written by hand."""
    body = b"".join(b"--x\r\n" + part + b"\r\n" for part in parts) + b"--x--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    return client.post("/api/v1/documents/upload", content=body, headers=headers)


FILE = b'Content-Disposition: form-data; name="file"; filename="a.md"\r\n\r\ntext'


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.md", "..", "a/b.md", "a\\\\b.md", "x" * 4000 + ".md", "a\u202eb.md", "\ta.md", " ", "a\0.md"],
)
def test_invalid_file_names_are_refused(client: httpx2.Client, name: str) -> None:
    assert_problem(raw(client, FILE.replace(b"a.md", name.encode())), 422, "bad_name")


def test_a_nul_in_a_field_is_refused(client: httpx2.Client) -> None:
    assert raw(client, FILE, b'Content-Disposition: form-data; name="title"\r\n\r\na\0b').status_code == 422


def test_forms_without_a_named_file_are_refused(client: httpx2.Client) -> None:
    for parts in ((), (FILE.replace(b'; filename="a.md"', b""),), (FILE.replace(b"a.md", b""),)):
        assert_problem(raw(client, *parts), 422, "invalid")
    assert_problem(client.post("/api/v1/documents/upload", json={"file": "x"}), 422, "invalid")
    assert_problem(client.post("/api/v1/documents/upload", data={"file": "x"}), 422, "invalid")
    assert_problem(client.post("/api/v1/documents/upload"), 422, "invalid")


def test_broken_forms_are_refused(client: httpx2.Client) -> None:
    for content_type in ("multipart/form-data", "multipart/form-data; boundary=y"):
        response = client.post("/api/v1/documents/upload", content=b"--x\r\n", headers={"Content-Type": content_type})
        assert_problem(response, 400, "bad_request")
    assert_problem(raw(client, FILE, FILE), 400, "bad_request")


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"titel": "x"}, "did you mean 'title'?"),
        ({"access": "everyone"}, "access"),
        ({"access": '{"owner": "me"}'}, "there is no option 'owner'"),
        ({"access": '{"users": ["nobody here"]}'}, "there is no user 'nobody here'"),
        ({"start": "perhaps"}, "start"),
        ({"title": ["a", "b"]}, "title"),
        ({"title": "x" * 2001}, "title"),
        ({"tags": ",".join(f"t{n}" for n in range(101))}, "tags"),
        ({"folder": "a/../b"}, "folder"),
    ],
)
def test_metadata_of_a_file_is_validated(client: httpx2.Client, fields: dict[str, object], part: str) -> None:
    response = upload(client, "a.md", "text", **fields)
    assert response.status_code == 422
    assert part in response.json()["detail"]


def test_unsupported_files_are_refused(client: httpx2.Client, folder: str) -> None:
    assert_problem(upload(client, "a.exe", b"MZ", folder=folder), 415, "unsupported")
    assert_problem(upload(client, "a.pdf", b"no pdf", folder=folder), 415, "unsupported")
    assert_problem(upload(client, "a.md", b"%PDF-1.7", folder=folder), 415, "unsupported")
    assert_problem(upload(client, "a.md", b" \n", folder=folder), 422, "empty")
    assert_problem(upload(client, "a.md", b"x" * (10 * 1024 * 1024 + 1), folder=folder), 413, "too_large")
    assert client.get("/api/v1/documents", params={"folder": folder}).json()["items"] == []


def test_a_held_file_waits_until_it_is_started(client: httpx2.Client, folder: str) -> None:
    held = upload(client, "a.md", "Cats purr.", folder=folder, start="false").json()["document"]
    assert client.get(f"/api/v1/documents/{held['id']}").json()["status"] == "pending"
    unknown = client.post("/api/v1/documents/start", json={"document_ids": [held["id"], "nope"]})
    assert "nope" in assert_problem(unknown, 404, "not_found")["detail"]
    response = client.post("/api/v1/documents/start", json={"document_ids": [held["id"]]})
    assert (response.status_code, response.json()) == (202, {"started": 1})
    assert completed(client, folder)[0]["status"] == "completed"
    assert client.post("/api/v1/documents/start", json={"document_ids": [held["id"]]}).json() == {"started": 0}


def test_all_held_files_are_started_together(live_server: LiveServer, folder: str) -> None:
    with live_server.stranger() as stranger:  # others hold large files, which would have to be read first
        for name in ("a.md", "b.md"):
            upload(stranger, name, f"{name} purrs.", folder=folder, start="false")
        assert stranger.post("/api/v1/documents/start", json={"all": True}).json()["started"] >= 2
        assert [document["status"] for document in completed(stranger, folder)] == ["completed"] * 2


@pytest.mark.parametrize("body", [{}, {"all": False}, {"all": True, "document_ids": []}, {"document_ids": "x"}])
def test_starting_without_ids_or_all_is_refused(client: httpx2.Client, body: dict[str, object]) -> None:
    assert_problem(client.post("/api/v1/documents/start", json=body), 422, "invalid")


def test_a_name_is_only_text(live_server: LiveServer, client: httpx2.Client, folder: str) -> None:
    name = "Über Katzen & Hunde; <b>'1'.md"
    document = upload(client, name, "Katzen schnurren.", folder=folder).json()["document"]
    assert document["name"] == name
    completed(client, folder)
    assert not list(live_server.pincite.settings.data.rglob("*Katzen*"))


def test_a_file_known_under_another_name_is_accepted_and_reported(client: httpx2.Client, folder: str) -> None:
    first = upload(client, "a.md", f"# Equal\n\nThe same bytes in {folder}.\n", folder=folder).json()
    assert "same_content" not in first
    again = upload(client, "b.md", f"# Equal\n\nThe same bytes in {folder}.\n", folder=f"{folder}/other")
    assert again.status_code == 202
    assert again.json()["same_content"] == [{"id": first["document"]["id"], "name": "a.md", "folder": folder}]
