"""Whether relevance means what it says: of the first passages rated alike, how many were right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.evaluations import EvaluationOutcome, Interval

BINS = 10
Z = 1.96
"""Standard deviations on either side that hold 95 %."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Questions whose first passage was rated from `low` to `high`: how it was rated on average, how often it was right."""

    low: float
    high: float
    questions: int
    predicted: float
    observed: Interval


def reliability(outcome: EvaluationOutcome) -> tuple[Bin, ...]:
    """The bins that hold a question, lowest first; none where the run did not keep relevances."""
    return binned([(value, outcome.ranks.get(question) == 1) for question, value in outcome.relevances.items()])


def binned(predictions: Sequence[tuple[float, bool]]) -> tuple[Bin, ...]:
    """Predictions with what came of them, by tenths, those that hold none left out."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for predicted, right in predictions:
        bins[min(BINS - 1, max(0, int(predicted * BINS)))].append((predicted, right))
    return tuple(_bin(place, held) for place, held in enumerate(bins) if held)


def calibration_error(bins: Sequence[Bin]) -> float:
    """The distance of what was predicted from what came true, weighted by how often."""
    total = sum(one.questions for one in bins)
    return sum(one.questions * abs(one.predicted - one.observed.value) for one in bins) / total if total else 0.0


def _bin(place: int, held: Sequence[tuple[float, bool]]) -> Bin:
    predicted = sum(relevance for relevance, _ in held) / len(held)
    return Bin(
        place / BINS, (place + 1) / BINS, len(held), predicted, share(sum(right for _, right in held), len(held))
    )


def share(right: int, of: int) -> Interval:
    """A share with its interval by Wilson, which holds for few and for shares near 0 and 1 as well."""
    value = right / of
    middle = (value + Z * Z / (2 * of)) / (1 + Z * Z / of)
    reach = Z / (1 + Z * Z / of) * math.sqrt(value * (1 - value) / of + Z * Z / (4 * of * of))
    return Interval(value, max(0.0, middle - reach), min(1.0, middle + reach))
