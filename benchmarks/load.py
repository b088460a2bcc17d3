"""Many concurrent users: no lost, duplicated or mixed-up answers, latency, one user over their limits, and overload.

    ./run bench load [--users 64] [--minutes 10] [--chunks 100000] [--work DIR]

`pincite serve` with synthetic passages that everyone may read, a stub model (first token after 300 ms, then one every
20 ms, 100 in all), and users in a separate process, who pause for 1 to 5 s between requests: 80 % searches, 15 %
streamed questions, 5 % uploads. Each user has a nonce in their own documents, and asks about it. Each smaller phase
takes a tenth of the time.
"""

import argparse
import asyncio
import json
import os
import secrets
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

from benchmarks._served import FIRST_TOKEN_MS, TOKEN_MS, TOKENS, fill, serving
from benchmarks._users import API, Crowd, Done, Person, Plan, faults, note, send_out
from benchmarks.adding import pincite

IDEAL_MS = FIRST_TOKEN_MS + TOKEN_MS * (TOKENS - 1)
FEW, PARALLEL, OVER = 16, 200, 4
ALONE, WARM_UP, BATCH = 200, 30, 60
READY_S, SETTLED_S = 120.0, 30.0
REFUSED = (429, 503)


@dataclass(slots=True)
class Figures:
    """The table: each figure with its goal, and whether that is met."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, what: str, value: float, goal: float, shown: str = "{:.2f}", *, least: bool = False) -> None:
        """A figure that shall be at most the goal, or at least."""
        met = value >= goal if least else value <= goal
        sign = "≥" if least else "≤"
        self.rows.append((what, shown.format(value), f"{sign} {shown.format(goal)}", "met" if met else "not met"))

    def note(self, what: str, value: str) -> None:
        """A figure without a goal."""
        self.rows.append((what, value, "", ""))

    def __str__(self) -> str:
        lines = ["| | measured | goal | |", "|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in self.rows)]
        return "\n".join(lines)


class Load:
    """A server with its users, and one phase after the other."""

    def __init__(self, address: str, administrator: str, questions: tuple[str, ...], users: int) -> None:
        self.address, self.questions = address, questions
        self._administrator = self._client(administrator)
        self.people = tuple(self._person(n) for n in range(users))
        self.uploaded: list[tuple[Person, str]] = []
        self._settle()

    def _client(self, key: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, headers={"Authorization": f"Bearer {key}"}, timeout=60)

    def _person(self, number: int) -> Person:
        """Somebody new, with a document of their own."""
        name = f"user {number} {secrets.token_hex(4)}"
        self._post(self._administrator, "/users", json={"name": name, "role": "editor"})
        made = self._post(self._administrator, "/keys", json={"name": "load", "user": name, "role": "editor"})
        person = Person(name, made["key"], f"zq{secrets.token_hex(5)}")
        with self._client(person.key) as client:
            text = note(person.nonce, 0, "that it is the first")
            self._post(client, "/documents/upload", files={"file": (f"{person.nonce}.md", text)})
        return person

    @staticmethod
    def _post(client: httpx2.Client, path: str, **content: Any) -> Any:
        return client.post(f"{API}{path}", **content).raise_for_status().json()

    def _settle(self, people: tuple[Person, ...] | None = None) -> None:
        """Wait until everybody's documents are processed."""
        deadline = time.monotonic() + READY_S
        for person in people or self.people:
            with self._client(person.key) as client:
                while client.get(f"{API}/jobs").json()["items"]:
                    if time.monotonic() > deadline:
                        sys.exit("documents were not processed in time")
                    time.sleep(0.2)

    def alone(self, count: int, warm_up: int = WARM_UP) -> tuple[list[float], list[float]]:
        """Searches of one person, one after the other: milliseconds of each, and of the retrieval in it."""
        took, retrieved = [], []
        with self._client(self.people[0].key) as client:
            for number in range(-warm_up, count):
                words = self.questions[number % len(self.questions)]
                began = time.perf_counter()
                found = self._post(client, "/search", json={"query": f"{words} {self.people[0].nonce}"})
                if number >= 0:
                    took.append((time.perf_counter() - began) * 1000)
                    trace = client.get(f"{API}/traces/{found['trace_id']}").json()
                    retrieved.append(sum(s["duration_ms"] for s in trace["spans"] if s["name"] == "retrieval"))
        return took, retrieved

    def crowd(self, seconds: float, users: int, **more: Any) -> Crowd:
        """A phase: so many of the users, for so long."""
        crowd = send_out(Plan(self.address, self.people[:users], self.questions, seconds, **more))
        owners = {one.nonce: one for one in self.people}
        self.uploaded += [
            (owners[one.name.split("-")[0]], one.name)
            for one in crowd.done
            if one.kind == "upload" and one.status == 202
        ]
        return crowd

    def missing(self) -> tuple[int, int]:
        """Uploads that were acknowledged and are not there, or more than once, or could not be processed."""
        self._settle()
        lost = doubled = 0
        for person in self.people:
            with self._client(person.key) as client:
                names, asked = list[str](), {"q": person.nonce, "limit": "200"}
                while asked:
                    page = client.get(f"{API}/documents", params=asked).json()
                    names += [one["name"] for one in page["items"] if one["status"] == "completed"]
                    asked = asked | {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
            for owner, name in self.uploaded:
                if owner == person:
                    lost += names.count(name) == 0
                    doubled += names.count(name) > 1
        return lost, doubled

    def ingest(self, seconds: float) -> float:
        """Documents a second that one more person gets in and processed, so many at a time, for about so long."""
        person, began, count = self._person(len(self.people)), time.monotonic(), 0
        with self._client(person.key) as client:
            while time.monotonic() - began < seconds:
                for _ in range(BATCH):
                    count += 1
                    text = note(person.nonce, count, " ".join(self.questions[count % 900 : count % 900 + 8]))
                    self._post(client, "/documents/upload", files={"file": (f"{count}.md", text)})
                self._settle((person,))
        return count / (time.monotonic() - began)


def percentile(values: list[float], which: float) -> float:
    """Of milliseconds; too few make no figure."""
    return float(np.percentile(values, which)) if values else float("nan")


def first_words(done: list[Done]) -> list[float]:
    """From the question to the first words, less what the stub took to write them."""
    return [one.first_ms - FIRST_TOKEN_MS - TOKEN_MS * one.first_words for one in done if one.first_ms]


def measure(load: Load, seconds: float, figures: Figures) -> None:
    """Points 1 to 7, one after the other."""
    short, everybody, few = max(5.0, seconds / 10), len(load.people), min(FEW, len(load.people))
    alone, retrieved = load.alone(ALONE if seconds > 60 else 40)
    p50 = percentile(alone, 50)
    figures.note("search alone, p50 / p99 ms", f"{p50:.1f} / {percentile(alone, 99):.1f}")
    figures.note("retrieval alone, p50 ms", f"{percentile(retrieved, 50):.1f}")
    some = load.crowd(short, few)
    many = load.crowd(seconds, everybody)
    _many(load, many, figures)
    figures.add(f"2. search p99 at {everybody} users ÷ p50 alone", percentile(many.ms("search"), 99) / p50, 8)
    figures.add(f"2. search p50 at {few} users ÷ p50 alone", percentile(some.ms("search"), 50) / p50, 2)
    _streams(many, percentile(retrieved, 50), figures)
    _beside_ingestion(load, short, figures)
    _abused(load, short, few, figures)
    _overloaded(load, short, few, p50, figures)


def _many(load: Load, many: Crowd, figures: Figures) -> None:
    done = many.done
    lost, doubled = load.missing()
    kinds = {kind: sum(one.kind == kind for one in done) for kind in ("search", "question", "upload")}
    figures.note(f"requests of {len(load.people)} users", ", ".join(f"{count} {kind}" for kind, count in kinds.items()))
    figures.note("the generator's share of one core", f"{many.share:.2f}")
    bad = [one for one in done if one.status not in (200, 202)]
    figures.add("1. lost, refused or failed", len(faults(done, "lost")) + len(bad) + lost, 0, "{:.0f}")
    figures.add("1. duplicated", len(faults(done, "duplicated")) + doubled, 0, "{:.0f}")
    figures.add("1. crossed between users", len(faults(done, "crossed")), 0, "{:.0f}")


def _streams(many: Crowd, retrieval: float, figures: Figures) -> None:
    streams = [one for one in many.done if one.kind == "question" and one.status == 200]
    figures.add(
        "3. first words − the stub's own, p50 ms", percentile(first_words(streams), 50), 1.5 * retrieval + 15, "{:.0f}"
    )
    literal = percentile([one.first_ms - FIRST_TOKEN_MS for one in streams], 50)
    figures.note("3. the same, less the stub's first token only (a first sentence is shown whole)", f"{literal:.0f}")
    figures.add(
        "4. a stream's total ÷ the stub's ideal, p99", percentile([one.ms for one in streams], 99) / IDEAL_MS, 1.2
    )


def _beside_ingestion(load: Load, seconds: float, figures: Figures) -> None:
    idle = load.crowd(seconds, 4, only_search=True, think_s=(0.05, 0.15))
    alone = load.ingest(seconds)
    with ThreadPoolExecutor(1) as pool:
        ingesting = pool.submit(load.ingest, seconds)
        beside = load.crowd(seconds, 4, only_search=True, think_s=(0.05, 0.15))
    ratio = percentile(beside.ms("search"), 99) / percentile(idle.ms("search"), 99)
    figures.add("5. search p99 while ingesting ÷ idle", ratio, 2)
    figures.add("5. ingestion while serving ÷ alone", ingesting.result() / alone, 0.5, least=True)


def _abused(load: Load, seconds: float, few: int, figures: Figures) -> None:
    before = load.crowd(seconds, few - 1, only_search=True)
    abuser = load.people[few - 1]
    during = load.crowd(seconds, few - 1, only_search=True, abuser=abuser, parallel=PARALLEL)
    abuse = [one for one in during.done if one.kind == "abuse"]
    refused = sum(one.status in REFUSED for one in abuse)
    figures.note(f"one with {PARALLEL} parallel requests", f"{len(abuse)} requests, {refused} refused")
    figures.note("the generator's share of one core", f"{during.share:.2f}")
    ratio = percentile(during.ms("search"), 95) / percentile(before.ms("search"), 95)
    figures.add("6. the others' search p95 beside them ÷ without", ratio, 1.5)


def _overloaded(load: Load, seconds: float, few: int, p50: float, figures: Figures) -> None:
    peak = load.crowd(seconds, few, only_search=True, think_s=(0.0, 0.001))
    per_s = len(peak.ms("search")) / seconds
    over = load.crowd(seconds, few, rate=OVER * per_s)
    refused = [one.ms for one in over.done if one.status in REFUSED]
    span = max(one.at + one.ms / 1000 for one in over.done) - min(one.at for one in over.done)
    figures.note("peak, searches a second", f"{per_s:.0f} ({few} users without pause)")
    figures.note(f"{OVER} × that", f"{len(over.done)} came, {len(refused)} refused")
    figures.note("the generator's share of one core", f"{over.share:.2f}")
    figures.add(
        "7. lost or failed in overload",
        len([one for one in over.done if one.status not in (200, *REFUSED)]),
        0,
        "{:.0f}",
    )
    figures.add("7. refused within, p99 ms", percentile(refused, 99), 100, "{:.0f}")
    figures.add("7. goodput ÷ peak", len(over.ms("search")) / span / per_s, 0.8, least=True)
    figures.add("7. back to normal after, s", _recovery(load, p50), 10, "{:.1f}")


def _recovery(load: Load, p50: float) -> float:
    """Seconds until five searches in a row take no longer than twice what they take alone, in the median."""
    began = time.monotonic()
    while time.monotonic() - began < SETTLED_S:
        took, _ = load.alone(5, warm_up=0)
        if percentile(took, 50) <= 2 * p50:
            break
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=10.0, help="of the main phase")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--work", type=Path, help="data folder to keep; its made-up passages are used again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = (arguments.work or Path(temporary)) / f"load-{arguments.chunks}"
        data.mkdir(parents=True, exist_ok=True)
        questions = asyncio.run(fill(data, arguments.chunks))
        key = json.loads(pincite(data, "key", "create", "--name", "load", "--json"))["key"]
        figures = Figures()
        with serving(data) as address:
            measure(Load(address, key, questions, arguments.users), arguments.minutes * 60, figures)
        print(f"\n{arguments.users} users, {arguments.chunks:,} chunks, {os.cpu_count()} cores\n\n{figures}")


if __name__ == "__main__":
    main()
