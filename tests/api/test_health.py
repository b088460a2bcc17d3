"""Health: open and silent, or detailed for administrators."""

import asyncio

import httpx2
import pytest

from pincite.api import health
from pincite.errors import StoreDown
from tests.api.door import assert_problem


def test_a_healthy_server_says_so_and_no_more(anyone: httpx2.Client) -> None:
    assert anyone.get("/api/v1/health/live").json() == {"status": "ok"}
    assert anyone.get("/api/v1/health/ready").json() == {"status": "ready"}


def test_without_its_database_it_lives_and_is_not_ready(anyone: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def down(*_: object) -> None:
        raise StoreDown("10.9.8.7 refused the connection")

    monkeypatch.setattr(health, "health", down)
    assert anyone.get("/api/v1/health/live").status_code == 200
    response = anyone.get("/api/v1/health/ready")
    assert_problem(response, 503, "store_down")
    assert "10.9.8.7" not in response.text


def test_a_database_that_says_nothing_counts_as_down(anyone: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hangs(*_: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(health, "health", hangs)
    monkeypatch.setattr(health, "READY_S", 0.05)
    assert_problem(anyone.get("/api/v1/health/ready"), 503, "store_down")


def test_details_are_for_administrators(client: httpx2.Client) -> None:
    told = client.get("/api/v1/health/details").json()
    assert told["database"]["role"] == "pincite_app"
    assert told["embedding"] == {"model": "scripted/1", "dimensions": 64}
    assert told["llm"]["model"] == "extractive"
    assert told["stale_documents"] == 0
