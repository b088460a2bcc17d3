from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.api.door import Door, assert_problem
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
    settings = {"database.url": module_database_url, "llm.base_url": f"{server.url}/v1", "llm.api_key": "sk-hush"}
    with Door(tmp_path_factory.mktemp("providers") / "data", **settings) as door, door.client() as client:
        yield client


def test_without_a_model_there_is_nothing_to_go_wrong(client: httpx2.Client) -> None:
    tried = client.post(TEST, json={}).json()
    assert (tried["llm"]["ok"], tried["llm"]["provider"], tried["llm"]["address"]) == (True, "extractive", None)
    assert (tried["embedding"]["ok"], tried["embedding"]["model"]) == (True, "scripted/1")
    assert client.get(MODELS).json() == {"items": [], "next_cursor": None}


def test_a_model_is_tried_and_its_servers_models_listed(hosted: httpx2.Client, server: ModelServer) -> None:
    server.replies["/v1/models"] = as_json({"data": [{"id": "m", "max_model_len": 4096}, {"id": "other"}]})
    llm = hosted.post(TEST, json={"model": "other"}).json()["llm"]
    assert (llm["ok"], llm["model"], llm["address"], llm["error"]) == (True, "m-1", f"{server.url}/v1", None)
    assert server.requests[-1][1]["model"] == "other"
    assert hosted.post(TEST, json={}).json()["llm"]["window"] == 4096
    listed = hosted.get(MODELS).json()["items"]
    assert listed == [{"name": "m", "window": 4096}, {"name": "other", "window": None}]


def test_what_is_wrong_is_told_without_the_key(hosted: httpx2.Client, server: ModelServer) -> None:
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


def test_an_address_or_a_key_in_the_request_is_refused(client: httpx2.Client, tmp_path: Path) -> None:
    for name in ("base_url", "api_key", "provider"):
        assert_problem(client.post(TEST, json={name: "http://127.0.0.1:9"}), 422, "invalid")


def test_only_administrators_may_try(reader: httpx2.Client) -> None:
    assert_problem(reader.post(TEST, json={}), 403, "not_allowed")
    assert_problem(reader.get(MODELS), 403, "not_allowed")
