"""How sure a mean is: 95 % intervals from resampled questions, always with the same seed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pincite.core.evaluations import Interval

SEED = 20_240
ROUNDS = 5_000
AT_ONCE = 2_000_000
"""Drawn numbers that are in memory at a time."""


def mean(values: Sequence[float]) -> Interval:
    """The mean over questions with its interval."""
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return Interval(0.0, 0.0, 0.0)
    low, high = np.percentile(_resampled(sample), [2.5, 97.5])
    return Interval(float(sample.mean()), float(low), float(high))


def difference(before: Sequence[float], after: Sequence[float]) -> Interval:
    """What changed on average, question by question: the two must be in the same order."""
    if len(before) != len(after):
        raise ValueError(f"{len(before)} and {len(after)} questions cannot be paired")
    return mean(np.subtract(after, before).tolist())


def _resampled(sample: NDArray[Any]) -> NDArray[Any]:
    """The means of many samples drawn from this one, with replacement."""
    generator, size = np.random.default_rng(SEED), len(sample)
    rows = max(1, AT_ONCE // size)
    parts = [
        sample[generator.integers(0, size, (min(rows, ROUNDS - done), size))].mean(axis=1)
        for done in range(0, ROUNDS, rows)
    ]
    return np.concatenate(parts)
