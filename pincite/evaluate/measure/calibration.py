"""Calibration of relevance: predicted relevance of the first passage against the share that was right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.evaluations import EvaluationOutcome, Interval

BINS = 10
Z_95 = 1.96
"""Standard deviations of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Questions whose predicted relevance is from `low` to `high`: the mean prediction and the observed share."""

    low: float
    high: float
    questions: int
    predicted: float
    observed: Interval


def reliability(outcome: EvaluationOutcome) -> tuple[Bin, ...]:
    """Return the non-empty bins, lowest first; none if the run stored no relevances."""
    return to_bins([(value, outcome.ranks.get(question) == 1) for question, value in outcome.relevances.items()])


def to_bins(predictions: Sequence[tuple[float, bool]]) -> tuple[Bin, ...]:
    """Group predictions and their outcomes into ten bins; empty bins are left out."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for predicted, right in predictions:
        bins[min(BINS - 1, max(0, int(predicted * BINS)))].append((predicted, right))
    return tuple(_bin(place, held) for place, held in enumerate(bins) if held)


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the expected calibration error: the weighted mean distance of predicted and observed values."""
    total = sum(one.questions for one in bins)
    return sum(one.questions * abs(one.predicted - one.observed.value) for one in bins) / total if total else 0.0


def _bin(place: int, held: Sequence[tuple[float, bool]]) -> Bin:
    predicted = sum(relevance for relevance, _ in held) / len(held)
    return Bin(
        place / BINS,
        (place + 1) / BINS,
        len(held),
        predicted,
        wilson_interval(sum(right for _, right in held), len(held)),
    )


def wilson_interval(right: int, of: int) -> Interval:
    """Return a share with its Wilson interval, which is also valid for small counts and shares near 0 and 1."""
    value = right / of
    middle = (value + Z_95 * Z_95 / (2 * of)) / (1 + Z_95 * Z_95 / of)
    reach = Z_95 / (1 + Z_95 * Z_95 / of) * math.sqrt(value * (1 - value) / of + Z_95 * Z_95 / (4 * of * of))
    return Interval(value, max(0.0, middle - reach), min(1.0, middle + reach))
