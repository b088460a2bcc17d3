"""What a second look brings: the right documents among what an answer stands on, with it and without.

    ./run bench second_look --data DIR [--set musique100 …] [--most N] [--work DIR]

Questions of several steps (HotpotQA, MuSiQue) are what it is for; on those of one step (SciFact, XQuAD) it must not lose.
The last line shows what the first look brings where none of its passages is left out. Of a set with more than `--most` questions, every
second, third … is asked.
"""

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path

from benchmarks.switches import SETS, Changes, Line, print_table, stood_on, thinned
from pincite.config.sources import load_settings
from pincite.evaluate.compare import corpus_of
from pincite.evaluate.questions.datasets import QuestionSet, load_set
from pincite.evaluate.temporary_library import temporary_library
from pincite.evaluate.variants import UNCHANGED, Variant

LINES: Mapping[str, Changes] = {
    UNCHANGED: (),
    "rag.second_look=true": (("rag.second_look", True),),
    "every passage of the first": (("rag.verification_enabled", False), ("rag.similarity_threshold", 0.0)),
}


async def measure(questions: QuestionSet, keep: Path | None) -> dict[str, Line]:
    """Every line on one set."""
    default = Variant(UNCHANGED, load_settings())
    async with temporary_library(corpus_of(questions), default, keep=keep, report=lambda _: None) as (pincite, _):
        return {name: await stood_on(pincite, questions, changes) for name, changes in LINES.items()}


async def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--set", action="append", dest="sets")
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--work", type=Path, help="folder to keep indexes in between runs")
    options = parser.parse_args()
    results: dict[str, dict[str, Line]] = {}
    for name in options.sets or SETS:
        results[name] = await measure(thinned(load_set(options.data / name), options.most), options.work)
        print_table("right documents among an answer's sources (sources)", {name: results[name]}, kept=True)
    print_table("right documents among an answer's sources (sources)", results, kept=True)


if __name__ == "__main__":
    asyncio.run(main())
