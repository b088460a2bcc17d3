"""Errors have one format and reveal no internals."""

import logging

import httpx2
import pytest

from pincite.errors import DataFolderError, ProviderError, StoreDown
from tests.api.live_server import LiveServer, assert_problem


def test_a_missing_document(client: httpx2.Client) -> None:
    problem = assert_problem(client.get("/api/v1/documents/nope"), 404, "not_found")
    assert problem["title"] == "Not found"
    assert "nope" in problem["detail"]


def test_an_unexpected_error_hides_details_and_is_logged_with_the_request_id(
    live_server: LiveServer, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the secret is /etc/hidden")

    monkeypatch.setattr(live_server.pincite, "get", broken)
    response = client.get("/api/v1/documents/x", headers={"X-Request-ID": "my-request-1"})
    assert_problem(response, 500, "internal")
    assert "secret" not in response.text
    assert "ZeroDivisionError" not in response.text
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "my-request-1" in record.getMessage()
    assert record.exc_info
    assert record.exc_info[0] is ZeroDivisionError


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(StoreDown("host 10.9.8.7 is down"), 503, "store_down"), (DataFolderError("/srv/10.9.8.7"), 500, "data_folder")],
)
def test_messages_that_name_the_machine_stay_in_the_log(
    live_server: LiveServer,
    client: httpx2.Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
    code: str,
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(live_server.pincite, "get", broken)
    response = client.get("/api/v1/documents/x")
    assert_problem(response, status, code)
    assert "10.9.8.7" not in response.text
    assert "10.9.8.7" in caplog.text


def test_a_providers_failure_is_reported(
    live_server: LiveServer, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise ProviderError("the model\nis out of quota")

    monkeypatch.setattr(live_server.pincite, "ask", broken)
    problem = assert_problem(client.post("/api/v1/query", json={"query": "q"}), 502, "provider_error")
    assert problem["detail"] == "the model is out of quota"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "the body is missing; send a JSON object"),
        (b"{", "the body is not valid JSON: Expecting property name enclosed in double quotes at character 1"),
        (b"\xff", "the body is not valid JSON in UTF-8"),
        (b"[" * 100_000, "the JSON is nested too deeply"),
        (b"[]", "send a JSON object, with Content-Type: application/json"),
        (b"{}", "query: is missing"),
        (b'{"query": "q", "top_k": 0}', "top_k: must be at least 1"),
        (b'{"query": "q", "rag": {"hybrid_alpha": 2}}', "rag.hybrid_alpha: must be at most 1"),
    ],
)
def test_an_invalid_body_is_reported_in_one_line(client: httpx2.Client, body: bytes, detail: str) -> None:
    response = client.post("/api/v1/query", content=body, headers={"Content-Type": "application/json"})
    assert assert_problem(response, 422, "invalid")["detail"] == detail


def test_a_body_of_another_type_is_not_taken_for_json(client: httpx2.Client) -> None:
    response = client.post("/api/v1/query", content=b'{"query": "q"}', headers={"Content-Type": "text/plain"})
    assert "application/json" in assert_problem(response, 422, "invalid")["detail"]
