"""Split texts for an embedding server, and check the embeddings it returns."""

import math
from collections.abc import Sequence

from pincite.errors import ProviderError


def split(text: str, prefix: str, *, size: int, shared: int) -> list[str]:
    """Split into parts of at most `size` characters, each with `prefix` and an overlap of `shared` characters."""
    if len(text) <= size:
        return [prefix + text]
    return [prefix + text[start : start + size] for start in range(0, len(text) - shared, size - shared)]


def unit_vectors(vectors: Sequence[Sequence[float]], count: int, dimensions: int, model: str) -> list[list[float]]:
    """Normalize vectors to unit length; raises if their number, size or values are wrong."""
    if len(vectors) != count:
        raise ProviderError(f"{model} sent {len(vectors)} vectors for {count} texts")
    return [_unit(vector, dimensions, model) for vector in vectors]


def _unit(vector: Sequence[float], dimensions: int, model: str) -> list[float]:
    try:
        numbers = [float(x) for x in vector]
    except (TypeError, ValueError, OverflowError) as error:
        raise ProviderError(f"{model} sent a vector with values that are not numbers") from error
    if len(numbers) != dimensions:
        raise ProviderError(f"{model} returned {len(numbers)} dimensions, but embedding.dimensions is {dimensions}")
    length = math.hypot(*numbers)
    if not math.isfinite(length) or length == 0:
        raise ProviderError(f"{model} returned a vector that is zero or not finite")
    return [x / length for x in numbers]
