"""Document processing: compared with the bare embedder, memory use, unchanged files, and concurrent searches.

    ./run bench ingest --data DIR | --documents DIR [--parts 6] [--files 10000] [--only NAME]

ratio: the documentation is added in parts, as `pincite add` does. After each part the bare embedder embeds the same
windows on all cores, and nothing else; both alternate, so that noise affects both. One part before the measured ones is
for warming up.
small: the same with many small Markdown files, all different, instead of the documentation; the bare embedder gets
their windows sorted by length.
many: many small Markdown files, all different, added by `pincite add` with two workers: the peak memory of all its
processes and the database, and the time to add all files again.
beside: `pincite serve` holds a third of the documentation and is searched, alternately when idle and while `pincite
add` adds more.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks._documentation import add_arguments, copy_tree, markdown_files
from benchmarks._memory import Peak, idle_mb
from benchmarks.adding import PINCITE, pincite
from benchmarks.serving import Bench, connect, questions, served, split_tree
from pincite import AsyncPincite
from pincite.core.protocols import Embedder
from pincite.ingest.accept.collect import Collected, NamedFile
from pincite.ingest.embed import bulk_embedder, passage_vectors
from pincite.providers.pincite_embed import Options, make_embedder

RATIO_GOAL, PEAK_GOAL_MB, AGAIN_GOAL, BESIDE_GOAL = 0.90, 1500, 50, 2.0
IDLE_GOAL_MB = 1000
REQUESTS = 150
_WORD = re.compile(r"[A-Za-z]{3,}")


class Overheard:
    """Passages that were sent to be embedded."""

    def __init__(self) -> None:
        self.passages: list[passage_vectors.PassageText] = []
        real = bulk_embedder.ProcessBulkEmbedder._embed

        async def embed(
            this: bulk_embedder.ProcessBulkEmbedder, passages: Sequence[passage_vectors.PassageText]
        ) -> list[passage_vectors.Windows]:
            self.passages += passages
            return await real(this, passages)

        bulk_embedder.ProcessBulkEmbedder._embed = embed  # type: ignore[method-assign]

    async def again(self, embedder: Embedder) -> tuple[int, float]:
        """Embed their windows with nothing around it: how many, and how long that took."""
        windows = [window for prefix, text in self.passages for window in embedder.windows(text, prefix)]
        windows.sort(key=len)
        self.passages = []
        started = time.perf_counter()
        await embedder.embed(windows, as_query=False)
        return len(windows), time.perf_counter() - started


async def ratio(folder: Path, files: Sequence[Path], parts: int) -> None:
    """Add and embed in turns, then rest and look at the memory."""
    heard, bare = Overheard(), make_embedder(Options(threads=os.cpu_count() or 1))
    print("| part | files | windows | added in s | embedded in s | ratio |\n|---|---|---|---|---|---|")
    adding = embedding = 0.0
    total = 0
    async with AsyncPincite(folder) as library:
        for number in range(parts + 1):
            chosen = [NamedFile(path, str(path.parent.name)) for path in files[number :: parts + 1]]
            started = time.perf_counter()
            await library.add_all(Collected(chosen, [], []))
            took = time.perf_counter() - started
            windows, alone = await heard.again(bare)
            if number:
                adding, embedding, total = adding + took, embedding + alone, total + windows
                print(
                    f"| {number} | {len(chosen)} | {windows} | {took:.1f} | {alone:.1f} | {alone / took:.2f} |",
                    flush=True,
                )
    print(
        f"| **all** | | {total} | {adding:.1f} | {embedding:.1f} | **{embedding / adding:.2f}** (goal ≥ {RATIO_GOAL}) |"
    )
    print(f"\nidle, one process and its database: {idle_mb(folder):.0f} MB (goal < {IDLE_GOAL_MB})\n", flush=True)


def write_many(folder: Path, count: int, tree: Path) -> None:
    """So many files of a heading and a few lines, of the words of the documentation."""
    words = sorted({word for path in markdown_files(tree) for word in _WORD.findall(path.read_text(encoding="utf-8"))})
    chosen = random.Random(11)
    for number in range(count):
        place = folder / f"{number % 100:02}"
        place.mkdir(parents=True, exist_ok=True)
        text = " ".join(chosen.choices(words, k=40))
        (place / f"{number:05}.md").write_text(
            f"# {' '.join(chosen.choices(words, k=3))}\n\n{text}.\n", encoding="utf-8"
        )


def many(folder: Path, data: Path, count: int) -> None:
    """Add all files, then add them again."""
    pincite(data, "list", "--json")  # making the database is not counted
    times = []
    for _ in range(2):
        command = [*PINCITE, "add", str(folder), "--data", str(data), "--set", "ingest.workers=2"]
        started = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process, Peak(process.pid, data) as peak:
            if process.wait():
                sys.exit("pincite add failed")
        times.append((time.monotonic() - started, peak.mb))
    (first, mb), (again, _) = times
    print(f"{count:,} files: {first:.0f} s ({count / first:.0f} a second), peak {mb:.0f} MB (goal ≤ {PEAK_GOAL_MB})")
    print(f"again, unchanged: {again:.1f} s, {first / again:.0f} times faster (goal ≥ {AGAIN_GOAL})\n", flush=True)


def beside(tree: Path, folder: Path, data: Path) -> None:
    """Search idle and while files are added, in turns."""
    before, added, more = split_tree(tree, folder)
    pincite(data, "add", str(before))
    key = json.loads(pincite(data, "key", "create", "--name", "bench", "--json"))["key"]
    with served(data) as address, connect(address, key) as client:
        bench = Bench(client, questions(tree), REQUESTS)
        for part in (*added, *more):
            bench.rest()
            bench.beside_adding(data, part)
        bench.rest()
    idle, busy = ([took for took, _ in phase.searches] for phase in (bench.idle, bench.adding))
    print("| meanwhile | searches | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|---|")
    for name, times in (("nothing", idle), ("pincite add", busy)):
        print(
            f"| {name} | {len(times)} | " + " | ".join(f"{ms:.1f}" for ms in np.percentile(times, (50, 95, 99))) + " |"
        )
    apart = np.percentile(busy, 99) / np.percentile(idle, 99)
    print(f"\np99 while adding is {apart:.2f} times p99 while idle (goal ≤ {BESIDE_GOAL:g})", flush=True)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--parts", type=int, default=6, help="how often adding and embedding take turns")
    parser.add_argument("--files", type=int, default=10_000, help="how many files are many")
    parser.add_argument("--only", choices=["ratio", "small", "many", "beside"], help="measure only this")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        tree = copy_tree(arguments, here / "tree", newest=False)
        newest = copy_tree(arguments, here / "newest")
        if arguments.only in (None, "ratio"):
            asyncio.run(ratio(here / "ratio", markdown_files(newest), arguments.parts))
        if arguments.only in (None, "small", "many"):
            write_many(here / "many", arguments.files, newest)
        if arguments.only in (None, "small"):
            asyncio.run(ratio(here / "small", markdown_files(here / "many"), arguments.parts))
        if arguments.only in (None, "many"):
            many(here / "many", here / "many-data", arguments.files)
        if arguments.only in (None, "beside"):
            beside(tree, here / "parts", here / "beside-data")


if __name__ == "__main__":
    main()
