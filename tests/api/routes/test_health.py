"""Health routes: public without details, or detailed for administrators."""

import asyncio
import time

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pincite.api.routes import health
from pincite.config.branches.server import Database as DatabaseSettings
from pincite.errors import StoreDown
from tests.api.live_server import LiveServer, assert_problem


def test_health_routes_reveal_no_details(anyone: httpx2.Client) -> None:
    assert anyone.get("/api/v1/health/live").json() == {"status": "ok"}
    assert anyone.get("/api/v1/health/ready").json() == {"status": "ready"}


def test_without_a_database_the_server_is_live_but_not_ready(
    anyone: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(*_: object) -> None:
        raise StoreDown("10.9.8.7 refused the connection")

    monkeypatch.setattr("pincite.engine.admin.health", down)
    assert anyone.get("/api/v1/health/live").status_code == 200
    response = anyone.get("/api/v1/health/ready")
    assert_problem(response, 503, "store_down")
    assert "10.9.8.7" not in response.text


def test_a_silent_database_counts_as_down(anyone: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hangs(*_: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr("pincite.engine.admin.health", hangs)
    monkeypatch.setattr(health, "DATABASE_TIMEOUT_S", 0.05)
    assert_problem(anyone.get("/api/v1/health/ready"), 503, "store_down")


def test_details_are_for_administrators(client: httpx2.Client) -> None:
    told = client.get("/api/v1/health/details").json()
    assert told["database"]["role"] == "pincite_app"
    assert told["embedding"] == {"model": "scripted/1", "dimensions": 64}
    assert told["llm"]["model"] == "extractive"
    assert told["stale_documents"] == 0


def numbers(response: httpx2.Response) -> dict[str, float]:
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        f"{sample.name}{sorted(sample.labels.values())}": sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def files_counted(client: httpx2.Client, before: dict[str, float], files: int) -> dict[str, float]:
    """The numbers once so many files are counted: a file can be asked about a moment before it is."""
    name = "pincite_files_total['completed']"
    deadline = time.monotonic() + 10
    while (found := numbers(client.get("/api/v1/metrics"))).get(name, 0) < before.get(name, 0) + files:
        assert time.monotonic() < deadline
    return found


def test_requests_are_counted_in_metrics(live_server: LiveServer, client: httpx2.Client, folder: str) -> None:
    before = numbers(client.get("/api/v1/metrics"))
    live_server.add(folder, one="# One\n\nThe first of two documents.\n", two="# Two\n\nThe second of them.\n")
    client.post("/api/v1/query", json={"query": "Which document is first?", "folder": folder})
    client.post("/api/v1/search", json={"query": "first", "folder": folder, "strategy": "lexical_only"})
    client.post("/api/v1/search", json={"query": " "})
    after = files_counted(client, before, 2)
    gained = {name: after[name] - before.get(name, 0) for name in after}
    expected = {
        "pincite_files_total['completed']": 2,
        "pincite_requests_total['query']": 1,
        "pincite_requests_total['search']": 2,
        "pincite_searches_total['lexical']": 2,
        "pincite_searches_total['vector']": 1,
        "pincite_embedding_calls_total['query']": 2,
        "pincite_embedded_texts_total['index']": 2,
        "pincite_errors_total['empty_query', 'search']": 1,
        "pincite_documents['completed']": 2,
        "pincite_http_requests_total['202', 'POST']": 2,
        "pincite_model_calls_total['extractive']": 1,
        "pincite_stage_seconds_count['llm_generation']": 1,
        "pincite_fallbacks_total[]": 0,
    }
    assert {name: gained[name] for name in expected} == expected
    assert gained["pincite_chunks_total[]"] >= 2
    assert after["pincite_pool['most']"] == DatabaseSettings().pool_size
    assert folder not in str(after)


def test_details_and_metrics_agree(client: httpx2.Client) -> None:
    client.post("/api/v1/search", json={"query": "x"})
    told = client.get("/api/v1/health/details").json()["metrics"]
    assert told["pincite_requests_total"]["kind=search"] >= 1
    assert told["pincite_pool"]["state=most"] == DatabaseSettings().pool_size


def test_a_metrics_key_is_valid_for_metrics_only(
    live_server: LiveServer, client: httpx2.Client, anyone: httpx2.Client
) -> None:
    made = client.post("/api/v1/keys", json={"name": "collector", "role": "metrics"}).json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert anyone.get("/api/v1/metrics", headers=headers).status_code == 200
    for path in ("/documents", "/traces", "/health/details", "/keys", "/settings"):
        assert_problem(anyone.get(f"/api/v1{path}", headers=headers), 403, "not_allowed")
    assert_problem(anyone.post("/api/v1/query", json={"query": "x"}, headers=headers), 403, "not_allowed")


@pytest.mark.parametrize("role", ["reader", "editor"])
def test_other_roles_may_not_read_metrics(live_server: LiveServer, role: str) -> None:
    with live_server.client(role) as client:  # type: ignore[arg-type]
        assert_problem(client.get("/api/v1/metrics"), 403, "not_allowed")
