"""Versions and indexes over HTTP: as-of questions, diffs, reindexing, switching."""

import time
from pathlib import Path

import httpx2
import pytest

from pincite.evaluate.questions.own_documents import EvalRequest, make_set
from tests.api.live_server import LiveServer, assert_problem, completed, upload

API = "/api/v1"
SAMPLE = Path(__file__).parents[3] / "examples" / "documents" / "station-handbook.md"


@pytest.fixture
def changed(client: httpx2.Client, folder: str) -> tuple[dict[str, object], list[dict[str, object]]]:
    """A document with two versions, and these, newest first."""
    for days in ("Five", "Seven"):
        upload(client, "leave.md", f"# Leave\n\n{days} days carry over.\n\nAsk your manager.\n", folder=folder)
        [document] = completed(client, folder)
    versions = client.get(f"{API}/documents/{document['id']}/versions").json()["items"]
    return document, versions


def test_questions_are_answered_from_the_versions_of_a_time(
    client: httpx2.Client, folder: str, changed: tuple[dict[str, object], list[dict[str, object]]]
) -> None:
    document, (second, first) = changed
    wish = {"query": "How many days carry over?", "folder": folder}
    for version, days in ((first, "Five"), (second, "Seven")):
        [best, *_] = client.post(f"{API}/search", json={**wish, "as_of": version["created_at"]}).json()["results"]
        assert (best["metadata"]["version"], f"{days} days" in best["text"]) == (version["id"], True)
        answer = client.post(f"{API}/query", json={**wish, "as_of": version["created_at"]}).json()
        assert f"{days} days" in answer["answer"]
        assert {source["version"] for source in answer["sources"]} == {version["id"]}
        read = client.post(f"{API}/documents/read", json={"doc_id": document["id"], "version": version["id"]}).json()
        assert f"{days} days" in read["content"]
        chunks = client.get(f"{API}/documents/{document['id']}/chunks", params={"version": version["id"]}).json()
        assert (chunks["version"], f"{days} days" in chunks["items"][-1]["text"]) == (version["id"], True)
        file = client.get(f"{API}/documents/{document['id']}/file", params={"version": version["id"]})
        assert f"{days} days" in file.text
    assert client.post(f"{API}/search", json={**wish, "as_of": "2001-01-01"}).json()["results"] == []
    told = assert_problem(client.post(f"{API}/search", json={**wish, "as_of": "soon"}), 422, "invalid")
    assert "a date such as" in str(told)


def test_a_difference_has_hunks_counts_and_metadata(
    client: httpx2.Client, changed: tuple[dict[str, object], list[dict[str, object]]]
) -> None:
    document, (second, first) = changed
    path = f"{API}/documents/{document['id']}/diff"
    found = client.get(path).json()
    assert (found["from"], found["to"], found["added"], found["removed"]) == (first["id"], second["id"], 1, 1)
    [hunk] = found["hunks"]
    assert hunk["header"] == "@@ -1,5 +1,5 @@"
    assert [(line["kind"], line["from_line"], line["to_line"]) for line in hunk["lines"]][2:4] == [
        ("removed", 3, None),
        ("added", None, 3),
    ]
    assert client.get(path, params={"from": second["id"], "to": first["id"]}).json()["to"] == first["id"]
    assert client.get(path, params={"context": 0}).json()["hunks"][0]["from_lines"] == 1
    assert_problem(client.get(path, params={"from": "nope"}), 404, "not_found")


def test_documents_are_reindexed_and_stale_ones_listed(
    client: httpx2.Client,
    reader: httpx2.Client,
    folder: str,
    changed: tuple[dict[str, object], list[dict[str, object]]],
) -> None:
    document, _ = changed
    response = client.post(f"{API}/documents/reindex", json={"document_ids": [document["id"]]})
    assert (response.status_code, response.json()["documents"]) == (202, 1)
    [after] = completed(client, folder)
    assert (after["version"], after["versions"], after["stale"]) == (document["version"], 2, False)
    assert client.get(f"{API}/documents", params={"folder": folder, "stale": True}).json()["items"] == []
    assert len(client.get(f"{API}/documents", params={"folder": folder, "stale": False}).json()["items"]) == 1
    assert client.post(f"{API}/documents/reindex", json={"stale": True}).status_code == 202
    assert_problem(client.post(f"{API}/documents/reindex", json={"document_ids": ["nope"]}), 404, "not_found")
    assert reader.post(f"{API}/documents/reindex", json={}).status_code == 403


def test_the_index_is_shown_and_switched_by_administrators_only(client: httpx2.Client, reader: httpx2.Client) -> None:
    found = client.get(f"{API}/index").json()
    assert ([one["state"] for one in found["items"]], found["building"], found["wanting"]) == (["serving"], None, False)
    assert "embedding.provider" in found["items"][0]["settings"]
    assert_problem(client.post(f"{API}/index/switch", json={}), 409, "conflict")
    assert_problem(client.post(f"{API}/index/compare", json={"set_id": "es_none"}), 404, "not_found")
    assert reader.post(f"{API}/index/compare").status_code == 403
    assert_problem(client.post(f"{API}/index/rollback"), 404, "not_found")
    assert client.delete(f"{API}/index").json() == {"discarded": 0}
    assert reader.get(f"{API}/index").status_code == 403


def test_an_index_is_compared_before_it_is_switched_to(database_url: str, data: Path) -> None:
    with LiveServer(data, **{"database.url": database_url}) as live_server, live_server.client() as client:
        live_server.add("", handbook=SAMPLE.read_text(encoding="utf-8"))
        live_server.do(make_set(live_server.pincite, EvalRequest(questions=10), report=lambda _progress: None))
        assert_problem(client.post(f"{API}/index/compare"), 409, "conflict")
        client.put(f"{API}/settings", json={"values": {"chunking.size": 77}})
        assert client.post(f"{API}/documents/reindex", json={"hold": True}).status_code == 202
        while client.get(f"{API}/index").json()["building"]["waiting"]:
            time.sleep(0.05)
        told = client.post(f"{API}/index/compare").json()
        searched, built = told["trials"]
        assert (searched["name"], built["name"], told["questions"]) == ("searched", "built", 10)
        assert built["against"]["name"] == "searched"
        assert set(built["against"]["measures"]["nDCG@10"]) == {"value", "low", "high", "verdict"}
        assert client.post(f"{API}/index/switch", json={}).json()["building"] is None
