"""The server: one per folder, ports, signals, graceful shutdown."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from pincite.api import server
from pincite.api.server import serve
from pincite.errors import BadRequest, Conflict
from tests.api.live_server import LiveServer, events
from tests.api.models import Talker, speaking
from tests.steady_clock import now


def test_a_port_in_use_is_reported(open_pincite: Callable[..., Any]) -> None:
    async def run() -> None:
        async with open_pincite() as pincite:
            with socket.create_server(("127.0.0.1", 0)) as taken:
                port = taken.getsockname()[1]
                with pytest.raises(Conflict, match=rf"port {port} is in use; choose another with --port"):
                    await serve(pincite, host="127.0.0.1", port=port, ready=lambda _: None)
            with pytest.raises(BadRequest, match=r"cannot listen on 192\.0\.2\.1"):
                await serve(pincite, host="192.0.2.1", port=0, ready=lambda _: None)
            with pytest.raises(BadRequest, match=r"cannot listen on nowhere\.invalid"):
                await serve(pincite, host="nowhere.invalid", port=0, ready=lambda _: None)

    asyncio.run(run())


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with server._listening_socket("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_a_second_server_on_the_same_folder_is_refused(live_server: LiveServer) -> None:
    async def second() -> None:
        await serve(live_server.pincite, host="127.0.0.1", port=0, ready=lambda _: None)

    with pytest.raises(Conflict, match=rf"is already being served by process {os.getpid()}$"):
        live_server.do(second())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_the_reported_address_can_be_opened(database_url: str, data: Path, host: str) -> None:
    class Elsewhere(LiveServer):
        host_listened_on = host

    with Elsewhere(data, **{"database.url": database_url}) as live_server:
        assert httpx2.get(f"{live_server.url}/api/v1/health/ready").json() == {"status": "ready"}


def test_an_open_stream_is_notified_at_once_when_the_server_stops(
    database_url: str, data: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "REQUEST_GRACE_S", 60)  # not by being cut off
    with LiveServer(data, **{"database.url": database_url}) as live_server:
        live_server.add("f", leave="# Leave\n\nFive vacation days carry over.\n")
        talker = Talker()
        with speaking(live_server, talker), live_server.client() as client:
            asked = {"query": "vacation days", "stream": True}
            with client.stream("POST", "/api/v1/query", json=asked) as response:
                lines = response.iter_lines()
                while next(lines) != "event: token":
                    pass
                live_server.stop()
                heard = events(lines)
            talker.wait("stopped")
    name, problem = heard[-1]
    assert (name, problem["status"], problem["code"]) == ("error", 503, "stopping")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_streams_without_listeners_and_sockets_end_with_the_server(database_url: str, data: Path) -> None:
    with LiveServer(data, **{"database.url": database_url}) as live_server:
        live_server.add("f", leave="# Leave\n\nFive vacation days carry over.\n")
        talker = Talker(pause_s=0.001)
        headers = {"Authorization": f"Bearer {live_server.keys['reader']}"}
        url = live_server.url.replace("http://", "ws://") + "/api/v1/chat/ws"
        with speaking(live_server, talker), connect(url, additional_headers=headers, proxy=None) as socket:
            socket.send('{"message": "vacation days", "resumable": true}')
            assert "start" in socket.recv(timeout=20)
            with live_server.client() as client:
                asked = {"query": "vacation days", "stream": True, "resumable": True}
                with client.stream("POST", "/api/v1/query", json=asked) as response:
                    next(response.iter_lines())
            live_server.stop()
            with pytest.raises(ConnectionClosed):
                list(socket)
        talker.wait("stopped")


def test_an_unstreamed_answer_cut_off_by_shutdown_is_reported(
    database_url: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "REQUEST_GRACE_S", 1)
    with LiveServer(data, **{"database.url": database_url}) as live_server:
        live_server.add("f", leave="# Leave\n\nFive vacation days carry over.\n")
        talker = Talker(pause_s=60)
        with speaking(live_server, talker), live_server.client() as client:
            stopping = live_server.later(lambda: (talker.wait("began"), live_server.stop()))
            response = client.post("/api/v1/query", json={"query": "vacation days"})
            stopping.join(10)
    assert response.status_code == 503
    assert response.json()["code"] == "stopping"


SCRIPT = """
import asyncio, sys
from pincite.api.server import serve
from pincite.engine.app import AsyncPincite

async def main():
    settings = {"data": sys.argv[1], "database.url": sys.argv[2], "embedding.provider": "scripted"}
    async with AsyncPincite(settings=settings) as pincite:
        await serve(pincite, host="127.0.0.1", port=0, ready=lambda url: print(url, flush=True))
        print("ended", flush=True)
    print("closed", flush=True)

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_gracefully(database_url: str, data: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", SCRIPT, str(data), database_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert httpx2.get(f"{url}/api/v1/health/live").status_code == 200
        sent = now()
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
    assert (out.split(), process.returncode) == (["ended", "closed"], 0), err
    assert "Traceback" not in err
    assert now() - sent < 10
