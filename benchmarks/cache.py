"""The semantic cache: false hits on other questions, hits on the same question, and the time saved.

    ./run bench cache --data DIR [--set xquad-en-de hotpotqa100] [--every 1] [--timed 50] [--show]

DIR holds the question sets. Variants of their questions are made by rules (`benchmarks/_twins.py`): variants with
another meaning, which must not be cache hits, and variants with the same meaning. `by vectors alone` shows what the
thresholds would do without the comparison of words. `--timed N` also asks N questions twice in a library of the first
set, and compares the times.
"""

import argparse
import asyncio
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._twins import OTHERS, SAME, Twin, twins
from pincite import AsyncPincite
from pincite.config.branches.retrieval import Cache
from pincite.config.sources import load_settings
from pincite.core.protocols import SimilarQuestion
from pincite.core.query.question import Question
from pincite.evaluate.compare import corpus_of
from pincite.evaluate.questions.datasets import load_set, rows
from pincite.evaluate.temporary_library import Corpus, temporary_library
from pincite.evaluate.variants import read_variants
from pincite.query.cache.semantic_cache import question_difference, similarity_threshold
from pincite.query.understand.intent import analyse_question
from pincite.text.terms import question_language

MODES = ("precision", "adaptive", "recall")
BATCH = 64
ALL = "all"


@dataclass(frozen=True)
class Pair:
    """A question, its twin, what was changed, and how similar their vectors are."""

    kind: str
    kept: str
    asked: str
    similarity: float


def hit(pair: Pair, limits: Cache) -> bool:
    """Whether the twin would be given the question's answer; how it is asked is part of the key."""
    if pair.similarity < similarity_threshold(limits):
        return False
    keys = [(analyse_question(text).intent, question_language(text)) for text in (pair.kept, pair.asked)]
    return (
        keys[0] == keys[1]
        and question_difference(pair.asked, SimilarQuestion(0, pair.kept, pair.similarity), limits) is None
    )


async def embedded(pincite: AsyncPincite, texts: Sequence[str]) -> dict[str, list[float]]:
    """Each text as a question is embedded."""
    wanted = list(dict.fromkeys(texts))
    parts = [wanted[n : n + BATCH] for n in range(0, len(wanted), BATCH)]
    return {
        text: vector
        for part in parts
        for text, vector in zip(part, await pincite.services.embedder.embed(part, as_query=True), strict=True)
    }


async def pairs_of(pincite: AsyncPincite, questions: Sequence[str], kinds: Mapping[str, Twin]) -> list[Pair]:
    """Every pair that can be made."""
    made = list(twins(questions, kinds))
    vectors = await embedded(pincite, [text for _, *both in made for text in both])
    return [
        Pair(kind, kept, asked, sum(a * b for a, b in zip(vectors[kept], vectors[asked], strict=True)))
        for kind, kept, asked in made
    ]


def table(pairs: Sequence[Pair]) -> str:
    """A row for each change: how many pairs, how similar they are, and the share that is a hit in each mode."""
    modes = [Cache(threshold_mode=mode) for mode in MODES]
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        for kind in (pair.kind, ALL):
            row = counted[kind]
            row["pairs"] += 1
            row[".95"] += pair.similarity >= modes[0].precision_threshold
            row[".85"] += pair.similarity >= modes[0].recall_threshold
            for limits in modes:
                row[limits.threshold_mode] += hit(pair, limits)
    heads = ("changed", "pairs", "≥ .95 by vectors alone", "≥ .85", *MODES)
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for kind in (*(kind for kind in counted if kind != ALL), ALL):
        row = counted[kind]
        shares = " | ".join(f"{row[name] / row['pairs']:.2%}" for name in (".95", ".85", *MODES))
        lines.append(f"| {kind} | {row['pairs']} | {shares} |")
    return "\n".join(lines)


async def timed(pincite: AsyncPincite, questions: Sequence[str]) -> str:
    """What an answer takes that is made, and one that is given again."""
    took: dict[bool, list[float]] = {False: [], True: []}
    for text in questions:
        for _ in range(2):
            started = time.perf_counter()
            answer = await pincite.ask(Question(text))
            took[answer.metadata.cached].append((time.perf_counter() - started) * 1000)
    made, again = took[False], took[True]
    if not made or not again:
        return "no question was answered twice"
    return (
        f"made: median {statistics.median(made):.1f} ms ({len(made)}); given again: median {statistics.median(again):.1f} ms "
        f"({len(again)})"
    )


def questions_of(data: Path, sets: Sequence[str], every: int) -> list[str]:
    """The questions of the sets, each `every`-th of them."""
    found = [str(row["text"]).strip() for name in sets for row in rows(data / name, "queries")]
    return [text for text in dict.fromkeys(found) if text][::every]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--set", nargs="+", default=["xquad-en-de", "hotpotqa100"], help="which of them")
    parser.add_argument("--every", type=int, default=1, help="take each N-th question only")
    parser.add_argument("--timed", type=int, default=0, help="questions that are asked twice of a library")
    parser.add_argument("--show", action="store_true", help="print every pair that is wrongly taken for one question")
    arguments = parser.parse_args()
    questions = questions_of(arguments.data, arguments.set, arguments.every)
    first = corpus_of(load_set(arguments.data / arguments.set[0])) if arguments.timed else None
    pool = first or Corpus("nothing", {"a.md": "Nothing.\n"}, "")
    [as_it_is] = read_variants([], load_settings(), {})
    async with temporary_library(pool, as_it_is, keep=None, report=lambda _progress: None) as (pincite, _):
        others = await pairs_of(pincite, questions, OTHERS)
        print(f"Another question: a hit is wrong ({len(questions)} questions).\n\n{table(others)}\n")
        print(f"The same question: a hit is right.\n\n{table(await pairs_of(pincite, questions, SAME))}")
        for pair in others if arguments.show else ():
            if hit(pair, Cache()):
                print(f"{pair.similarity:.3f} {pair.kind}: {pair.kept!r} {pair.asked!r}")
        if arguments.timed:
            print("\n" + await timed(pincite, questions[: arguments.timed]))


if __name__ == "__main__":
    asyncio.run(main())
