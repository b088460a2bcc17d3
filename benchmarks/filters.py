"""Filtered recall and BM25 agreement at 20,000 chunks, under row-level security.

    ./run bench filters [--chunks 20000] [--queries 100]

Synthetic passages with the word frequencies of real text go through the product's own store. Dense search is compared
with the exact result for filters that admit 1, 5, 20 and 100 % of the chunks, and BM25 with bm25s, before and after
deletes.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import bm25s
import numpy as np

from benchmarks._shelf import DIMENSIONS, FOLDERS, LANGUAGE, MadeUp, Shelf
from pincite.config.branches.retrieval import Rag
from pincite.core.query.question import Filters
from pincite.store.database import Database
from pincite.store.embedded.server import EmbeddedServer
from pincite.store.search.postgres_index import PostgresIndex
from pincite.text.terms import terms


async def dense(shelf: Shelf, index: PostgresIndex, folder: str | None, queries: int) -> tuple[float, float]:
    """Recall@10 of the exact answer among what a folder admits, and the median time."""
    admitted = shelf.admitted(folder)
    recalls, times = [], []
    for query in shelf.made.queries[:queries]:
        exact = admitted[np.argsort(-(shelf.made.vectors[admitted] @ query))[:10]]
        started = time.perf_counter()
        found = await index.dense(query.tolist(), scope=shelf.scope, filters=Filters(folder=folder), limit=10)
        times.append((time.perf_counter() - started) * 1000)
        recalls.append(len({shelf.number_of[m.key] for m in found} & set(exact.tolist())) / len(exact))
    return statistics.fmean(recalls), statistics.median(times)


async def lexical(shelf: Shelf, index: PostgresIndex, queries: int, rag: Rag) -> tuple[float, float]:
    """How much of the top 10 another BM25 has there, too, ties aside, and the median time."""
    present = shelf.admitted(None)
    other = bm25s.BM25(k1=rag.bm25_k1, b=rag.bm25_b, method="lucene")
    other.index([terms(shelf.made.text(n), LANGUAGE) for n in present], show_progress=False)
    agreed, times = [], []
    for question in shelf.made.questions[:queries]:
        wanted = [term for term in terms(question, LANGUAGE) if term in other.vocab_dict]
        scores = other.get_scores(wanted)
        started = time.perf_counter()
        found = await index.lexical(question, scope=shelf.scope, filters=Filters(), limit=10)
        times.append((time.perf_counter() - started) * 1000)
        ours = [scores[np.searchsorted(present, shelf.number_of[match.key])] for match in found]
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
        shelf = Shelf(database, Path(folder) / "files", model, MadeUp(arguments.chunks))
        started = time.monotonic()
        await shelf.fill()
        print(f"{arguments.chunks} chunks written in {time.monotonic() - started:.0f} s\n")
        await report(shelf, model, arguments.queries)
        await database.close()


async def report(shelf: Shelf, model: int, queries: int) -> None:
    """The two tables."""
    default, hnsw = Rag(), Rag(exact_rows=0)
    print("| admitted | path | recall@10 | p50 ms |\n|---|---|---|---|")
    for folder in (*list(FOLDERS)[:3], None):
        for name, rag in (("default", default), ("HNSW forced", hnsw)):
            index = PostgresIndex(shelf.database, model, DIMENSIONS, rag)
            recall, p50 = await dense(shelf, index, folder, queries)
            print(f"| {FOLDERS[folder] if folder else 1:.0%} | {name} | {recall:.4f} | {p50:.1f} |")
    print("\n| BM25 | agreement with bm25s, top 10 | p50 ms |\n|---|---|---|")
    index = PostgresIndex(shelf.database, model, DIMENSIONS, default)
    for label in ("all chunks", "after deleting a third"):
        if label != "all chunks":
            for document_id, _, _ in shelf.documents[::3]:
                await shelf.removal.remove(shelf.scope, document_id)
            await shelf.look()
        agreement, p50 = await lexical(shelf, index, queries, default)
        print(f"| {label} | {agreement:.4f} | {p50:.1f} |")


if __name__ == "__main__":
    asyncio.run(main())
