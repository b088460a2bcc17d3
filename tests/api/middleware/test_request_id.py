"""Every response has its request id, security headers and access log line."""

import logging
import time

import httpx2
import pytest

from pincite.api.middleware.request_id import SECURITY_HEADERS
from tests.api.live_server import LiveServer


@pytest.mark.parametrize("path", ["/api/v1/health/live", "/api/v1/documents", "/nowhere", "/api/v1/documents/x"])
def test_every_answer_has_its_headers(client: httpx2.Client, path: str) -> None:
    response = client.get(path)
    assert {name: response.headers[name] for name in SECURITY_HEADERS} == dict(SECURITY_HEADERS)
    assert "server" not in response.headers


@pytest.mark.parametrize("wished", ["12345678", "a-b_C" * 12])
def test_a_harmless_request_id_is_kept(anyone: httpx2.Client, wished: str) -> None:
    assert anyone.get("/", headers={"X-Request-ID": wished}).headers["x-request-id"] == wished


@pytest.mark.parametrize("wished", ["short", "x" * 65, "with blank", "semi;colon", "ümlautümlaut".encode()])
def test_any_other_request_id_is_replaced(anyone: httpx2.Client, wished: str | bytes) -> None:
    one, two = (anyone.get("/", headers={"X-Request-ID": wished}).headers["x-request-id"] for _ in range(2))
    assert one != two
    assert len(one) == 16


def the_access_line(caplog: pytest.LogCaptureFixture, path: str) -> logging.LogRecord:
    """It is written once the answer is out: the client may be here before it, and before that of an earlier request."""
    give_up = time.monotonic() + 10
    while time.monotonic() < give_up:
        lines = [record for record in caplog.records if record.name == "pincite.api.access"]
        if found := [record for record in lines if f" path={path}" in record.getMessage()]:
            [record] = found
            return record
        time.sleep(0.01)
    raise AssertionError("no line in the access log")


def test_the_access_log_has_no_secrets(
    live_server: LiveServer, client: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pincite.api.access")
    client.post("/api/v1/search?q=inthequery", json={"query": "inthebody"}, headers={"X-Request-ID": "abcdefgh"})
    record = the_access_line(caplog, "/api/v1/search")
    line = record.getMessage()
    assert line.startswith("method=POST path=/api/v1/search status=200 ms=")
    assert line.endswith(" request_id=abcdefgh")
    assert record.__dict__["status"] == 200
    assert not {"inthequery", "inthebody", live_server.keys["administrator"]} & set(line.split())
    assert "inthe" not in caplog.text
    assert live_server.keys["administrator"] not in caplog.text


def test_a_client_cannot_forge_a_line(client: httpx2.Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pincite.api.access")
    client.get("/api/v1/documents/x%0astatus=200%1b[31m")
    record = the_access_line(caplog, "/api/v1/documents")
    assert "path=/api/v1/documents/x%0Astatus%3D200%1B%5B31m status=404" in record.getMessage()
