"""Search in growing libraries: latency, filtered recall, memory, disk and cold start at 10,000 chunks and more.

    ./run bench scale [--chunks 10000 100000] [--queries 200] [--work DIR]

Synthetic passages with the word frequencies of real text go through the product's own store; `--work` keeps the
libraries (a million chunks take hours to write and 16 GB). Searches run as the unprivileged role under row-level
security. For every question the variants are timed one after the other, so that noise affects all. The raw query runs
as superuser: the ten nearest neighbours by the same index with the same `ef_search`, without checks and without reading
the passages.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psycopg

from benchmarks._memory import idle_mb
from benchmarks._shelf import DIMENSIONS, FOLDERS, MadeUp, Shelf, indexes_made_at_the_end
from pincite import AsyncPincite
from pincite.core.accounts.access import Scope
from pincite.core.protocols import Vector
from pincite.core.query.question import Filters, Question
from pincite.store.embedded.server import EmbeddedServer

GOAL, FLOOR = 1.5, 2.0
WARM_UP, STARTS = 20, 5
PARTS = ("embedding", "raw pgvector", "dense", "lexical", "search")
COLD = (
    "import asyncio, sys, time\n"
    "begun = time.perf_counter()\n"
    "from pincite import AsyncPincite\n"
    "async def main():\n"
    "    async with AsyncPincite(sys.argv[1]):\n"
    "        print(time.perf_counter() - begun)\n"
    "asyncio.run(main())\n"
)
RAW = (
    f"select chunk from vector where model = 1 "
    f"order by embedding::halfvec({DIMENSIONS}) <#> %s::halfvec({DIMENSIONS}) limit 10"
)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Size:
    """What was measured at one size, in ms, MB and shares."""

    chunks: int
    times: dict[str, list[float]]
    stages: dict[str, list[float]]
    filtered: dict[str, "Filtered"]
    memory_mb: float
    disk_mb: float
    start_s: float
    empty_start_s: float

    def p50(self, part: str) -> float:
        """The median of a part."""
        return statistics.median(self.times[part])

    @property
    def ratio(self) -> float:
        """The whole search over the least it could cost."""
        return self.p50("search") / (self.p50("embedding") + self.p50("raw pgvector"))


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a search finds where a part of the library is admitted, and what it takes: p50 in ms."""

    recall: float
    dense: float
    search: float


class Trial:
    """A library of one size, opened as any user would."""

    def __init__(self, pincite: AsyncPincite, url: str, made: MadeUp) -> None:
        self.pincite, self.made = pincite, made
        self.index = pincite.services.kit_factory.kit(pincite.settings).index
        self.limit = pincite.settings.rag.candidates
        self.scope = Scope("local", (1,))
        self._raw = psycopg.connect(url, autocommit=True, options="-c search_path=pincite,public")
        self._raw.execute(f"set hnsw.ef_search = {pincite.config.settings.rag.ef_search}")

    def close(self) -> None:
        """Let go of the raw connection."""
        self._raw.close()

    async def ask(self, text: str, times: dict[str, list[float]], stages: dict[str, list[float]]) -> None:
        """Time every part of one question; the search gets its words in another order, so that it embeds anew."""
        embedder = self.pincite.services.embedder
        [vector] = await timed(times["embedding"], embedder.embed([text], as_query=True))
        await timed(times["raw pgvector"], asyncio.to_thread(self._nearest, vector))
        anywhere = Filters()
        await timed(times["dense"], self.index.dense(vector, scope=self.scope, filters=anywhere, limit=self.limit))
        await timed(times["lexical"], self.index.lexical(text, scope=self.scope, filters=anywhere, limit=self.limit))
        turned = " ".join(reversed(text.split()))
        result = await timed(times["search"], self.pincite.search(Question(turned)))
        for span in (await self.pincite.services.traces.get(self.scope, result.trace_id)).spans:
            stages[span.name].append(span.duration_ms)

    def _nearest(self, vector: Vector) -> None:
        self._raw.execute(RAW, (str(list(vector)),), prepare=True).fetchall()

    async def filtered(self, shelf: Shelf, queries: int) -> dict[str, Filtered]:
        """Recall@10 of the exact answer, and what dense and whole searches take, where a folder admits a part."""
        folders = (*list(FOLDERS)[:3], None)
        admitted = {folder: shelf.admitted(folder) for folder in folders}
        recalls, dense, search = (defaultdict[str | None, list[float]](list) for _ in range(3))
        for query, question in zip(self.made.queries[:queries], self.made.questions[WARM_UP:], strict=False):
            for turn, folder in enumerate(folders, start=1):
                filters, words = Filters(folder=folder), question.split()
                nearest = (-(self.made.vectors[admitted[folder]] @ query)).argsort()[:10]
                matches = self.index.dense(query.tolist(), scope=self.scope, filters=filters, limit=self.limit)
                best = [shelf.number_of[match.key] for match in (await timed(dense[folder], matches))[:10]]
                recalls[folder].append(len(set(best) & set(admitted[folder][nearest].tolist())) / len(nearest))
                turned = " ".join([*words[turn:], *words[:turn]])  # in another order, so that it is embedded anew
                await timed(search[folder], self.pincite.search(Question(turned, filters=filters)))
        return {
            f"{FOLDERS[folder] if folder else 1:.0%}": Filtered(
                statistics.fmean(recalls[folder]),
                statistics.median(dense[folder]),
                statistics.median(search[folder]),
            )
            for folder in folders
        }


