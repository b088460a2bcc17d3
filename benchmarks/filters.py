"""Filtered recall and BM25 agreement at 20,000 chunks, under row-level security.

    ./run bench filters [--chunks 20000] [--queries 100]

Made-up passages (Zipf words, clustered vectors) go through the product's own store. Dense search is compared with
the exact answer for filters that admit 1, 5, 20 and 100 % of the chunks; BM25 with bm25s, before and after deletes.
"""

import argparse
import asyncio
import hashlib
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np

from pincite.core.answers import Filters
from pincite.core.callers import Scope
from pincite.core.documents import Chunk, Level, Parsed, Upload
from pincite.settings import Rag
from pincite.store.database import Database, rows
from pincite.store.files import Files
from pincite.store.indexing import Entry, Indexing
from pincite.store.intake import Intake
from pincite.store.jobs import Jobs
from pincite.store.removal import Removal
from pincite.store.search import PostgresIndex
from pincite.store.server import EmbeddedServer
from pincite.words import terms

DIMENSIONS, PER_DOCUMENT = 384, 20
FOLDERS = {"one": 0.01, "five": 0.05, "twenty": 0.20, "rest": 0.74}


class MadeUp:
    """Passages and their vectors, the same every time."""

    def __init__(self, count: int) -> None:
        chosen = np.random.default_rng(5)
        words = np.array([f"w{n}" for n in range(20_000)])
        share = 1 / np.arange(1, len(words) + 1)
        lengths = chosen.integers(30, 200, count)
        drawn = chosen.choice(words, int(lengths.sum()), p=share / share.sum())
        self.texts = [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]
        self.centres = chosen.normal(size=(200, DIMENSIONS))
        self.vectors = self.near(chosen, count)
        self.queries = self.near(np.random.default_rng(6), 1000)
        picks = np.random.default_rng(7).choice(words, (1000, 6), p=share / share.sum())
        self.questions = [" ".join(pick) for pick in picks]

    def near(self, chosen: np.random.Generator, count: int) -> np.ndarray:
        vectors = self.centres[chosen.integers(0, 200, count)] + chosen.normal(size=(count, DIMENSIONS))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Bench:
    """The store filled with made-up passages, and what was put where."""

    def __init__(self, database: Database, folder: Path, model: int, made: MadeUp) -> None:
        self.database, self.made = database, made
        files = Files(folder, "bench")
        self.intake, self.removal = Intake(database, files, "bench"), Removal(database, files)
        self.jobs, self.indexing = Jobs(database, files.place), Indexing(database, model, "bench")
        self.model = model
        self.scope = Scope("local", (1,))
        self.documents: list[tuple[str, str, range]] = []

    async def fill(self) -> None:
        count = len(self.made.texts)
        bounds = np.cumsum([share * count for share in FOLDERS.values()])
        for start in range(0, count, PER_DOCUMENT):
            folder = list(FOLDERS)[min(int(np.searchsorted(bounds, start, side="right")), len(FOLDERS) - 1)]
            part = range(start, min(start + PER_DOCUMENT, count))
            upload = Upload(f"{start}.md", str(start).encode(), folder)
            document, _ = await self.intake.accept(self.scope, upload, mime="text/markdown", checksum=str(start))
            job = await self.jobs.claim("bench", 60)
            assert job is not None
            edition = await self.indexing.begin(await self.indexing.target(job))
            await self.indexing.write(edition, [self.entry(n) for n in part])
            await self.indexing.serve(edition, Parsed("x", "markdown"))
            self.documents.append((document.id, folder, part))
        async with self.database.transaction("local") as connection:
            found = await rows(connection, "select c.key, c.checksum::int from chunk c")
        self.number_of = dict(found)

    def entry(self, n: int) -> Entry:
        text = self.made.texts[n]
        chunk = Chunk(n, Level.CHUNK, None, text, 0, len(text), 1, 1, None, (), "prose", "xx", 1)
        return Entry(
            chunk,
            str(n),
            Counter(terms(text, "xx")),
            hashlib.sha256(b"%d" % n).digest(),
            [self.made.vectors[n].tolist()],
        )

    async def dense(self, index: PostgresIndex, folder: str | None, queries: int) -> tuple[float, float]:
        admitted = np.array([n for _, place, part in self.documents if folder in (None, place) for n in part])
        recalls, times = [], []
        for query in self.made.queries[:queries]:
            exact = admitted[np.argsort(-(self.made.vectors[admitted] @ query))[:10]]
            started = time.perf_counter()
            found = await index.dense(query.tolist(), scope=self.scope, filters=Filters(folder=folder), limit=10)
            times.append((time.perf_counter() - started) * 1000)
            recalls.append(len({self.number_of[m.key] for m in found} & set(exact.tolist())) / len(exact))
        return statistics.fmean(recalls), statistics.median(times)

    async def lexical(self, index: PostgresIndex, queries: int, rag: Rag) -> tuple[float, float]:
        present = np.array([n for _, _, part in self.documents for n in part])
        other = bm25s.BM25(k1=rag.bm25_k1, b=rag.bm25_b, method="lucene")
        other.index([terms(self.made.texts[n], "xx") for n in present], show_progress=False)
        agreed, times = [], []
        for question in self.made.questions[:queries]:
            wanted = [term for term in terms(question, "xx") if term in other.vocab_dict]
            scores = other.get_scores(wanted)
            started = time.perf_counter()
            found = await index.lexical(question, scope=self.scope, filters=Filters(), limit=10)
            times.append((time.perf_counter() - started) * 1000)
            ours = [scores[np.searchsorted(present, self.number_of[match.key])] for match in found]
            tenth = np.sort(scores)[-10]
            agreed.append(sum(score >= tenth - 1e-4 for score in ours) / 10)
        return statistics.fmean(agreed), statistics.median(times)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer.open(Path(folder) / "data") as server:
        database = await Database.open(server.url, pool_size=4)
        model = await database.register_model("bench/384", DIMENSIONS)
        bench = Bench(database, Path(folder) / "files", model, MadeUp(arguments.chunks))
        started = time.monotonic()
        await bench.fill()
        print(f"{arguments.chunks} chunks written in {time.monotonic() - started:.0f} s\n")
        await report(bench, arguments.queries)
        await database.close()


async def report(bench: Bench, queries: int) -> None:
    """The two tables."""
    default, hnsw = Rag(), Rag(exact_rows=0)
    print("| admitted | path | recall@10 | p50 ms |\n|---|---|---|---|")
    for folder in (*list(FOLDERS)[:3], None):
        for name, rag in (("default", default), ("HNSW forced", hnsw)):
            index = PostgresIndex(bench.database, bench.model, DIMENSIONS, rag)
            recall, p50 = await bench.dense(index, folder, queries)
            print(f"| {FOLDERS[folder] if folder else 1:.0%} | {name} | {recall:.4f} | {p50:.1f} |")
    print("\n| BM25 | agreement with bm25s, top 10 | p50 ms |\n|---|---|---|")
    index = PostgresIndex(bench.database, bench.model, DIMENSIONS, default)
    for label in ("all chunks", "after deleting a third"):
        if label != "all chunks":
            gone = bench.documents[::3]
            for document_id, _, _ in gone:
                await bench.removal.remove(bench.scope, document_id)
            bench.documents = [row for n, row in enumerate(bench.documents) if n % 3]
        agreement, p50 = await bench.lexical(index, queries, default)
        print(f"| {label} | {agreement:.4f} | {p50:.1f} |")


if __name__ == "__main__":
    asyncio.run(main())
