"""The extractive answerer: is the gold answer in what it cites, and does it say so when there is none?

    ./run bench answers --data DIR [--set abstention] [--work DIR] [--every 4]

Needs a set whose questions carry `answers` and, for refusals, a `kind` (covered, near, far).
"""

import argparse
import asyncio
import gzip
import json
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from pincite import AsyncPincite
from pincite.core.documents import Upload


def questions_of(folder: Path, every: int) -> list[dict[str, Any]]:
    """Every so-manyth question of a set."""
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file][::every]


async def fill(pincite: AsyncPincite, folder: Path) -> None:
    """Add every paragraph as a text file, English and German in folders of their own."""
    ids = []
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            language, number = row["_id"].split(":")
            added = await pincite.upload(Upload(f"{number}.txt", row["text"].encode(), folder=language))
            ids.append(added.document.id)
    pincite.workers.start()
    await pincite.wait(ids)


async def measure(pincite: AsyncPincite, questions: list[dict[str, Any]]) -> None:
    """Ask them all and print the two tables."""
    refused: dict[str, list[bool]] = defaultdict(list)
    within: dict[str, list[bool]] = defaultdict(list)
    first: dict[str, list[bool]] = defaultdict(list)
    counts: list[int] = []
    for question in questions:
        answer = await pincite.ask(question["text"])
        kind, language = question.get("kind", "covered"), question["lang"]
        refused[kind].append(not answer.citations)
        if kind == "covered" and question["answers"]:
            quotes = [citation.quote for citation in answer.citations]
            within[language].append(any(gold in quote for gold in question["answers"] for quote in quotes))
            first[language].append(bool(quotes) and any(gold in quotes[0] for gold in question["answers"]))
            counts.append(len(quotes))
    mean = statistics.fmean
    print("| language | gold in the cited sentences | gold in the first | questions |\n|---|---|---|---|")
    for language in within:
        print(f"| {language} | {mean(within[language]):.3f} | {mean(first[language]):.3f} | {len(within[language])} |")
    print(f"\nsentences an answer: {mean(counts):.2f}\n\n| questions | refused |\n|---|---|")
    for kind, rows in refused.items():
        print(f"| {kind} | {mean(rows):.3f} |")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="abstention")
    parser.add_argument("--work", type=Path, help="data folder to keep between runs")
    parser.add_argument("--every", type=int, default=1, help="ask every so-manyth question only")
    arguments = parser.parse_args()
    folder = arguments.data / arguments.set
    with tempfile.TemporaryDirectory() as temporary:
        async with AsyncPincite(arguments.work or Path(temporary)) as pincite:
            await fill(pincite, folder)
            await measure(pincite, questions_of(folder, arguments.every))


if __name__ == "__main__":
    asyncio.run(main())
