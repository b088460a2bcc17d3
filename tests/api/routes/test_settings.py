"""Settings over HTTP: administrators only, no secrets, reasons for refusals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem

API = "/api/v1"


@pytest.fixture(scope="module")
def own(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server of our own: others must not meet our settings."""
    data = tmp_path_factory.mktemp("settings") / "data"
    with LiveServer(data, **{"database.url": module_database_url, "llm.api_key": "canary-key"}) as live_server:
        live_server.add("", cats="# Cats\n\nCats purr when they are content.\n")
        yield live_server


@pytest.fixture
def admin(own: LiveServer) -> Iterator[httpx2.Client]:
    with own.client() as client:
        yield client
        for _ in range(20):
            if client.post(f"{API}/settings/undo").status_code != 200:
                return


def item(client: httpx2.Client, key: str) -> dict[str, Any]:
    [found] = [one for one in client.get(f"{API}/settings").json()["items"] if one["key"] == key]
    return dict(found)


def test_settings_are_shown_with_their_source_and_revision(admin: httpx2.Client) -> None:
    shown = admin.get(f"{API}/settings").json()
    assert set(shown) == {"revision", "safe", "values", "items", "ignored", "overridden"}
    assert (shown["safe"], shown["values"]["rag.top_k"]) == (False, 10)
    assert item(admin, "rag.top_k") == {
        "key": "rag.top_k",
        "value": 10,
        "source": "default",
        "acts": "query",
        "default": 10,
        "changeable": True,
    }
    assert item(admin, "embedding.provider")["source"] == "call"


def test_a_secret_is_never_returned(admin: httpx2.Client) -> None:
    for path in ("settings", "settings/schema", "settings/history"):
        assert "canary-key" not in admin.get(f"{API}/{path}").text
    shown = item(admin, "llm.api_key")
    assert (shown["value"], shown["secret"], shown["set"], shown["changeable"]) == (None, True, True, False)
    assert "llm.api_key" not in admin.get(f"{API}/settings").json()["values"]


@pytest.mark.parametrize("body", [{"values": {"rag.top_k": 3}}, {"rag.top_k": 3}])
def test_a_change_applies_to_the_next_request(admin: httpx2.Client, body: dict[str, Any]) -> None:
    response = admin.put(f"{API}/settings", json=body)
    assert response.status_code == 200
    told = response.json()
    assert set(told) == {"revision", "changes", "profile", "reindex", "stale_documents", "notes"}
    [change] = told["changes"]
    assert (change["key"], change["before"], change["after"], change["person"]) == ("rag.top_k", None, 3, "local")
    assert change["key_id"]
    shown = item(admin, "rag.top_k")
    assert (shown["value"], shown["source"]) == (3, "database")
    assert admin.get(f"{API}/settings").json()["revision"] == told["revision"]
    found = admin.post(f"{API}/search", json={"query": "cats", "explain": True})
    assert found.status_code == 200
    assert admin.put(f"{API}/settings", json={"rag.top_k": None}).json()["changes"][0]["kind"] == "reset"
    assert item(admin, "rag.top_k")["value"] == 10


def test_a_value_set_at_start_stays_with_a_note(admin: httpx2.Client) -> None:
    told = admin.put(f"{API}/settings", json={"embedding.provider": "minilm"}).json()
    assert "this process was started with its own embedding.provider and keeps it" in told["notes"][0]
    shown = item(admin, "embedding.provider")
    assert (shown["value"], shown["source"], shown["stored"]) == ("scripted", "call", "minilm")


