"""Kills a server repeatedly while files are uploaded and processed, and checks the library after each time."""

import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psycopg

from tests.faults.wholeness import check_whole

API = "/api/v1"
RUN = "import sys; from pincite.cli import main; sys.exit(main())"
SETTINGS = {
    "PINCITE_EMBEDDING__PROVIDER": "scripted",
    "PINCITE_INGEST__LEASE_S": "2",
    "PINCITE_INGEST__ATTEMPTS": "20",
    "PINCITE_CHUNKING__SIZE": "40",
    "PINCITE_CHUNKING__OVERLAP": "5",
}
CLIENTS, FILES = 3, 24


class Server:
    """`pincite serve` as a separate process, on a database that outlives it."""

    def __init__(self, url: str, data: Path) -> None:
        self.env = {**os.environ, **SETTINGS, "PINCITE_DATABASE_URL": url, "PINCITE_DATA": str(data)}
        self.key = self._call("key", "create", "--name", "t").split()[-1]

    def _call(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", RUN, *words], env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    @contextmanager
    def running(self) -> "Iterator[tuple[subprocess.Popen[str], httpx2.Client]]":
        """The process and a client; the process is killed at the end."""
        command = [sys.executable, "-c", RUN, "serve", "--port", "0"]
        process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\d.:]+", process.stdout.readline())
            assert found
            with httpx2.Client(
                base_url=found[0], headers={"Authorization": f"Bearer {self.key}"}, timeout=30
            ) as client:
                yield process, client
        finally:
            process.kill()
            process.communicate()


def text(name: str, time_round: int) -> bytes:
    chosen = random.Random(name)
    parts = [f"## Part {k}\n\n" + " ".join(f"w{chosen.randint(0, 500)}" for _ in range(60)) for k in range(4)]
    return "\n\n".join([f"# {name}", f"marker{name} in round{time_round}x.", *parts]).encode()


class Uploading:
    """Uploads until the server dies; `acknowledged` is what was answered with 2xx, and with which round's bytes."""

    def __init__(self) -> None:
        self.acknowledged: dict[str, int] = {}
        self._lock = threading.Lock()

    def wait_for(self, time_round: int) -> None:
        """Wait until something of this round was acknowledged."""
        until = time.monotonic() + 60
        while time_round not in self.acknowledged.values():
            assert time.monotonic() < until, "nothing was acknowledged"
            time.sleep(0.01)

    def upload(self, client: httpx2.Client, numbers: range, time_round: int) -> None:
        for n in numbers:
            name = f"{n:03}"
            try:
                response = client.post(
                    f"{API}/documents/upload", files={"file": (f"{name}.md", text(name, time_round))}
                )
            except httpx2.TransportError:
                return
            assert response.status_code in (200, 202), response.text
            with self._lock:
                self.acknowledged[name] = time_round


def finished(client: httpx2.Client) -> None:
    """Wait until nothing is on its way."""
    until = time.monotonic() + 60
    while client.get(f"{API}/jobs").json()["items"]:
        assert time.monotonic() < until, client.get(f"{API}/jobs").text
        time.sleep(0.1)


def survive(url: str, data: Path, kills: int) -> int:
    """Kill it so many times; what was acknowledged is whole after each, and done in the end. How many that are."""
    server, told, chosen = Server(url, data), Uploading(), random.Random(5)
    with ThreadPoolExecutor(CLIENTS) as pool:
        for time_round in range(kills):
            with server.running() as (process, client):
                parts = [range(part, FILES, CLIENTS) for part in range(CLIENTS)]
                uploads = [pool.submit(told.upload, client, part, time_round) for part in parts]
                told.wait_for(time_round)
                time.sleep(chosen.uniform(0.05, 0.6))
                process.kill()
                for upload in uploads:
                    upload.result(30)
            check_whole(url, data, {f"{name}.md" for name in told.acknowledged})
    assert told.acknowledged
    with server.running() as (_, client):
        finished(client)
        found = client.get(f"{API}/documents", params={"limit": 1000}).json()["items"]
        assert {one["status"]: one["error"] for one in found} == {"completed": None}
        assert len({one["name"] for one in found}) == len(found)
        for name, time_round in told.acknowledged.items():
            [best, *_] = client.post(f"{API}/search", json={"query": f"marker{name}"}).json()["results"]
            said = re.search(r"round(\d+)x", best["text"])
            assert best["metadata"]["document_name"] == f"{name}.md"
            assert said
            assert int(said[1]) >= time_round  # what came after was not answered, and may have been kept all the same
    with psycopg.connect(url) as connection:
        assert connection.execute("select count(*) from pincite.job").fetchone() == (0,)
        assert connection.execute("select count(*) from pincite.edition where state = 'writing'").fetchone() == (0,)
    return len(told.acknowledged)
