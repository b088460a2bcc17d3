"""Embeds passages window by window, checks the vectors, and encodes them for the way between two processes."""

import base64
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pincite.core.protocols import Embedder
from pincite.errors import ProviderError

PassageText = tuple[str, str]
"""A passage's prefix, which leads each of its windows, and its text."""

Windows = list[list[float]]
"""The vectors of one passage, one for each of its windows."""

_MAX_NORM_ERROR = 0.1
"""How far the length of a vector may be from 1; within that it is normalized, beyond it is refused."""


async def embed_passages(embedder: Embedder, passages: Sequence[PassageText], batch: int) -> list[Windows]:
    """Embed the windows of passages, `batch` windows at a time; raises ProviderError for invalid vectors."""
    windows = [embedder.windows(text, prefix) for prefix, text in passages]
    texts = list(itertools.chain.from_iterable(windows))
    vectors: list[list[float]] = []
    for first in range(0, len(texts), batch):
        part = texts[first : first + batch]
        vectors += _checked(embedder, await embedder.embed(part, as_query=False), len(part))
    return _split(vectors, [len(some) for some in windows])


def _checked(embedder: Embedder, vectors: Sequence[Sequence[float]], expected: int) -> list[list[float]]:
    """The vectors at unit length; ProviderError where their number, size or values cannot be right."""

    def invalid(what: str) -> ProviderError:
        return ProviderError(f"the embedder '{embedder.name}' misbehaved: {what}")

    if len(vectors) != expected:
        raise invalid(f"{len(vectors)} vectors for {expected} texts")
    sizes = {len(vector) for vector in vectors} - {embedder.dimensions}
    if sizes:
        raise invalid(f"a vector of {min(sizes)} dimensions instead of {embedder.dimensions}")
    array = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(array).all():
        raise invalid("a vector with a number that is not finite")
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if (np.abs(lengths - 1) > _MAX_NORM_ERROR).any():
        worst = lengths.flat[np.abs(lengths - 1).argmax()]
        raise invalid(f"a vector of length {worst:.3g} instead of a unit vector")
    return (array / lengths).tolist()  # type: ignore[no-any-return]


def encode_vectors(passages: Sequence[Windows]) -> dict[str, Any]:
    """The vectors as JSON: all of them as one block of float32 in Base64, and the number of vectors per passage."""
    flat = np.array([vector for windows in passages for vector in windows], dtype="<f4")
    return {"counts": [len(windows) for windows in passages], "vectors": base64.b64encode(flat.tobytes()).decode()}


def decode_vectors(message: Mapping[str, Any]) -> list[Windows]:
    """The vectors that `encode_vectors` wrote."""
    counts: list[int] = message["counts"]
    rows = np.frombuffer(base64.b64decode(message["vectors"]), dtype="<f4").reshape(sum(counts), -1).tolist()
    return _split(rows, counts)


def _split(vectors: Sequence[list[float]], counts: Sequence[int]) -> list[Windows]:
    rest = iter(vectors)
    return [list(itertools.islice(rest, count)) for count in counts]