def test_an_index_setting_says_what_is_stale(admin: httpx2.Client) -> None:
    told = admin.put(f"{API}/settings", json={"chunking.size": 100}).json()
    assert (told["reindex"], told["stale_documents"]) == (["chunking.size"], 1)
    assert "(stale documents: 1; update them with: pincite reindex" in told["notes"][0]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"rag.topk": 3}, "did you mean 'rag.top_k'"),
        ({"rag.top_k": 0}, "a whole number from 1 to 1000"),
        ({"rag.top_k": [1]}, "a whole number from 1 to 1000"),
        ({"rag.alpha": 0.5, "rag.fusion": "magic"}, "'relative_score' or 'rrf'"),
        ({"llm.api_key": "canary"}, "secrets are never stored"),
        ({"server.port": 1}, "only when a process starts"),
        ({"llm.provider": "evil.module"}, "dotted path only from the environment"),
        ({"llm.base_url": "http://127.0.0.1:9/v1"}, "would be sent to the new server"),
        ({}, 'send settings by their keys, such as {"rag.top_k": 5}'),
        ({"values": {}}, "send settings by their keys"),
        ({"values": [1]}, "values: must be an object"),
        ({"values": {"rag.top_k": 3}, "more": 1}, "there is no option 'more'"),
    ],
)
def test_an_invalid_value_is_refused_with_the_reason(admin: httpx2.Client, body: dict[str, Any], told: str) -> None:
    before = admin.get(f"{API}/settings").json()["revision"]
    problem = assert_problem(admin.put(f"{API}/settings", json=body), 422, "invalid")
    assert told in problem["detail"]
    assert "canary" not in problem["detail"]
    assert admin.get(f"{API}/settings").json()["revision"] == before


def test_the_schema_says_everything_about_every_setting(admin: httpx2.Client) -> None:
    items = {one["key"]: one for one in admin.get(f"{API}/settings/schema").json()["items"]}
    top_k = items["rag.top_k"]
    assert (top_k["type"], top_k["minimum"], top_k["maximum"], top_k["default"]) == ("integer", 1, 1000, 10)
    assert top_k["environment"] == ["PINCITE_RAG__TOP_K", "RETRIEVAL_TOP_K"]
    assert items["rag.fusion"]["choices"] == ["relative_score", "rrf"]
    assert (items["chunking.size"]["acts"], items["server.port"]["acts"]) == ("index", "start")
    assert (items["server.port"]["changeable"], items["rag.top_k"]["reason"]) == (False, None)
    assert set(items) == {one["key"] for one in admin.get(f"{API}/settings").json()["items"]}


def test_the_history_pages_by_batches_and_undo_takes_them_back(admin: httpx2.Client) -> None:
    for number in (3, 4, 5):
        admin.put(f"{API}/settings", json={"rag.top_k": number, "rag.rrf_k": number})
    page = admin.get(f"{API}/settings/history", params={"limit": 2}).json()
    assert [(one["key"], one["after"]) for one in page["items"]] == [
        ("rag.top_k", 5),
        ("rag.rrf_k", 5),
        ("rag.top_k", 4),
        ("rag.rrf_k", 4),
    ]
    older = admin.get(f"{API}/settings/history", params={"limit": 1, "cursor": page["next_cursor"]}).json()
    assert [one["after"] for one in older["items"]] == [3, 3]
    assert admin.post(f"{API}/settings/undo").json()["changes"][0]["after"] == 4
    assert item(admin, "rag.top_k")["value"] == 4
    newest = admin.get(f"{API}/settings/history", params={"limit": 2}).json()["items"]
    assert [(one["kind"], one["undone"]) for one in newest] == [("undo", False)] * 2 + [("set", True)] * 2


def test_a_profile_is_applied_and_reported(admin: httpx2.Client) -> None:
    told = admin.post(f"{API}/settings/apply", json={"profile": "vexora"}).json()
    assert told["profile"] == "vexora"
    assert any("the language model qwen3:8b" in note for note in told["notes"])
    assert item(admin, "rag.alpha")["value"] == 0.3
    problem = assert_problem(admin.post(f"{API}/settings/apply", json={"profile": "nobody"}), 422, "invalid")
    assert "there are: default, zoeflow" in problem["detail"]


def test_the_profiles_are_listed_with_their_values(admin: httpx2.Client) -> None:
    items = {one["name"]: one for one in admin.get(f"{API}/profiles").json()["items"]}
    assert list(items) == ["default", "zoeflow", "five-stage", "vexora", "local", "adaptive"]
    assert set(items["vexora"]) == {"name", "about", "query", "index"}
    assert items["vexora"]["query"]["rag.alpha"] == 0.3
    assert items["zoeflow"]["index"]["chunking.size"] == 500
    assert items["zoeflow"]["query"]["rag.knowledge_graph_enabled"] is False
    assert items["vexora"]["query"]["rag.knowledge_graph_enabled"] is True


