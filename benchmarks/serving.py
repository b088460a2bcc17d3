"""Questions stay fast while files go in: search latency when idle, beside `pincite add`, and beside uploads.

    ./run bench serving --data DIR | --documents DIR [--work DIR] [--requests 300]

A third of the documentation is in the library when `pincite serve` starts. Another third is then added by a second
process, the last is uploaded to the server; while they are made searchable, one client asks one search after the
other, each a sentence of the documentation that was not asked for before. What a search costs grows with the library,
so idle is measured once more at the end. The second table says where the time of the slowest searches went, from
their traces; what is outside the trace is HTTP, the key and the client. `--work` must be a folder without documents.
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
from dataclasses import dataclass
from pathlib import Path

import httpx2
import numpy as np

from benchmarks._documentation import add_arguments, copy_tree, markdown_files
from benchmarks.adding import PINCITE, chunk_count, pincite
from pincite.core.text import sentences

PARTS = ("in", "added", "uploaded")
WORDS = range(6, 17)
GOAL = 3.0
LIMIT_S, END_S = 600, 60
WARM_UP, FEWEST = 50, 100
API = "/api/v1"


@dataclass(frozen=True, slots=True)
class Phase:
    """Latencies of the searches made while something went on, in milliseconds, and their traces."""

    name: str
    seconds: float
    times: list[float]
    traces: list[str]


def split_tree(tree: Path, folder: Path) -> dict[str, Path]:
    """The files in three folders; those of the same name stay together, as their releases share passages."""
    parts = {name: folder / name for name in PARTS}
    for path in markdown_files(tree):
        target = parts[PARTS[zlib.crc32(path.name.encode()) % 3]] / path.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return parts


def questions(tree: Path) -> Iterator[str]:
    """Sentences of the documentation, as long as people ask; the server forgets one long before it comes again."""
    found: dict[str, None] = {}
    for path in markdown_files(tree):
        text = path.read_text(encoding="utf-8")
        found |= {
            text[a:b]: None for a, b in sentences(text) if len(text[a:b].split()) in WORDS and "|" not in text[a:b]
        }
    return itertools.cycle(sorted(found, key=lambda sentence: zlib.crc32(sentence.encode())))


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


def search(client: httpx2.Client, asked: Iterator[str], name: str, going: Callable[[int], bool]) -> Phase:
    """Search on and on, one at a time, while it goes on; `going` hears how many searches there were."""
    times: list[float] = []
    traces: list[str] = []
    began = time.monotonic()
    while going(len(times)) and time.monotonic() - began < LIMIT_S:
        body = {"query": next(asked)}
        started = time.perf_counter()
        response = client.post(f"{API}/search", json=body)
        times.append((time.perf_counter() - started) * 1000)
        traces.append(response.raise_for_status().json()["trace_id"])
    return Phase(name, time.monotonic() - began, times, traces)


def upload_all(address: str, key: str, folder: Path) -> None:
    """Upload every file and wait until the server has processed all; runs as a process of its own."""
    with connect(address, key) as client:
        for path in markdown_files(folder):
            place = f"uploaded/{path.parent.relative_to(folder).as_posix()}"
            form = {"files": {"file": (path.name, path.read_bytes())}, "data": {"folder": place}}
            client.post(f"{API}/documents/upload", **form).raise_for_status()
        while any(_some(client, status) for status in ("pending", "processing")):
            time.sleep(1)


def _some(client: httpx2.Client, status: str) -> bool:
    answer = client.get(f"{API}/documents", params={"status": status, "limit": 1})
    return bool(answer.raise_for_status().json()["items"])


def measure(
    client: httpx2.Client, asked: Iterator[str], requests: int, *, adding: list[str], uploading: tuple[str, str, Path]
) -> list[Phase]:
    """The four phases, one after the other."""
    search(client, asked, "warm-up", lambda done: done < WARM_UP)
    phases = [search(client, asked, "idle", lambda done: done < requests)]
    with subprocess.Popen(adding, stdout=subprocess.DEVNULL) as second:
        phases.append(search(client, asked, "pincite add", lambda _: second.poll() is None))
        second.terminate()
    uploader = multiprocessing.get_context("spawn").Process(target=upload_all, args=uploading, daemon=True)
    uploader.start()
    phases.append(search(client, asked, "uploads", lambda _: uploader.is_alive()))
    if second.returncode or uploader.exitcode != 0:
        sys.exit(f"the files did not go in: pincite add ended with {second.returncode}, uploads {uploader.exitcode}")
    phases.append(search(client, asked, "idle again", lambda done: done < requests))
    if few := [phase.name for phase in phases if len(phase.times) < FEWEST]:
        sys.exit(f"fewer than {FEWEST} searches during {', '.join(few)}: give it more documents or requests")
    return phases


def report(phases: list[Phase]) -> None:
    """The table of latencies."""
    idle = np.percentile(phases[0].times, 99)
    print(f"| meanwhile | s | searches | p50 ms | p95 ms | p99 ms | p99 / idle (goal ≤ {GOAL:g}) |")
    print("|---|---|---|---|---|---|---|")
    for phase in phases:
        p50, p95, p99 = np.percentile(phase.times, (50, 95, 99))
        shown = f"{p50:.1f} | {p95:.1f} | {p99:.1f} | {p99 / idle:.2f}"
        print(f"| {phase.name} | {phase.seconds:.0f} | {len(phase.times)} | {shown} |")


def explain(client: httpx2.Client, phases: list[Phase]) -> None:
    """Where the time of the slowest hundredth went, on average."""
    print("\n| slowest 1 % | total ms | outside the trace | retrieve | rank |\n|---|---|---|---|---|")
    for phase in phases:
        slowest = sorted(zip(phase.times, phase.traces, strict=True), reverse=True)[: len(phase.times) // 100]
        rows = []
        for total, trace in slowest:
            told = client.get(f"{API}/traces/{trace}").raise_for_status().json()
            spans = {span["stage"]: span["duration_ms"] for span in told["spans"]}
            rows.append((total, total - told["duration_ms"], spans["retrieve"], spans["rank"]))
        print(f"| {phase.name} | {' | '.join(f'{mean:.1f}' for mean in np.mean(rows, axis=0))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--work", type=Path, help="data folder to keep")
    parser.add_argument("--requests", type=int, default=300, help="searches when idle")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tree = copy_tree(arguments, Path(temporary) / "tree", newest=False)
        parts = split_tree(tree, Path(temporary))
        data = arguments.work or Path(temporary) / "data"
        if chunk_count(data):
            sys.exit(f"{data} holds documents already; give --work a new folder")
        counts = {name: len(markdown_files(folder)) for name, folder in parts.items()}
        print(", ".join(f"{count} files {name}" for name, count in counts.items()), end="\n\n", flush=True)
        pincite(data, "add", str(parts["in"]))
        key = json.loads(pincite(data, "key", "create", "--name", "bench", "--json"))["key"]
        with served(data) as address, connect(address, key) as client:
            phases = measure(
                client,
                questions(tree),
                arguments.requests,
                adding=[*PINCITE, "add", str(parts["added"]), "--json", "--data", str(data)],
                uploading=(address, key, parts["uploaded"]),
            )
            report(phases)
            explain(client, phases)


if __name__ == "__main__":
    main()
