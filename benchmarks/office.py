"""Answers to natural questions over office documents: shares right, partly, wrong and wrongly refused.

    ./run bench office --data DIR [--keep DIR] [--set KEY=VALUE ...] [--answers FILE]

DIR has `docs/` and `questions.jsonl` (docs/evaluating.md). The documents are indexed in a temporary library. `--answers`
writes the answers with their verdicts as JSON lines, to be read.
"""

import argparse
import asyncio
import json
from pathlib import Path

from pincite.cli.view.answers import print_answer_comparison
from pincite.cli.view.screen import Screen
from pincite.config.sources import load_settings
from pincite.evaluate.answers import AnswerComparison, compare_answers
from pincite.evaluate.questions.answer_sets import load_answer_set
from pincite.evaluate.variants import UNCHANGED, Variant


def write_answers(path: Path, answered: AnswerComparison) -> None:
    """Write the question, verdict, reason and answer of each question."""
    [answers] = answered.answers
    rows = [
        {"id": one.question.id, "q": one.question.text, "verdict": one.result.verdict, "reason": one.result.reason}
        | {"confidence": one.result.confidence, "answer": one.text}
        for one in answers
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="folder that keeps the index between runs")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable")
    parser.add_argument("--answers", type=Path, help="file to write the answers to")
    arguments = parser.parse_args()
    settings = load_settings(dict(pair.split("=", 1) for pair in arguments.set))
    questions = load_answer_set(arguments.data)
    variants = [Variant(UNCHANGED, settings)]
    result = asyncio.run(compare_answers(questions, variants, keep=arguments.keep, report=lambda _progress: None))
    print_answer_comparison(Screen(), result)
    if arguments.answers:
        write_answers(arguments.answers, result)


if __name__ == "__main__":
    main()