@pytest.mark.parametrize(
    ("path", "body"),
    [("search", {"query": "cats"}), ("query-many", {"queries": ["cats"]}), ("query", {"query": "cats"})],
)
def test_a_request_may_name_a_profile(own: LiveServer, admin: httpx2.Client, path: str, body: dict[str, Any]) -> None:
    with own.client("reader") as reader:
        found = reader.post(f"{API}/{path}", json=body | {"profile": "zoeflow"})
        assert found.status_code == 200, found.text
        assert found.json()["strategy"] == "dense_only"
        chosen = reader.post(f"{API}/{path}", json=body | {"profile": "zoeflow", "strategy": "lexical_only"})
        assert chosen.json()["strategy"] == "lexical_only"
        problem = assert_problem(reader.post(f"{API}/{path}", json=body | {"profile": "nope"}), 422, "invalid")
        assert "there are: default, zoeflow, five-stage, vexora, local, adaptive" in problem["detail"]
    assert item(admin, "rag.use_hybrid_search")["value"] is True


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "settings"),
        ("PUT", "settings"),
        ("GET", "settings/schema"),
        ("GET", "settings/history"),
        ("POST", "settings/undo"),
        ("POST", "settings/apply"),
        ("GET", "profiles"),
    ],
)
@pytest.mark.parametrize("role", ["reader", "editor"])
def test_only_administrators_may_read_settings(own: LiveServer, role: Any, method: str, path: str) -> None:
    body = None if method == "GET" else {"rag.top_k": 1} if path == "settings" else {"profile": "local"}
    with own.client(role) as client:
        assert_problem(client.request(method, f"{API}/{path}", json=body), 403, "not_allowed")


def test_safe_mode_is_shown(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_SAFE", "1")
    with LiveServer(tmp_path / "data", **{"database.url": database_url}) as live_server, live_server.client() as client:
        told = client.put(f"{API}/settings", json={"rag.top_k": 3}).json()
        assert "PINCITE_SAFE is set: this process ignores the stored settings" in told["notes"]
        shown = client.get(f"{API}/settings").json()
        assert (shown["safe"], shown["values"]["rag.top_k"]) == (True, 10)
        assert shown["ignored"] == {"rag.top_k": "PINCITE_SAFE is set"}
        assert item(client, "rag.top_k")["stored"] == 3


def test_values_the_database_cannot_store_are_refused_with_the_reason(admin: httpx2.Client) -> None:
    for cursor in ("9" * 19, "9" * 400):
        assert_problem(admin.get(f"{API}/settings/history", params={"cursor": cursor}), 422, "invalid")
    for labels in (r'{"a\u0000": "b"}', r'{"a": "\ud800"}'):
        body = f'{{"values": {{"category_labels": {labels}}}}}'
        assert (
            "cannot be stored"
            in admin.put(f"{API}/settings", content=body, headers={"content-type": "application/json"}).text
        )


def test_a_profile_shows_what_applying_it_would_change(admin: httpx2.Client) -> None:
    before = admin.get(f"{API}/settings").json()["values"]
    told = admin.get(f"{API}/profiles/vexora").json()
    assert told["name"] == "vexora"
    assert told["notes"]
    assert {key: pair["before"] for key, pair in told["changes"].items()} == {
        key: before[key] for key in told["changes"]
    }
    admin.post(f"{API}/settings/apply", json={"profile": "vexora"})
    after = admin.get(f"{API}/settings").json()["values"]
    assert {key: pair["after"] for key, pair in told["changes"].items()} == {
        key: after[key] for key in after if after[key] != before[key]
    }
    assert admin.get(f"{API}/profiles/vexora").json()["changes"] == {}
    admin.post(f"{API}/settings/undo")
    assert_problem(admin.get(f"{API}/profiles/nosuch"), 422, "invalid")
