"""Calibration of the confidence of answers; refits the curve of `pincite/query/ground/confidence.py`.

    ./run bench confidence --data DIR [--answers DIR ...] [--every 2] [--work DIR] [--keep FILE] [--plot docs/confidence.svg]

Runs the questions of XQuAD with paragraphs and articles removed (`abstention`) and of HotpotQA, without a model. An
answer is right if a sentence it cites contains the gold answer; an answer to a question without its paragraph is wrong.
`--answers` adds sets of natural questions (docs/evaluating.md), whose answers are judged as `./run bench office` does.
Refusals have no confidence and are left out. Half of the questions, with translations of one question kept together,
fit the curve. The other half measures the expected calibration error in ten bins, and how often each level is right.
`--keep` stores the observations, or reads them if the file exists, so that fitting can be repeated without asking.
"""

import argparse
import asyncio
import gzip
import json
import tempfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import answers
from benchmarks.calibrate import fit, predicted
from pincite import AsyncPincite
from pincite.core.documents.document import Upload
from pincite.core.query.answer import Answer, Confidence
from pincite.core.query.prompt import NO_ANSWER
from pincite.evaluate.answers import given_answer
from pincite.evaluate.measure.answer_match import judge_answer
from pincite.evaluate.measure.calibration import Bin, calibration_error, to_bins
from pincite.evaluate.measure.calibration_plot import plot
from pincite.evaluate.questions.answer_sets import load_answer_set
from pincite.ingest.accept.collect import Collected, NamedFile
from pincite.query.ground import ground
from pincite.query.ground.confidence import (
    FITTED_CURVE,
    HIGH_READ_SCORE,
    HIGH_SCORE,
    MEDIUM_SCORE,
    MIN_READ,
    READ_CURVE,
    ConfidenceInputs,
    Curve,
    log_odds,
    log_odds_lead,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer: what its confidence is made from, whether it was right, whether it helps to fit, of which set it is."""

    relevance: float
    rival: float
    answered_share: float
    read: float | None
    grounding: float
    right: bool
    held_out: bool
    set: str
    not_high: bool


class Inputs:
    """What the confidence of the last answer was made from."""

    def __init__(self) -> None:
        self.last: ConfidenceInputs | None = None

    def watch(self) -> None:
        """Take down the inputs of every confidence that is computed from now on."""
        calibrate = ground.calibrated_confidence

        def take(inputs: ConfidenceInputs) -> Confidence:
            self.last = inputs
            return calibrate(inputs)

        ground.calibrated_confidence = take


INPUTS = Inputs()


def seen(question: dict[str, Any], answer: Answer, name: str) -> Seen | None:
    """What an answer shows; None for a refusal, and for a question that is answered by yes or no."""
    golds = [gold for gold in question["answers"] if gold.lower() not in ("yes", "no")]
    kind = question.get("kind", "covered")
    if answer.metadata.finish_reason == NO_ANSWER or not answer.citations or (kind == "covered" and not golds):
        return None
    quotes = [citation.quote for citation in answer.citations]
    right = kind == "covered" and any(gold in quote for gold in golds for quote in quotes)
    return observed(right, question["_id"].split(":")[-1], f"{name} {kind}")


def observed(right: bool, key: str, name: str) -> Seen:
    """What the confidence of the last answer is made from; questions with the same key are in the same half."""
    inputs = INPUTS.last
    assert inputs is not None
    against = inputs.uncited or inputs.conflicts or inputs.computed or inputs.missing or inputs.across
    unread = inputs.read is not None and inputs.read < MIN_READ
    return Seen(
        max(inputs.relevant, default=0.0), inputs.rival, inputs.answered_share, inputs.read, inputs.groundedness.score,
        right, bool(zlib.crc32(key.encode()) % 2), name, bool(against) or unread,
    )  # fmt: skip


async def ask(pincite: AsyncPincite, questions: list[dict[str, Any]], name: str) -> list[Seen]:
    """Ask them all, and keep what shows something."""
    found = [seen(question, await pincite.ask(question["text"]), name) for question in questions]
    return [one for one in found if one is not None]


async def ask_natural(folder: Path, work: Path) -> list[Seen]:
    """Ask the natural questions of a folder, and judge the answers that are no refusals; follow-ups are left out."""
    chosen, found = load_answer_set(folder), list[Seen]()
    async with AsyncPincite(settings={"data": work, "cache.enabled": False}) as pincite:
        if not await pincite.documents():
            files = [NamedFile(path, name.rpartition("/")[0]) for name, path in chosen.files.items()]
            await pincite.add_all(Collected(files, [], []))
        for one in chosen.questions:
            answer = None if one.turns else await pincite.ask(one.text)
            if answer and answer.citations and answer.metadata.finish_reason != NO_ANSWER:
                right = judge_answer(one, given_answer(answer))[0] == "right"
                found.append(observed(right, one.id, chosen.name))
    return found


async def fill_titled(pincite: AsyncPincite, folder: Path) -> None:
    """Add the paragraphs of a set that have titles and no language."""
    ids = []
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, row in enumerate(map(json.loads, file)):
            text = f"# {row['title']}\n\n{row['text']}"
            ids.append((await pincite.documents.upload(Upload(f"{number}.md", text.encode()))).document.id)
    pincite.services.workers.start()
    await pincite.documents.wait(ids)


async def gather(data: Path, work: Path, every: int, sets: list[str]) -> list[Seen]:
    """The sets, each in a library of its own."""
    found = []
    for name in sets:
        filled = answers.fill if name == "abstention" else fill_titled
        async with AsyncPincite(settings={"data": work / name, "cache.enabled": False}) as pincite:
            await filled(pincite, data / name)
            questions = answers.questions_of(data / name, every if name == "abstention" else 1)
            found += await ask(pincite, questions, name)
    return found


def report(rows: list[Seen]) -> tuple[Bin, ...]:
    """The curves fitted on one half and what they do on the other, beside those in use; what the former predict."""
    print(f"{len(rows)} answers, {sum(row.right for row in rows)} right\n")
    shown: tuple[Bin, ...] = ()
    unread = [row for row in rows if row.read is None]
    for name, chosen, curve in (
        ("quotes that a reader read", [row for row in rows if row.read is not None], READ_CURVE),
        ("other answers", unread, FITTED_CURVE),
    ):
        if len({row.right for row in chosen if not row.held_out}) == 2:
            found = _report(name, chosen, curve)
            shown = shown or found
    return shown


def _report(name: str, rows: list[Seen], curve: Curve) -> tuple[Bin, ...]:
    columns = np.array([[row.relevance, log_odds_lead(row.relevance, row.rival)] for row in rows])
    columns *= np.array([[row.answered_share] for row in rows])
    used, high = [curve.bias, curve.slope, curve.lead], HIGH_SCORE if rows[0].read is None else HIGH_READ_SCORE
    if rows[0].read is not None:
        columns = np.column_stack([columns, [log_odds(row.read or 0.0) for row in rows]])
        used.append(curve.read)
    right, out = np.array([row.right for row in rows]), np.array([row.held_out for row in rows])
    grounding, not_high = np.array([row.grounding for row in rows]), np.array([row.not_high for row in rows])
    print(
        f"\n## {name}: {len(rows)} answers, {right.sum()} right\n\n| | bias | slope | lead | read |\n|---|---|---|---|---|"
    )
    half, everything = fit(columns[~out], right[~out]), fit(columns, right)
    for title, weights in (("one half", half), ("all", everything), ("in use", used)):
        print(f"| {title} | {' | '.join(f'{weight:.2f}' for weight in weights)} |")
    shown: tuple[Bin, ...] = ()
    for title, weights in (("fitted on one half", half), ("in use", np.array(used))):
        guess = predicted(weights, columns[out]) * grounding[out]
        guess = np.where(not_high[out], np.minimum(guess, high - 0.01), guess)
        found = to_bins(list(zip(guess.tolist(), right[out].tolist(), strict=True)))
        shown = shown or found
        print(f"\n{title}, on the other half: expected calibration error {calibration_error(found):.4f}\n")
        print_levels(guess, right[out], high)
    return shown


def print_levels(guess: np.ndarray, right: np.ndarray, high: float) -> None:
    """How often each level is right."""
    print("| level | answers | right |\n|---|---|---|")
    bounds = {"high": (high, 1.01), "medium": (MEDIUM_SCORE, high), "low": (0.0, MEDIUM_SCORE)}
    for level, (low, most) in bounds.items():
        inside = (guess >= low) & (guess < most)
        print(f"| {level} | {inside.sum()} | {right[inside].mean() if inside.any() else float('nan'):.3f} |")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=2, help="ask every so-manyth question of XQuAD only")
    parser.add_argument("--sets", nargs="+", default=["abstention", "hotpotqa100"])
    parser.add_argument("--answers", type=Path, nargs="*", default=[], help="folders of sets with expected answers")
    parser.add_argument("--work", type=Path, help="data folders to keep between runs")
    parser.add_argument("--keep", type=Path, help="file with what was seen")
    parser.add_argument("--plot", type=Path, help="where to write the picture")
    arguments = parser.parse_args()
    INPUTS.watch()
    if arguments.keep and arguments.keep.is_file():
        rows = [Seen(**row) for row in json.loads(arguments.keep.read_text())]
    else:
        with tempfile.TemporaryDirectory() as temporary:
            work = arguments.work or Path(temporary)
            rows = await gather(arguments.data, work, arguments.every, arguments.sets)
            for folder in arguments.answers:
                rows += await ask_natural(folder, work / f"answers-{folder.name}")
        if arguments.keep:
            arguments.keep.write_text(json.dumps([asdict(row) for row in rows]))
    shown = report(rows)
    if arguments.plot:
        title = f"Confidence of {sum(one.questions for one in shown)} held-out answers"
        arguments.plot.write_text(plot(shown, title), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
