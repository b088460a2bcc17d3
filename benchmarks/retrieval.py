"""Retrieval quality through the public API: nDCG@10 and recall of a question set.

    ./run bench retrieval --data DIR --set scifact [--split train] [--work DIR] [--try rag.alpha=0.4 …]

Each document goes in as a Markdown file, its title as the heading. `--work` keeps the index for the next run;
every `--try` is one more line of the table, on the same index.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.sets import QuestionSet, load_set, ndcg, recall
from pincite import AsyncPincite
from pincite.core.answers import Question
from pincite.core.documents import Upload


async def fill(pincite: AsyncPincite, questions: QuestionSet) -> None:
    """Add every document and wait until all can be found."""
    started = time.monotonic()
    ids = []
    for key, (title, text) in questions.corpus.items():
        body = f"# {title}\n\n{text}\n" if title else f"{text}\n"
        added = await pincite.upload(Upload(f"{key}.md", body.encode(), folder=questions.name.split(".")[0]))
        if added.outcome != "unchanged":
            ids.append(added.document.id)
    pincite.workers.start()
    await pincite.wait(ids)
    print(f"added {len(ids)} of {len(questions.corpus)} documents in {time.monotonic() - started:.0f} s")


async def measure(pincite: AsyncPincite, questions: QuestionSet) -> str:
    """One line of the table."""
    gains, hits5, hits10, times = [], [], [], []
    for key, text in questions.queries.items():
        started = time.monotonic()
        result = await pincite.search(Question(text, top_k=30))
        times.append((time.monotonic() - started) * 1000)
        names = dict.fromkeys(hit.chunk.document_name.removesuffix(".md") for hit in result.hits)
        ranked, relevant = list(names), questions.qrels[key]
        gains.append(ndcg(ranked, relevant))
        hits5.append(recall(ranked, relevant, 5))
        hits10.append(recall(ranked, relevant, 10))
    mean = statistics.fmean
    return f"{mean(gains):.4f} | {mean(hits5):.3f} | {mean(hits10):.3f} | {statistics.median(times):.1f}"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--set", default="scifact")
    parser.add_argument("--split", default="")
    parser.add_argument("--work", type=Path, help="data folder to keep between runs")
    parser.add_argument("--try", action="append", default=[], dest="tries", help="settings of a further line, by comma")
    arguments = parser.parse_args()
    questions = load_set(arguments.data / arguments.set, arguments.split)
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        async with AsyncPincite(work) as pincite:
            await fill(pincite, questions)
        print(f"\n{questions.name}: {len(questions.corpus)} documents, {len(questions.queries)} questions\n")
        print("| settings | nDCG@10 | R@5 | R@10 | p50 ms |\n|---|---|---|---|---|")
        for line in ["", *arguments.tries]:
            settings = dict(pair.split("=", 1) for pair in line.split(",") if pair)
            async with AsyncPincite(work, settings=settings) as pincite:
                print(f"| {line or 'default'} | {await measure(pincite, questions)} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
