"""Limits of hosts, URLs and bodies."""

import contextlib
import http.client
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest

from pincite.api.middleware.request_limits import HostCheck, _host_name
from pincite.errors import BadRequest
from tests.api.live_server import LiveServer, assert_problem, upload
from tests.steady_clock import now


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "127.0.0.1:8377", "[::1]:80", "[::1]", "localhost."])
def test_local_hosts_are_allowed(anyone: httpx2.Client, host: str) -> None:
    assert anyone.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "[::2]", "", "0.0.0.0"]
)
def test_other_hosts_are_refused_before_anything_else(anyone: httpx2.Client, host: str) -> None:
    assert_problem(anyone.get("/api/v1/documents", headers={"Host": host}), 400, "wrong_host")
    assert_problem(anyone.get("/", headers={"Host": host}), 400, "wrong_host")


def scope(host: str, server: str = "10.0.0.5") -> dict[str, object]:
    headers = [(b"host", host.encode())]
    return {"type": "http", "path": "/", "query_string": b"", "headers": headers, "server": (server, 8377)}


@pytest.mark.parametrize("host", ["docs.example:443", "10.0.0.5", "10.0.0.5:8377", "Here.local"])
def test_hosts_of_the_settings_and_the_address_listened_on_are_known(host: str) -> None:
    HostCheck(None, ["docs.example", "here.local"])._check(scope(host))  # type: ignore[arg-type]


def test_a_request_without_a_host_or_with_two_is_refused() -> None:
    check = HostCheck(None, [])  # type: ignore[arg-type]
    for headers in ([], [(b"host", b"localhost"), (b"host", b"localhost")]):
        with pytest.raises(BadRequest):
            check._check({**scope("x"), "headers": headers})


def test_names_of_hosts() -> None:
    named = {"[::1]:80": "::1", "::1": "::1", "A.b:80": "a.b", "a.": "a", " a ": "a", "[::1]evil": "::1"}
    assert {host: _host_name(host) for host in named} == named


def test_a_nul_in_the_address_is_refused(client: httpx2.Client) -> None:
    assert_problem(client.get("/api/v1/documents/a%00b"), 400, "bad_request")
    assert_problem(client.get("/api/v1/documents?q=a%00b"), 400, "bad_request")


def announce(live_server: LiveServer, path: str, length: int) -> tuple[int, bytes]:
    """The answer to a body that is announced and never sent."""
    connection = http.client.HTTPConnection(urlsplit(live_server.url).netloc, timeout=30)
    connection.putrequest("POST", path)
    connection.putheader("Authorization", f"Bearer {live_server.keys['editor']}")
    connection.putheader("Content-Type", "multipart/form-data; boundary=x")
    connection.putheader("Content-Length", str(length))
    connection.endheaders()
    response = connection.getresponse()
    told = response.status, response.read()
    connection.close()
    return told


def test_a_body_with_a_large_content_length_is_refused_unread(live_server: LiveServer) -> None:
    started = now()
    assert announce(live_server, "/api/v1/documents/upload", 64 * 1024 * 1024 + 1)[0] == 413
    assert announce(live_server, "/api/v1/documents/upload", 10**15)[0] == 413
    assert announce(live_server, "/api/v1/query", 1024 * 1024 + 1)[0] == 413
    assert now() - started < 3


def test_a_body_that_turns_out_too_large_is_refused(client: httpx2.Client) -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(20):
            yield b"x" * 100_000

    response = client.post("/api/v1/query", content=endless(), headers={"Content-Type": "application/json"})
    told = assert_problem(response, 413, "too_large")["detail"]
    assert told == "the body is larger than 1 MB, the limit of this path"


def test_an_upload_that_turns_out_too_large_is_refused(live_server: LiveServer, client: httpx2.Client) -> None:
    def endless() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n'
        for _ in range(66):
            yield b"x" * 1024 * 1024

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    response = client.post("/api/v1/documents/upload", content=endless(), headers=headers)
    told = assert_problem(response, 413, "too_large")["detail"]
    assert told == "the body is larger than 64 MB (server.max_body_mb)"


def test_a_body_of_just_under_a_megabyte_is_read(client: httpx2.Client, folder: str) -> None:
    response = client.post("/api/v1/query", json={"query": "q", "system_prompt": "x" * 1_000_000})
    assert "system_prompt" in assert_problem(response, 422, "invalid")["detail"]
    response = upload(client, "big.md", "word " * 400_000, folder=folder, start="false")
    assert response.status_code == 202
    client.delete(f"/api/v1/documents/{response.json()['document']['id']}")


OVERSIZED = {
    "query": ("/search", {"query": "x" * 100_001}, 422),
    "queries": ("/query-many", {"queries": ["x"] * 6}, 422),
    "history": ("/chat", {"messages": [{"role": "user", "content": "x"}] * 501}, 422),
    "message": ("/chat", {"messages": [{"role": "user", "content": "x" * 100_001}]}, 422),
    "documents": ("/search", {"query": "x", "document_ids": ["d"] * 100_000}, 422),
    "texts": ("/embedding", {"input": ["x"] * 257}, 422),
    "body": ("/search", {"query": "x" * (1 << 20)}, 413),
}


@pytest.mark.parametrize("what", OVERSIZED)
def test_excessive_requests_are_refused_quickly(client: httpx2.Client, what: str) -> None:
    path, body, status = OVERSIZED[what]
    assert_problem_status(client.post(f"/api/v1{path}", json=body), status)


def assert_problem_status(response: httpx2.Response, status: int) -> None:
    assert response.status_code == status, response.text[:300]
    assert response.headers["content-type"] == "application/problem+json"
    assert len(response.text) < 2000  # what was too much is not said again


def test_a_body_nested_too_deeply_is_refused(client: httpx2.Client) -> None:
    deep = b'{"query": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    response = client.post("/api/v1/search", content=deep, headers={"Content-Type": "application/json"})
    assert_problem_status(response, 422)


def test_a_form_of_too_many_parts_is_refused(client: httpx2.Client, folder: str) -> None:
    fields = {f"field{n}": "x" for n in range(200)}
    many = client.post("/api/v1/documents/upload", files={"file": ("a.md", "# A")}, data={"folder": folder, **fields})
    assert many.status_code == 400
    two = client.post("/api/v1/documents/upload", files=[("file", ("a.md", "# A")), ("file", ("b.md", "# B"))])
    assert two.status_code == 400
    long = upload(client, "a.md", "# A", folder=folder, description="x" * 70_000)
    assert long.status_code in (400, 422)
    assert client.get("/api/v1/documents", params={"folder": folder}).json()["items"] == []


@pytest.mark.parametrize("header", [b"X-Long: " + b"x" * 200_000, b"\r\n".join(b"X-%d: y" % n for n in range(20_000))])
def test_a_head_that_is_too_long_is_refused(live_server: LiveServer, client: httpx2.Client, header: bytes) -> None:
    address = urlsplit(live_server.url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        with contextlib.suppress(OSError):  # it is not read to its end
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + header + b"\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(100).startswith(b"HTTP/1.1 400")
    assert client.get("/api/v1/me").status_code == 200