async def timed(times: list[float], work: Awaitable[Result]) -> Result:
    """Wait for something and note how many milliseconds it took."""
    started = time.perf_counter()
    done = await work
    times.append((time.perf_counter() - started) * 1000)
    return done


async def measure(folder: Path, chunks: int, queries: int) -> Size:
    """Fill a library where it is not there yet, then look at it from every side."""
    made = MadeUp(chunks)
    with EmbeddedServer.open(folder) as server:
        async with AsyncPincite(folder) as pincite:
            shelf = Shelf(pincite.services.database, folder / "made-up", 1, made)
            await shelf.look()
            if not shelf.documents:
                started = time.monotonic()
                with indexes_made_at_the_end(server.url):
                    await shelf.fill()
                print(f"{chunks} chunks written in {time.monotonic() - started:.0f} s", flush=True)
            if len(shelf.number_of) != chunks:
                sys.exit(f"{folder} holds {len(shelf.number_of)} chunks: give --work another folder")
            await pincite.services.postings.make()
            trial = Trial(pincite, server.url, made)
            times: dict[str, list[float]] = defaultdict(list)
            stages: dict[str, list[float]] = defaultdict(list)
            for number, question in enumerate(made.questions[: WARM_UP + queries]):
                cold = number < WARM_UP
                await trial.ask(question, defaultdict(list) if cold else times, defaultdict(list) if cold else stages)
            filtered = await trial.filtered(shelf, queries)
            trial.close()
    return Size(chunks, times, stages, filtered, idle_mb(folder), _disk_mb(folder / "postgres"), *cold_start(folder))


def cold_start(folder: Path) -> tuple[float, float]:
    """Seconds from a new interpreter until a library is ready, and those a server without any data takes to start."""
    ready, empty = [], []
    with tempfile.TemporaryDirectory() as nothing:
        EmbeddedServer.open(Path(nothing) / "data").close()
        for _ in range(STARTS):
            started = time.perf_counter()
            server = EmbeddedServer.open(Path(nothing) / "data")
            empty.append(time.perf_counter() - started)
            server.close()
            done = subprocess.run([sys.executable, "-c", COLD, str(folder)], capture_output=True, text=True, check=True)
            ready.append(float(done.stdout))
    return statistics.median(ready), statistics.median(empty)


def _disk_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def report(sizes: list[Size]) -> None:
    """The tables: time, where it goes, filters, size."""
    print(f"\n| chunks | {' | '.join(f'{part} p50 / p95 ms' for part in PARTS)} | search ÷ (embedding + raw) |")
    print(f"|{'---|' * (len(PARTS) + 2)}")
    for size in sizes:
        cells = [f"{size.p50(part):.1f} / {statistics.quantiles(size.times[part], n=20)[18]:.1f}" for part in PARTS]
        print(f"| {size.chunks} | {' | '.join(cells)} | {size.ratio:.2f} (goal ≤ {GOAL}, floor {FLOOR:g}) |")
    stages = list(sizes[0].stages)
    print(f"\n| chunks | {' | '.join(f'{stage} p50 ms' for stage in stages)} |\n|{'---|' * (len(stages) + 1)}")
    for size in sizes:
        print(f"| {size.chunks} | {' | '.join(f'{statistics.median(size.stages[stage]):.2f}' for stage in stages)} |")
    head = "| chunks | admitted | recall@10 (goal ≥ .98) | dense p50 ms | search p50 ms | ÷ unfiltered (goal ≤ 1.5, floor 2) |"
    print(f"\n{head}\n|{'---|' * 6}")
    for size in sizes:
        for share, one in size.filtered.items():
            ratio = one.search / size.filtered["100%"].search
            print(f"| {size.chunks} | {share} | {one.recall:.4f} | {one.dense:.1f} | {one.search:.1f} | {ratio:.2f} |")
    print(
        "\n| chunks | memory idle MB (goal < 1000) | disk MB | cold start s | ÷ an empty PostgreSQL's |\n|---|---|---|---|---|"
    )
    for size in sizes:
        start = f"{size.start_s:.2f} | {size.start_s / size.empty_start_s:.1f} (goal ≤ 3)"
        print(f"| {size.chunks} | {size.memory_mb:.0f} | {size.disk_mb:.0f} | {start} |")
    if len(sizes) > 1:
        small, large = sizes[0], sizes[-1]
        print(
            f"\nsearch p50 at {large.chunks} ÷ at {small.chunks}: {large.p50('search') / small.p50('search'):.1f}"
            " (goal ≤ 4 from 10,000 to 1,000,000; search by words is exact at every size)"
        )


async def main() -> None:
    """Read the arguments and measure size after size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200, help="questions to ask, 900 at most")
    parser.add_argument("--work", type=Path, help="folder that keeps the libraries")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        report([await measure(work / str(chunks), chunks, arguments.queries) for chunks in arguments.chunks])


if __name__ == "__main__":
    asyncio.run(main())
