"""The benefit of the second search pass: the relevant documents among the sources of an answer, with and without it.

    ./run bench second_look --data DIR [--set musique100 …] [--most N] [--work DIR]

The second pass is for multi-hop questions (HotpotQA, MuSiQue); on single-hop questions (SciFact, XQuAD) it must not
lose. The last line shows the first pass without any passages left out. Of a set with more than `--most` questions,
every second, third … is asked.
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
