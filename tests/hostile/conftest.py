"""A server for hostile files, a trap that counts connections, and a monitor of the reader processes' memory."""

import os
import secrets
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from psycopg import sql

from tests.api.live_server import LiveServer
from tests.reading import read_in_this_process

API = "/api/v1"
MEMORY_MB, TIMEOUT_S = 512, 60
LOOKS = 20
"""How often a process that is no reader is looked at: a new one has the name of its parent for a moment."""
BASE_MB = 300
"""Maximum memory of a reader process before it reads a file."""


class Trap:
    """A server that counts connections."""

    def __init__(self) -> None:
        self.hits = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                self._listening.accept()[0].close()
            except OSError:
                return
            self.hits += 1

    def close(self) -> None:
        self._listening.close()


class Watch:
    """Records the peak memory of all reader processes, in MB."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._thread.start()

    def _measure(self) -> None:
        looks = Counter[str]()
        while not self._ended.wait(0.05):
            for process in os.listdir("/proc"):
                if not process.isdecimal() or looks[process] > LOOKS:
                    continue
                try:
                    if b"pincite.ingest.read.reader_process" in Path("/proc", process, "cmdline").read_bytes():
                        peak = Path("/proc", process, "status").read_text().partition("VmHWM:")[2].split()
                        self.peak_mb = max(self.peak_mb, int(peak[0]) / 1024)
                    else:
                        looks[process] += 1
                except (OSError, IndexError):
                    continue

    def close(self) -> None:
        self._ended.set()
        self._thread.join()


@pytest.fixture(scope="session")
def trap() -> Iterator[Trap]:
    made = Trap()
    yield made
    made.close()


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file, in which no other file may appear outside of the data folder."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "beside.txt").write_text("as it was")
    return folder


@pytest.fixture(scope="session")
def attacked(postgres: str, surroundings: Path) -> Iterator[LiveServer]:
    """The server that gets hostile files."""
    name = f"hostile_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    url = psycopg.conninfo.make_conninfo(postgres, dbname=name)
    limits = {"ingest.parse_memory_mb": MEMORY_MB, "ingest.parse_timeout_s": TIMEOUT_S, "ingest.workers": 3}
    with LiveServer(surroundings / "data", **{"database.url": url, **limits}) as door:
        yield door


@pytest.fixture(scope="session")
def watch(attacked: LiveServer) -> Iterator[Watch]:
    made = Watch()
    yield made
    made.close()


@pytest.fixture(scope="module")
def read_by_the_tests() -> Iterator[None]:
    """For files whose tests are not about reading: every document is parsed in this process."""
    with pytest.MonkeyPatch.context() as patch:
        read_in_this_process(patch)
        yield


@pytest.fixture
def client(attacked: LiveServer) -> Iterator[httpx2.Client]:
    with attacked.client() as client:
        yield client


def ending(client: httpx2.Client, document: dict[str, Any]) -> dict[str, Any]:
    deadline = time.monotonic() + TIMEOUT_S + 30
    while time.monotonic() < deadline:
        found: dict[str, Any] = client.get(f"{API}/documents/{document['id']}").json()
        if found["status"] in ("completed", "error"):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{document['name']} is still {found['status']}: {found['stage']}")
