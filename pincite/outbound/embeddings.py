"""Vectors from outside: texts split for a model's window, and what came back checked before anyone relies on it."""

import math
from collections.abc import Sequence

from pincite.errors import ProviderError


def split(text: str, prefix: str, *, size: int, shared: int) -> list[str]:
    """Parts of at most `size` characters, each led by `prefix` and sharing `shared` with the one before."""
    if len(text) <= size:
        return [prefix + text]
    return [prefix + text[start : start + size] for start in range(0, len(text) - shared, size - shared)]


def unit_vectors(vectors: Sequence[Sequence[float]], count: int, dimensions: int, model: str) -> list[list[float]]:
    """The vectors at unit length; raises where their number, size or values cannot be right."""
    if len(vectors) != count:
        raise ProviderError(f"{model} sent {len(vectors)} vectors for {count} texts")
    return [_unit(vector, dimensions, model) for vector in vectors]


def _unit(vector: Sequence[float], dimensions: int, model: str) -> list[float]:
    try:
        numbers = [float(x) for x in vector]
    except (TypeError, ValueError, OverflowError) as error:
        raise ProviderError(f"{model} sent a vector that is not made of numbers") from error
    if len(numbers) != dimensions:
        raise ProviderError(f"{model} gives {len(numbers)} dimensions, embedding.dimensions says {dimensions}")
    length = math.hypot(*numbers)
    if not math.isfinite(length) or length == 0:
        raise ProviderError(f"{model} gave a vector that is zero or not a number")
    return [x / length for x in numbers]
