"""Misspelt questions: the loss with and without spelling correction, and its effect on correct questions.

    ./run bench spelling --data DIR [--set scifact …] [--work DIR] [--show]

DIR holds the question sets and `typo-queries`: questions of two of them with one or two realistic misspellings.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite import AsyncPincite
from pincite.config.settings import Settings
from pincite.config.sources import load_settings, with_values
from pincite.core.query.question import Question, Strategy
from pincite.evaluate.compare import corpus_of
from pincite.evaluate.measure.metrics import ndcg
from pincite.evaluate.questions.datasets import QuestionSet, load_set, rows
from pincite.evaluate.temporary_library import temporary_library
from pincite.evaluate.variants import read_variants

SETS = ("scifact", "hotpotqa100", "musique100", "xquad-en-de")
TWINS = "typo-queries"
DEEP = 10


@dataclass(frozen=True)
class Way:
    """A way to search."""

    name: str
    settings: Settings
    strategy: Strategy | None = None


@dataclass(frozen=True)
class Found:
    """What a question found: its nDCG, and what was searched instead of it."""

    ndcg: float
    corrected: str | None


async def find(pincite: AsyncPincite, questions: QuestionSet, key: str, text: str, way: Way) -> Found:
    """Ask one question one way."""
    ids = list(questions.corpus)
    result = await pincite.search(Question(text, top_k=DEEP, strategy=way.strategy), settings=way.settings)
    assert result.plan is not None
    names = dict.fromkeys(ids[int(hit.chunk.document_name.removesuffix(".md"))] for hit in result.hits)
    return Found(ndcg(list(names), questions.qrels[key]), result.plan.question.corrected)


def twins(folder: Path, questions: QuestionSet) -> dict[str, str]:
    """The misspelt questions of a set by the id of the clean one."""
    return {
        row["_id"]: row["typo"]
        for row in rows(folder / TWINS, "queries")
        if questions.name.startswith(row["set"]) and row["_id"] in questions.queries
    }


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def losses(ways: Sequence[Way], clean: Sequence[list[Found]], misspelt: Sequence[list[Found]]) -> None:
    """What each way loses by the misspellings."""
    print("\n| searched by | clean | misspelt | loss |\n|---|---|---|---|")
    for number, way in enumerate(ways):
        before, after = (mean([found[number].ndcg for found in each]) for each in (clean, misspelt))
        print(f"| {way.name} | {before:.4f} | {after:.4f} | {after - before:+.4f} |")


def harm(found: Sequence[list[Found]]) -> str:
    """How many questions find more, the same and less with the corrector."""
    counts = Counter((new.ndcg > old.ndcg) - (new.ndcg < old.ndcg) for _, old, new in found)
    changed = sum(new.corrected is not None for _, _, new in found)
    return f"{changed} changed; {counts[1]} better, {counts[0]} equal, {counts[-1]} worse"


async def found_by(
    pincite: AsyncPincite, questions: QuestionSet, key: str, text: str, ways: Sequence[Way]
) -> list[Found]:
    """What a question finds each way; what the corrector leaves as it is need not be searched again without it."""
    words, without, with_it = ways
    corrected = await find(pincite, questions, key, text, with_it)
    plain = corrected if corrected.corrected is None else await find(pincite, questions, key, text, without)
    return [await find(pincite, questions, key, text, words), plain, corrected]


async def try_set(folder: Path, questions: QuestionSet, keep: Path | None, tell: Callable[[str], None]) -> None:
    """Ask every clean question, then every misspelt one, each way."""
    [as_it_is] = read_variants([], load_settings(), {})
    off = with_values(as_it_is.settings, {"spelling.enabled": False})
    ways = [Way("words only", off, "lexical_only"), Way("default, uncorrected", off), Way("default", as_it_is.settings)]
    wrong = twins(folder, questions)
    clean: list[list[Found]] = []
    twin: list[list[Found]] = []
    misspelt: list[list[Found]] = []
    async with temporary_library(corpus_of(questions), as_it_is, keep=keep, report=lambda _progress: None) as (
        pincite,
        _,
    ):
        for key, text in questions.queries.items():
            clean.append(await found_by(pincite, questions, key, text, ways))
            _, old, new = clean[-1]
            if new.corrected:
                tell(f"{new.ndcg - old.ndcg:+.3f} {text!r} → {new.corrected!r}")
            if key in wrong:
                twin.append(clean[-1])
                misspelt.append(await found_by(pincite, questions, key, wrong[key], ways))
                now = misspelt[-1][2]
                if now.ndcg < new.ndcg:
                    tell(f"  lost {now.ndcg - new.ndcg:+.3f} {wrong[key]!r} → {now.corrected!r}")
    print(f"\n{questions.name}: {len(questions.queries)} clean questions, {len(wrong)} misspelt ones")
    print(f"clean: {harm(clean)}")
    if wrong:
        print(f"misspelt: {harm(misspelt)}")
        losses(ways, twin, misspelt)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--set", action="append", dest="sets", help="only this one, or these")
    parser.add_argument("--split", default="")
    parser.add_argument("--work", type=Path, help="folder to keep indexes in between runs")
    parser.add_argument(
        "--show",
        action="store_true",
        help="print every clean question that was changed, and every misspelt one that still loses",
    )
    arguments = parser.parse_args()
    tell = print if arguments.show else (lambda _line: None)
    for name in arguments.sets or SETS:
        questions = load_set(arguments.data / name, arguments.split)
        await try_set(arguments.data, questions, arguments.work, tell)


if __name__ == "__main__":
    asyncio.run(main())
