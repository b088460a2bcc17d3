"""Search latency during document processing: idle, beside `pincite add`, and beside uploads.

    ./run bench serving --data DIR | --documents DIR [--work DIR] [--requests 100]

A third of the documentation is in the library when `pincite serve` starts. Three times, a part of the rest is added by
a second process and another part is uploaded to the server, while a client searches for its sentences. Idle is measured
before, between and after, as the library grows and others may use the machine. The last columns show the stages of the
slowest searches, from their traces; HTTP, the key and the client are not included.
"""

import argparse
import itertools
import json
import multiprocessing
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import numpy as np

from benchmarks._documentation import add_arguments, copy_tree, markdown_files
from benchmarks.adding import PINCITE, chunk_count, pincite
from pincite.text.sentences import sentences

ROUNDS = 3
WORDS = range(6, 17)
GOAL = 3.0
LIMIT_S, END_S = 300, 60
WARM_UP, FEWEST = 50, 100
API = "/api/v1"


@dataclass(slots=True)
class Phase:
    """The searches made while one thing went on: milliseconds and trace of each."""

    name: str
    seconds: float = 0.0
    searches: list[tuple[float, str]] = field(default_factory=list)


def split_tree(tree: Path, folder: Path) -> tuple[Path, list[Path], list[Path]]:
    """What is in before, what is added and what is uploaded in each round.

    Files of the same name stay together, as the releases of a page share passages.
    """
    before, *rest = [folder / f"part{n}" for n in range(1 + 2 * ROUNDS)]
    for path in markdown_files(tree):
        number = zlib.crc32(path.name.encode())
        part = before if number % 3 == 0 else rest[number // 3 % len(rest)]
        target = part / path.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return before, rest[:ROUNDS], rest[ROUNDS:]


def questions(tree: Path) -> Iterator[str]:
    """Sentences of the documentation, as long as people ask; the server forgets one long before it comes again."""
    texts = [path.read_text(encoding="utf-8") for path in markdown_files(tree)]
    found = {text[start:end] for text in texts for start, end in sentences(text)}
    fitting = [sentence for sentence in found if len(sentence.split()) in WORDS and "|" not in sentence]
    return itertools.cycle(sorted(fitting, key=lambda sentence: zlib.crc32(sentence.encode())))


@contextmanager
def served(data: Path) -> Iterator[str]:
    """The address of a server that is another process, ended as Ctrl-C ends it."""
    command = [*PINCITE, "serve", "--port", "0", "--data", str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = re.search(r"http://[\d.:]+", process.stdout.readline())
            if address is None:
                sys.exit("pincite serve did not start")
            yield address[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=END_S)


def connect(address: str, key: str) -> httpx2.Client:
    """A client that keeps its connection."""
    return httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=END_S)


def upload_all(address: str, key: str, folder: Path) -> None:
    """Upload every file and wait until the server has processed all; runs as a process of its own."""
    with connect(address, key) as client:
        for path in markdown_files(folder):
            place = f"{folder.name}/{path.parent.relative_to(folder).as_posix()}"
            file = {"file": (path.name, path.read_bytes())}
            client.post(f"{API}/documents/upload", files=file, data={"folder": place}).raise_for_status()
        while any(_some(client, status) for status in ("pending", "processing")):
            time.sleep(0.5)


def _some(client: httpx2.Client, status: str) -> bool:
    return bool(client.get(f"{API}/documents?status={status}&limit=1").raise_for_status().json()["items"])


class Bench:
    """A client of the server, and what it has measured so far."""

    def __init__(self, client: httpx2.Client, asked: Iterator[str], requests: int) -> None:
        self.client, self.asked, self.requests = client, asked, requests
        self.idle, self.adding, self.uploading = Phase("nothing"), Phase("pincite add"), Phase("uploads")
        self._search(Phase("warm-up"), lambda done: done < WARM_UP)

    def _search(self, phase: Phase, going: Callable[[int], bool]) -> None:
        """Search on and on, one at a time, while it goes on; `going` hears how many searches there were."""
        began, done = time.monotonic(), 0
        while going(done) and time.monotonic() - began < LIMIT_S:
            body, started = {"query": next(self.asked)}, time.perf_counter()
            response = self.client.post(f"{API}/search", json=body)
            took = (time.perf_counter() - started) * 1000
            phase.searches.append((took, response.raise_for_status().json()["trace_id"]))
            done += 1
        phase.seconds += time.monotonic() - began

    def rest(self) -> None:
        """Search while nothing else goes on."""
        self._search(self.idle, lambda done: done < self.requests)

    def beside_adding(self, data: Path, folder: Path) -> None:
        """Search while `pincite add` runs."""
        command = [*PINCITE, "add", str(folder), "--data", str(data)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            self._search(self.adding, lambda _: process.poll() is None)
            process.terminate()
            said, _ = process.communicate()
        if process.returncode:
            sys.exit(f"pincite add ended with {process.returncode}: {said}")

    def beside_uploads(self, address: str, key: str, folder: Path) -> None:
        """Search while files are uploaded and until they are searchable."""
        method = multiprocessing.get_context("spawn")
        process = method.Process(target=upload_all, args=(address, key, folder), daemon=True)
        process.start()
        self._search(self.uploading, lambda _: process.is_alive())
        if process.exitcode != 0:
            sys.exit(f"uploading ended with {process.exitcode}")

    def report(self) -> None:
        """The table: latencies, their ratio to idle, and what the slowest hundredth spent its time on."""
        print(f"| meanwhile | s | searches | p50 ms | p95 ms | p99 ms | p99 / idle (goal ≤ {GOAL:g}) ", end="")
        print("| slowest 1 %: ms | outside | retrieve | rank |\n|---|---|---|---|---|---|---|---|---|---|---|")
        for phase in (self.idle, self.adding, self.uploading):
            if len(phase.searches) < FEWEST:
                sys.exit(f"fewer than {FEWEST} searches during {phase.name}: give it more documents or requests")
            times, idle = ([took for took, _ in one.searches] for one in (phase, self.idle))
            ratio = np.percentile(times, 99) / np.percentile(idle, 99)
            shown = " | ".join(f"{time:.1f}" for time in np.percentile(times, (50, 95, 99)))
            spent = " | ".join(f"{time:.1f}" for time in self._slowest(phase))
            print(f"| {phase.name} | {phase.seconds:.0f} | {len(times)} | {shown} | {ratio:.2f} | {spent} |")

    def _slowest(self, phase: Phase) -> np.ndarray:
        rows = []
        for took, trace in sorted(phase.searches, reverse=True)[: len(phase.searches) // 100]:
            told = self.client.get(f"{API}/traces/{trace}").raise_for_status().json()
            spans = {span["stage"]: span["duration_ms"] for span in told["spans"]}
            rows.append((took, took - told["duration_ms"], spans["retrieve"], spans["rank"]))
        return np.mean(rows, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--work", type=Path, help="data folder to keep")
    parser.add_argument("--requests", type=int, default=100, help="searches each time it is idle")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tree = copy_tree(arguments, Path(temporary) / "tree", newest=False)
        before, added, uploaded = split_tree(tree, Path(temporary))
        data = arguments.work or Path(temporary) / "data"
        if chunk_count(data):
            sys.exit(f"{data} holds documents already; give --work a new folder")
        pincite(data, "add", str(before))
        key = json.loads(pincite(data, "key", "create", "--name", "bench", "--json"))["key"]
        with served(data) as address, connect(address, key) as client:
            bench = Bench(client, questions(tree), arguments.requests)
            for adding, uploading in zip(added, uploaded, strict=True):
                bench.rest()
                bench.beside_adding(data, adding)
                bench.rest()
                bench.beside_uploads(address, key, uploading)
            bench.rest()
            bench.report()


if __name__ == "__main__":
    main()
