"""The extractive answerer: whether the cited sentences contain the gold answer, and whether it refuses correctly.

    ./run bench answers --data DIR [--set abstention] [--work DIR] [--every 4]

Needs a set whose questions have `answers` and a `document`, and, for refusals, a `kind` (covered, near, far). For a
missed gold answer the benchmark reports where it was lost: not retrieved, not among the chosen sentences, or refused.
Every other article was used for tuning; `held out` counts the rest. The sample questions follow at the end, by form.
"""

import argparse
import asyncio
import gzip
import json
import statistics
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pincite import AsyncPincite
from pincite.core.documents.document import Upload
from pincite.core.query.answer import Answer
from pincite.ingest.accept.collect import collect
from pincite.text.sentences import sentences

PARAGRAPHS = 5
"""Paragraphs of one article in the set; their numbers follow each other."""
EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question; `lost` is where a gold answer that is not cited went, empty where it is cited."""

    language: str
    kind: str
    held_out: bool
    refused: bool
    first: bool
    lost: str
    sentences: int


def questions_of(folder: Path, every: int) -> list[dict[str, Any]]:
    """Every so-manyth question of a set."""
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file][::every]


def held_out(question: dict[str, Any]) -> bool:
    """Whether a question is of an article that nothing was tuned on; translations of one go together."""
    return int(question["document"].split(":")[1]) // PARAGRAPHS % 2 == 1


async def fill(pincite: AsyncPincite, folder: Path) -> dict[str, str]:
    """Add every paragraph as a text file, English and German in folders of their own; its document's id, by its own."""
    ids = {}
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            language, number = row["_id"].split(":")
            added = await pincite.documents.upload(Upload(f"{number}.txt", row["text"].encode(), folder=language))
            ids[row["_id"]] = added.document.id
    pincite.services.workers.start()
    await pincite.documents.wait(list(ids.values()))
    return ids


def outcome(question: dict[str, Any], answer: Answer, document_id: str | None) -> Outcome:
    """Compare an answer with the gold, which is in that document."""
    quotes = [citation.quote for citation in answer.citations]
    gold = question["answers"]
    cited = any(one in quote for one in gold for quote in quotes)
    found = any(source.document_id == document_id for source in answer.sources)
    lost = "" if cited else "retrieval" if not found else "refusal" if not quotes else "choosing"
    return Outcome(
        question["lang"], question.get("kind", "covered"), held_out(question), not quotes,
        bool(quotes) and any(one in quotes[0] for one in gold), lost, sum(len(sentences(quote)) for quote in quotes),
    )  # fmt: skip


def report(outcomes: list[Outcome]) -> list[str]:
    """The tables of a set's questions."""
    covered = [one for one in outcomes if one.kind == "covered"]
    lines = [
        "| | language | in the cited sentences | in the first quote | sentences | lost at retrieval | choosing | refusal | questions |",
        "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for name, chosen in (("held out", [one for one in covered if one.held_out]), ("all", covered)):
        for language in sorted({one.language for one in chosen}, reverse=True):
            lines.append(_line(name, language, [one for one in chosen if one.language == language]))
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        kinds[one.kind].append(one)
    lines += ["", "| questions | refused, held out | refused, all |", "|---|---|---|"]
    for kind, rows in kinds.items():
        lines.append(f"| {kind} | {_refused([one for one in rows if one.held_out])} | {_refused(rows)} |")
    return lines


def _line(name: str, language: str, rows: list[Outcome]) -> str:
    lost = Counter(one.lost for one in rows)
    shares = " | ".join(f"{lost[stage] / len(rows):.3f}" for stage in ("retrieval", "choosing", "refusal"))
    count = statistics.fmean([one.sentences for one in rows if not one.refused] or [0])
    return (
        f"| {name} | {language} | {lost[''] / len(rows):.3f} | {statistics.fmean(one.first for one in rows):.3f} | "
        f"{count:.2f} | {shares} | {len(rows)} |"
    )


def _refused(rows: list[Outcome]) -> str:
    return f"{statistics.fmean(one.refused for one in rows):.3f}" if rows else "–"


async def samples() -> list[str]:
    """The sample questions by the form of their answers: how many are right."""
    questions = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))
    right: dict[str, list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        async with AsyncPincite(Path(temporary)) as pincite:
            await pincite.add_all(collect([EXAMPLES / "documents"]))
            for question in questions:
                answer = await pincite.ask(question["question"])
                told = answer.text + " ".join(citation.quote for citation in answer.citations)
                form = question.get("form", "fact" if question["answerable"] else "refusal")
                held = any(wanted in told for wanted in question["answer_contains"])
                right[form].append(held if question["answerable"] else not answer.citations)
    return [
        "", "| sample questions | right | of |", "|---|---|---|",
        *(f"| {form} | {sum(rows)} | {len(rows)} |" for form, rows in right.items()),
    ]  # fmt: skip


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
            ids = await fill(pincite, folder)
            outcomes = [
                outcome(question, await pincite.ask(question["text"]), ids.get(question["document"]))
                for question in questions_of(folder, arguments.every)
            ]
    print("\n".join([*report(outcomes), *await samples()]))


if __name__ == "__main__":
    asyncio.run(main())
