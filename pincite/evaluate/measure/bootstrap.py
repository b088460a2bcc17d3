"""95 % bootstrap confidence intervals of means over questions, with a fixed seed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pincite.core.evaluations import Interval

SEED = 20_240
RESAMPLES = 5_000
MAX_DRAWS_IN_MEMORY = 2_000_000
"""Maximum number of random draws in memory."""


def mean(values: Sequence[float]) -> Interval:
    """Return the mean with its interval."""
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return Interval(0.0, 0.0, 0.0)
    low, high = np.percentile(_resampled_means(sample), [2.5, 97.5])
    return Interval(float(sample.mean()), float(low), float(high))


def difference(before: Sequence[float], after: Sequence[float]) -> Interval:
    """Return the mean paired difference; both sequences must be in the same order."""
    if len(before) != len(after):
        raise ValueError(f"{len(before)} and {len(after)} questions cannot be paired")
    return mean(np.subtract(after, before).tolist())


def _resampled_means(sample: NDArray[Any]) -> NDArray[Any]:
    """Return the means of samples drawn with replacement."""
    generator, size = np.random.default_rng(SEED), len(sample)
    rows = max(1, MAX_DRAWS_IN_MEMORY // size)
    parts = [
        sample[generator.integers(0, size, (min(rows, RESAMPLES - done), size))].mean(axis=1)
        for done in range(0, RESAMPLES, rows)
    ]
    return np.concatenate(parts)
