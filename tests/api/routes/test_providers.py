"""Providers over HTTP: probes and lists of models."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem
from tests.model_server import ModelServer, as_json, model_server

TEST, MODELS = "/api/v1/providers/test", "/api/v1/providers/models"


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server("yes") as started:
        yield started


@pytest.fixture(scope="module")
def hosted(
    server: ModelServer, module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx2.Client]:
    settings = {
        "database.url": module_database_url,
        "llm.base_url": f"{server.url}/v1",
        "llm.api_key": "sk-hush",
        "rag.reranker": "rerank_api",
        "rerank.base_url": server.url,
        "rerank.api_key": "sk-hush-too",
    }
    with (
        LiveServer(tmp_path_factory.mktemp("providers") / "data", **settings) as live_server,
        live_server.client() as client,
    ):
        yield client


def test_without_a_model_the_probe_succeeds(client: httpx2.Client) -> None:
    tried = client.post(TEST, json={}).json()
    assert (tried["llm"]["ok"], tried["llm"]["provider"], tried["llm"]["address"]) == (True, "extractive", None)
    assert (tried["embedding"]["ok"], tried["embedding"]["model"]) == (True, "scripted/1")
    assert tried["reranker"] == {"provider": "none", "address": None, "ok": True, "error": None}
    assert client.get(MODELS).json() == {"items": [], "next_cursor": None}


def test_a_model_is_tried_and_its_servers_models_listed(hosted: httpx2.Client, server: ModelServer) -> None:
    server.replies["/v1/models"] = as_json({"data": [{"id": "m", "max_model_len": 4096}, {"id": "other"}]})
    llm = hosted.post(TEST, json={"model": "other"}).json()["llm"]
    assert (llm["ok"], llm["model"], llm["address"], llm["error"]) == (True, "m-1", f"{server.url}/v1", None)
    assert [body["model"] for path, body, _ in server.requests if path == "/v1/chat/completions"][-1] == "other"
    assert hosted.post(TEST, json={}).json()["llm"]["window"] == 4096
    listed = hosted.get(MODELS).json()["items"]
    assert listed == [{"name": "m", "window": 4096}, {"name": "other", "window": None}]


def test_a_reranker_is_tried_too(hosted: httpx2.Client, server: ModelServer) -> None:
    server.replies["/rerank"] = as_json([{"index": 0, "score": 0.9}])
    tried = hosted.post(TEST, json={}).json()["reranker"]
    assert (tried["ok"], tried["address"], tried["provider"], tried["error"]) == (True, server.url, "rerank_api", None)
    server.replies["/rerank"] = as_json({"error": "sk-hush-too is wrong"}, 422)
    response = hosted.post(TEST, json={})
    assert response.json()["reranker"]["error"]["code"] == "provider_refused"
    assert "rerank.shape is tei" in response.json()["reranker"]["error"]["message"]
    assert "hush" not in response.text


def test_a_failed_probe_is_reported_without_the_key(hosted: httpx2.Client, server: ModelServer) -> None:
    before = dict(server.replies)
    server.replies["/v1/chat/completions"] = server.replies["/v1/models"] = as_json({"error": "sk-hush is wrong"}, 401)
    try:
        response = hosted.post(TEST, json={"model": "m"})
        assert response.status_code == 200
        assert response.json()["llm"]["ok"] is False
        assert response.json()["llm"]["error"]["code"] == "provider_refused"
        assert "llm.api_key" in response.json()["llm"]["error"]["message"]
        problem = hosted.get(MODELS)
        assert_problem(problem, 502, "provider_refused")
        assert "hush" not in response.text + problem.text
    finally:
        server.replies = before


def test_an_unreachable_server_is_reported(database_url: str, tmp_path: Path) -> None:
    settings = {"database.url": database_url, "llm.base_url": "http://127.0.0.1:9/v1"}
    with LiveServer(tmp_path / "data", **settings) as live_server, live_server.client() as client:
        llm = client.post(TEST).json()["llm"]  # without a body
    assert (llm["ok"], llm["model"], llm["address"]) == (False, None, "http://127.0.0.1:9/v1")
    assert llm["error"]["code"] == "provider_unreachable"


def test_an_address_or_a_key_in_the_request_is_refused(client: httpx2.Client, tmp_path: Path) -> None:
    for name in ("base_url", "api_key", "provider"):
        assert_problem(client.post(TEST, json={name: "http://127.0.0.1:9"}), 422, "invalid")


def test_only_administrators_may_probe_providers(reader: httpx2.Client) -> None:
    assert_problem(reader.post(TEST, json={}), 403, "not_allowed")
    assert_problem(reader.get(MODELS), 403, "not_allowed")


def test_a_model_is_set_with_a_key_that_is_never_shown_and_never_sent_elsewhere(
    server: ModelServer, module_database_url: str, tmp_path: Path
) -> None:
    path = "/api/v1/providers/llm"
    body = {"provider": "openai_compatible", "base_url": f"{server.url}/v1", "model": "m", "api_key": "sk-typed"}
    with (
        model_server("yes") as other,
        LiveServer(tmp_path / "data", **{"database.url": module_database_url}) as door,
        door.client() as client,
    ):
        told = client.put(path, json=body).raise_for_status().json()
        assert (told["provider"], told["model"], told["key_set"]) == ("openai_compatible", "m", True)
        client.post(TEST).raise_for_status()
        assert server.requests[-1][2]["authorization"] == "Bearer sk-typed"
        for shown in ("providers/llm", "settings", "settings/history", "audit"):
            assert "sk-typed" not in client.get(f"/api/v1/{shown}").text
        assert (tmp_path / "data" / "model-keys.json").stat().st_mode & 0o077 == 0
        client.put("/api/v1/settings", json={"llm.base_url": f"{other.url}/v1"}).raise_for_status()
        client.post(TEST).raise_for_status()
        assert "sk-typed" not in str(other.requests[-1])
        assert client.get(path).json()["key_set"] is False
        client.put(path, json={**body, "api_key": ""}).raise_for_status()
        assert client.get(path).json()["key_set"] is False
        client.put(path, json={}).raise_for_status()
        assert client.post(TEST).json()["llm"]["provider"] == "extractive"
        assert_problem(client.put(path, json={"provider": "no such"}), 422, "invalid")
