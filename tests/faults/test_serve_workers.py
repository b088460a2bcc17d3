"""`pincite serve --workers N`: several real processes behind one address."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.faults.serving import API, RUN, Server

pytestmark = pytest.mark.slow
WORKERS = 2


class Serving:
    """A server of several processes, and requests that each open a connection of their own."""

    def __init__(self, process: "subprocess.Popen[str]", address: str, key: str) -> None:
        self.process = process
        self.address = address
        self._headers = {"Authorization": f"Bearer {key}"}

    def request(self, method: str, path: str, **more: object) -> httpx2.Response:
        with httpx2.Client(base_url=self.address, headers=self._headers, timeout=60) as client:
            return client.request(method, f"{API}{path}", **more)  # type: ignore[arg-type]

    def search(self) -> list[str]:
        found = self.request("POST", "/search", json={"query": "kittens"})
        assert found.status_code == 200, found.text
        return [one["text"] for one in found.json()["results"]]

    def searches(self) -> dict[str, int]:
        """The number of searches by worker, as the metrics of any worker tell it."""
        text = self.request("GET", "/metrics").text
        found = re.findall(r'pincite_requests_total\{kind="search",worker="(\d)"\} (\d+)', text)
        return {worker: int(count) for worker, count in found}

    def children(self) -> set[int]:
        """The process ids of the further workers."""
        found = set[int]()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                command = (folder / "cmdline").read_text()
            except OSError:
                continue
            if parent == self.process.pid and "spawn_main" in command:
                found.add(int(folder.name))
        return found


def wait_until(is_so: Callable[[], object], seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def _log_of(data: Path) -> Path:
    return data.with_name("stderr.txt")


@contextmanager
def serving(url: str, data: Path, workers: int = WORKERS) -> Iterator[Serving]:
    server = Server(url, data)
    command = [sys.executable, "-c", RUN, "serve", "--port", "0", "--workers", str(workers)]
    with _log_of(data).open("w") as log:  # an unread pipe would block the server once it is full
        process = subprocess.Popen(command, env=server.env, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert found
        one = Serving(process, found[0], server.key)
        wait_until(lambda: len(one.children()) == workers - 1)
        yield one
    finally:
        process.kill()
        process.communicate()


def add(one: Serving) -> None:
    answer = one.request("POST", "/documents/upload", files={"file": ("cat.md", b"# Cat\n\nThe cook feeds kittens.\n")})
    assert answer.status_code in (200, 202), answer.text
    wait_until(lambda: one.search())


def reach_both(one: Serving) -> None:
    """Search until both workers have answered and published that."""
    wait_until(lambda: one.search() and set(one.searches()) == {"1", "2"})


def test_workers_share_the_address_are_replaced_and_end_together(database_url: str, tmp_path: Path) -> None:
    with serving(database_url, tmp_path / "data") as one:
        add(one)
        reach_both(one)
        [child] = one.children()
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: one.search() and one.children() - {child})  # no search fails meanwhile
        reach_both(one)
        last = one.children()
        one.process.send_signal(signal.SIGTERM)
        assert one.process.stdout is not None
        assert one.process.stdout.read().count("/setup#") == 1
        assert "worker 2 ended with code -9; it is started again" in _log_of(tmp_path / "data").read_text()
        assert one.process.wait(60) == 0
        wait_until(lambda: not any(map(is_running, last)))
        assert not list((tmp_path / "data").glob("serve-*.metrics"))


def test_every_worker_tells_the_metrics_of_all_and_whose_a_stream_is(database_url: str, tmp_path: Path) -> None:
    with serving(database_url, tmp_path / "data") as one:
        add(one)
        reach_both(one)
        before = sum(one.searches().values())
        for _ in range(20):
            assert "The cook feeds kittens." in one.search()[0]
        wait_until(lambda: sum(one.searches().values()) >= before + 20)  # `before` may lack some of the other worker
        wait_until(lambda: len({sum(one.searches().values()) for _ in range(6)}) == 1)
        assert len(re.findall(r"^pincite_documents\{", one.request("GET", "/metrics").text, re.MULTILINE)) == 1
        check_streams(one)
        [document] = one.request("GET", "/documents").json()["items"]
        assert one.request("DELETE", f"/documents/{document['id']}").is_success
        assert [one.search() for _ in range(20)] == [[]] * 20  # in both workers, whose indexes are in memory


def check_streams(one: Serving) -> None:
    """A stream is resumed by its worker, and the other one says that it is not its own."""
    body = {"message": "Who feeds the kittens?", "stream": True, "resumable": True}
    said = one.request("POST", "/chat", json=body).text
    stream = re.search(r'"stream_id":"(st_\d\.[\w-]+)"', said)
    assert stream, said
    seen = set[int]()

    def both() -> bool:
        answer = one.request("GET", f"/chat/streams/{stream[1]}")
        seen.add(answer.status_code)
        if answer.status_code == 503:
            assert answer.json()["code"] == "other_worker"
            assert answer.headers["retry-after"]
        else:
            assert answer.text == said
        return seen == {200, 503}

    wait_until(both)


def test_the_workers_of_a_killed_server_end(database_url: str, tmp_path: Path) -> None:
    with serving(database_url, tmp_path / "data") as one:
        reach = one.children()
        one.process.kill()
        wait_until(lambda: not any(map(is_running, reach)))
