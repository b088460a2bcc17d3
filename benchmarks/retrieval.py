"""Retrieval quality through the public API: nDCG@10 and recall of a question set; the same as `pincite eval SET`.

    ./run bench retrieval --data DIR --set scifact [--split train] [--work DIR] [--try rag.alpha=0.4 …]

`--work` keeps the index for the next run; every `--try` adds a line to the table, on the same index if possible.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from pincite.config.sources import load_settings
from pincite.core.documents.document import Progress
from pincite.evaluate.compare import compare
from pincite.evaluate.questions.datasets import load_set
from pincite.evaluate.report import markdown
from pincite.evaluate.variants import UNCHANGED, Variant, read_variants


def variants(tries: list[str]) -> list[Variant]:
    """The settings as they are, then each that is to be tried."""
    base = load_settings()
    found = read_variants(tries, base, {}) if tries else []
    as_it_is = [one for one in found if one.name == UNCHANGED] or read_variants([], base, {})
    return [*as_it_is, *(one for one in found if one.name != UNCHANGED)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--set", default="scifact")
    parser.add_argument("--split", default="")
    parser.add_argument("--work", type=Path, help="folder to keep indexes in between runs")
    parser.add_argument("--try", action="append", default=[], dest="tries", help="settings of a further line, by comma")
    arguments = parser.parse_args()
    questions = load_set(arguments.data / arguments.set, arguments.split)

    def report(step: Progress) -> None:
        if sys.stderr.isatty():
            print(f"{step.stage}: {step.done} of {step.total}", end="\r", file=sys.stderr)

    result = asyncio.run(compare(questions, variants(arguments.tries), keep=arguments.work, report=report))
    print(markdown(result, "plot.svg"))


if __name__ == "__main__":
    main()
