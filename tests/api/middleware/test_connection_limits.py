"""Slow and stalled clients are disconnected without affecting others."""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from pincite.api.middleware import connection_limits
from pincite.api.middleware.connection_limits import Connection, connection_class
from tests.api.live_server import LiveServer, assert_problem, upload

API = "/api/v1"
SOON_S = 10.0


@contextlib.contextmanager
def connected(live_server: LiveServer, said: bytes = b"") -> Iterator[socket.socket]:
    """A connection by hand, on which something was said already."""
    address = urlsplit(live_server.url)
    with socket.create_connection((address.hostname, address.port), timeout=SOON_S) as connection:
        connection.sendall(said)
        yield connection


def ended(connection: socket.socket) -> bool:
    """Whether the server closes it soon, whatever it says before."""
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(65536):
            pass
    return True


def head(live_server: LiveServer, path: str, *more: str) -> bytes:
    lines = (
        f"POST {API}{path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {live_server.keys['editor']}",
        *more,
    )
    return ("\r\n".join(lines) + "\r\n").encode()


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_an_incomplete_request_times_out(
    live_server: LiveServer, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(connection_limits, "HEAD_TIMEOUT_S", 0.3)
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(connected(live_server, said)) for _ in range(50)]
        assert client.get(f"{API}/me").status_code == 200  # meanwhile
        assert all(ended(one) for one in slow)


def test_a_slowly_sent_request_times_out(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "HEAD_TIMEOUT_S", 0.3)
    with connected(live_server, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert cut_off_while_sending(connection)


def cut_off_while_sending(connection: socket.socket) -> bool:
    try:
        for _ in range(100):
            connection.sendall(b"G")
            time.sleep(0.05)
    except OSError:  # reset or broken, as it comes
        return True
    return False


def test_an_endless_body_times_out(
    live_server: LiveServer, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "BODY_TIMEOUT_S", 0.3)
    announced = head(live_server, "/search", "Content-Type: application/json", "Content-Length: 100") + b'\r\n{"query"'
    with connected(live_server, announced) as slow:
        assert client.get(f"{API}/me").status_code == 200
        assert ended(slow)


def test_a_client_that_reads_nothing_is_disconnected(
    live_server: LiveServer, client: httpx2.Client, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "WRITE_STALL_TIMEOUT_S", 0.3)
    text = "# Long\n\n" + "Many words of one long text. " * 300_000
    document = upload(client, "long.md", text, folder=folder, start="false").json()["document"]
    address = urlsplit(live_server.url)
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(SOON_S)
        slow.connect((address.hostname, address.port))
        path = f"/documents/{document['id']}/file"
        slow.sendall(head(live_server, path, "").replace(b"POST", b"GET", 1))
        time.sleep(1.0)  # takes nothing
        assert client.get(f"{API}/me").status_code == 200
        received = 0
        with contextlib.suppress(ConnectionResetError):
            while data := slow.recv(1 << 20):
                received += len(data)
        assert received < document["bytes"]


def test_a_rate_limited_connection_is_read_again_later(
    live_server: LiveServer, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "BACKOFF_RANGE_S", (0.5, 0.5))
    if (left := 60 - time.time() % 60) < 10:  # each minute of the clock has its own allowance
        time.sleep(left)
    name = "hasty one"
    client.post(f"{API}/users", json={"name": name})
    client.patch(f"{API}/users/{name}", json={"limits": {"requests_per_minute": 1}})
    key = client.post(f"{API}/keys", json={"name": "k", "user": name, "role": "reader"}).json()["key"]
    with httpx2.Client(base_url=live_server.url, headers={"Authorization": f"Bearer {key}"}) as hasty:
        hasty.get(f"{API}/me")
        began = time.monotonic()
        for _ in range(3):
            assert_problem(hasty.get(f"{API}/me"), 429, "too_many_requests")
        assert time.monotonic() - began >= 1.0
        assert client.get(f"{API}/me").status_code == 200


def test_the_number_of_connections_is_limited(database_url: str, data: Path) -> None:
    few = {"database.url": database_url, "server.max_connections": 8}
    with LiveServer(data, **few) as live_server, contextlib.ExitStack() as stack:
        held = [stack.enter_context(connected(live_server)) for _ in range(8)]
        refused = httpx2.get(f"{live_server.url}{API}/health/live")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert refused.json()["code"] == "overloaded"
        held[0].close()
        deadline = time.monotonic() + SOON_S
        while httpx2.get(f"{live_server.url}{API}/health/live").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_connections_leave_file_descriptors_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for files, most in ((1024, 896), (100, 8), (resource.RLIM_INFINITY, 1000), (1_000_000, 1000)):
        monkeypatch.setattr(connection_limits.resource, "getrlimit", lambda _, files=files: (files, files))
        assert connection_class(1000).max_connections == most
    assert issubclass(connection_class(1000), Connection)


@pytest.mark.slow
def test_a_server_with_few_file_descriptors_refuses_connections_and_survives(database_url: str, tmp_path: Path) -> None:
    few = 160
    code = "from pincite.cli import main; raise SystemExit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--port", "0", "--data", str(tmp_path / "data")],
        env={**os.environ, "PINCITE_DATABASE_URL": database_url, "PINCITE_EMBEDDING__PROVIDER": "scripted"},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few)),
    )
    with process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://([\d.]+):(\d+)", process.stdout.readline())
            assert found
            with contextlib.ExitStack() as stack:
                for _ in range(3 * few):
                    stack.enter_context(socket.create_connection((found[1], int(found[2])), timeout=SOON_S))
                with contextlib.suppress(httpx2.HTTPError):
                    assert httpx2.get(f"{found[0]}{API}/health/live", timeout=SOON_S).status_code == 503
            deadline = time.monotonic() + 30
            while not _ready(found[0]):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert process.poll() is None
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)


def _ready(address: str) -> bool:
    with contextlib.suppress(httpx2.HTTPError):
        return httpx2.get(f"{address}{API}/health/ready", timeout=5).status_code == 200
    return False
