"""Vectors of a text's tokens: packed as int8, and compared by MaxSim."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.float32]
"""One unit vector per row."""


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """The packed token vectors of several texts, the name of the model that made them, and their dimensions."""

    model: str
    dimensions: int
    passages: list[bytes]

    def to_message(self) -> dict[str, Any]:
        """Return it as JSON, for the way between two processes."""
        passages = [base64.b64encode(one).decode() for one in self.passages]
        return {"model": self.model, "dimensions": self.dimensions, "tokens": passages}

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> "PackedTokens":
        """Return what `to_message` wrote."""
        return cls(message["model"], message["dimensions"], [base64.b64decode(one) for one in message["tokens"]])


def unit_rows(rows: npt.NDArray[Any]) -> Tokens:
    """Return the rows with length 1; a row of zeroes stays as it is."""
    plain = np.asarray(rows, np.float32)
    lengths = np.linalg.norm(plain, axis=-1, keepdims=True)
    return (plain / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)


def pack(tokens: Tokens) -> bytes:
    """Round unit vectors to int8, row by row; the scale of a row is not stored, because its length is known to be 1."""
    peaks = np.abs(tokens).max(axis=1, keepdims=True, initial=0)
    return np.rint(tokens / np.where(peaks > 0, peaks, 1) * 127).astype(np.int8).tobytes()


def unpack(data: bytes, dimensions: int) -> Tokens:
    """Return packed vectors as unit vectors."""
    return unit_rows(np.frombuffer(data, np.int8).reshape(-1, dimensions))


def max_sim(question: Tokens, passages: Sequence[bytes]) -> list[float]:
    """Return the mean over the question's tokens of the highest cosine to a token of each packed passage.

    A passage without tokens gets 0. All passages are compared in one product.
    """
    if not len(question) or not passages:
        return [0.0] * len(passages)
    dimensions = question.shape[1]
    counts = np.array([len(data) // dimensions for data in passages])
    cosines = unpack(b"".join(passages), dimensions) @ question.T
    scores = np.zeros(len(passages))
    filled = np.flatnonzero(counts)
    if len(filled):
        starts = np.concatenate(([0], np.cumsum(counts[filled])[:-1]))
        scores[filled] = np.maximum.reduceat(cosines, starts, axis=0).mean(axis=1)
    return [float(score) for score in scores]
