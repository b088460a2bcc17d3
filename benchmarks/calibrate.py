"""Refit the relevance estimate of `pincite/models/calibration.py`, and measure its calibration.

    ./run bench calibrate --data DIR [--set abstention] [--work DIR] [--every 4]

Needs a set whose questions name their `document`. Every hit of a search is one observation: its cosine, the share of
the question's words it contains, and whether it is from that document or its translation. Half of the questions, with translations of one
question kept together, fit the logistic regressions; the other half is for testing. The coefficients in use were fitted
on every fourth question, which is the default here.
"""

import argparse
import asyncio
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.answers import fill, questions_of
from pincite import AsyncPincite
from pincite.models.calibration import FITTED, LEXICAL_ONLY
from pincite.query.rank import relevance

BINS = 10
ROUNDS = 100
RIDGE = 1e-3
"""What large coefficients cost, so that a few observations do not make them infinite."""


@dataclass(frozen=True, slots=True)
class Observations:
    """One row a hit: cosine, coverage, whether it was right, and whether its question is held out."""

    cosine: np.ndarray
    coverage: np.ndarray
    right: np.ndarray
    held_out: np.ndarray


async def observe(pincite: AsyncPincite, questions: list[dict[str, Any]]) -> Observations:
    """Search for every question with the settings as they are."""
    seen = []
    for question in questions:
        held_out = zlib.crc32(question["_id"].split(":")[1].encode()) % 2
        for hit in (await pincite.questions.search(question["text"])).hits:
            chunk = hit.chunk
            covered = relevance.coverage(question["text"], relevance.chunk_terms(chunk), chunk.language)
            right = chunk.document_name.removesuffix(".txt") == question["document"].split(":")[1]
            seen.append((hit.similarity, covered, right, held_out))
    cosine, coverage, right, held_out = np.array(seen, dtype=float).T
    return Observations(cosine, coverage, right.astype(bool), held_out.astype(bool))


def fit(columns: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The most likely coefficients, the bias first, by Newton's method; large ones cost a little."""
    rows = np.column_stack([np.ones(len(columns)), columns])
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        guess = logistic(rows @ weights)
        slope = rows.T @ (right - guess) - RIDGE * weights
        step = np.linalg.solve((rows * (guess * (1 - guess))[:, None]).T @ rows + RIDGE * np.eye(len(weights)), slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            return weights
    raise ArithmeticError(f"no fit after {ROUNDS} rounds: are right and wrong hits told apart completely?")


def logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))


def predicted(weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return logistic(weights[0] + columns @ weights[1:])


def print_reliability(title: str, guess: np.ndarray, right: np.ndarray) -> None:
    """What was predicted and what came true, by tenths, and their distance weighted by count.

    Most hits are rightly predicted to be nothing, so the distance is also given without the lowest tenth.
    """
    print(f"\n{title}\n\n| predicted between | mean predicted | observed | count |\n|---|---|---|---|")
    places = np.minimum((guess * BINS).astype(int), BINS - 1)
    distances = np.zeros(BINS)
    for place in range(BINS):
        inside = places == place
        between = f"{place / BINS:.1f} and {(place + 1) / BINS:.1f}"
        if not inside.any():
            print(f"| {between} | – | – | 0 |")
            continue
        mean, came = guess[inside].mean(), right[inside].mean()
        distances[place] = inside.sum() * abs(mean - came)
        print(f"| {between} | {mean:.3f} | {came:.3f} | {inside.sum()} |")
    above = distances[1:].sum() / max(1, (places > 0).sum())
    print(f"\nexpected calibration error {distances.sum() / len(guess):.4f}, without the lowest tenth {above:.3f}")


def report(seen: Observations) -> None:
    """The coefficients beside the ones in use, then how reliable those of one half are on the other."""
    both = np.column_stack([seen.cosine, seen.coverage])
    alone = seen.coverage[:, None]
    used = np.array([FITTED.bias, FITTED.cosine, FITTED.coverage])
    used_alone = np.array([LEXICAL_ONLY.bias, LEXICAL_ONLY.coverage])
    half, out = ~seen.held_out, seen.held_out
    print("| | bias | cosine | coverage | bias without cosine | coverage alone |\n|---|---|---|---|---|---|")
    fitted, fitted_alone = fit(both[half], seen.right[half]), fit(alone[half], seen.right[half])
    everything = fit(both, seen.right), fit(alone, seen.right)
    lines = {"one half": (fitted, fitted_alone), "all questions": everything, "in use": (used, used_alone)}
    for name, (with_cosine, without) in lines.items():
        print(f"| {name} | {' | '.join(f'{w:.2f}' for w in (*with_cosine, *without))} |")
    print_reliability(
        "With cosine, fitted on one half, tried on the other:", predicted(fitted, both[out]), seen.right[out]
    )
    print_reliability("Coverage alone, likewise:", predicted(fitted_alone, alone[out]), seen.right[out])


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="abstention")
    parser.add_argument("--work", type=Path, help="data folder to keep between runs")
    parser.add_argument("--every", type=int, default=4, help="search for every so-manyth question only")
    arguments = parser.parse_args()
    folder = arguments.data / arguments.set
    with tempfile.TemporaryDirectory() as temporary:
        async with AsyncPincite(arguments.work or Path(temporary)) as pincite:
            await fill(pincite, folder)
            questions = questions_of(folder, arguments.every)
            seen = await observe(pincite, questions)
    print(f"{len(questions)} questions, {len(seen.right)} hits, {seen.right.sum()} of them right\n")
    report(seen)


if __name__ == "__main__":
    asyncio.run(main())
