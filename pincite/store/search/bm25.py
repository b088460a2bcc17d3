"""BM25 over postings as the store hands them out: packed, a word's together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pincite.core.protocols import Match

POSTING = np.dtype([("chunk", ">u4"), ("frequency", ">u2"), ("words", ">u2")])
"""A posting: the chunk's key, how often the word is in it, how many words it has."""

SPARSE = 64
"""Where keys lie further apart on average, they are sorted; else each is added to at its place."""

STRETCH = 64
"""Keys whose best score stands for all of them where it is decided which to look at."""

Keys = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What scores depend on beside the postings: how many chunks there are, of how many words, and the two constants."""

    chunks: int
    words: int
    k1: float
    b: float

    def weight(self, found: int) -> float:
        """How much a word says that so many chunks have."""
        return float(np.log1p(max(0.0, self.chunks - found + 0.5) / (found + 0.5)))

    def scores(self, postings: np.ndarray, weight: float) -> Scores:
        """What a word of this weight adds to each chunk that has it."""
        frequency = postings["frequency"].astype(np.float64)
        lengths = postings["words"].astype(np.float64)
        lengths *= self.k1 * self.b * self.chunks / max(1, self.words)
        lengths += self.k1 * (1 - self.b) + frequency
        frequency *= weight * (self.k1 + 1)
        frequency /= lengths
        return frequency


def best(
    found: Mapping[str, Sequence[bytes]], weights: Mapping[str, float], corpus: Corpus, gone: bytes, limit: int
) -> list[Match]:
    """The chunks that score highest, by each word's packed postings; the keys in `gone` count for nothing."""
    hidden = np.frombuffer(gone, ">u4")
    keys: list[Keys] = []
    scores: list[Scores] = []
    most = 0.0
    for term, pieces in sorted(found.items()):
        postings = np.frombuffer(b"".join(pieces), POSTING)
        if len(hidden):
            postings = postings[~np.isin(postings["chunk"], hidden)]
        if not len(postings):
            continue
        weight = weights[term] * corpus.weight(len(postings))
        most += weight * (corpus.k1 + 1)
        keys.append(postings["chunk"].astype(np.int64))
        scores.append(corpus.scores(postings, weight))
    if not keys:
        return []
    chunks, totals = _summed(np.concatenate(keys), np.concatenate(scores), limit)
    order = np.lexsort((chunks, -totals))[:limit]
    return [Match(key, score, most) for key, score in zip(chunks[order].tolist(), totals[order].tolist(), strict=True)]


def without(postings: bytes, chunks: Sequence[int]) -> bytes:
    """Packed postings without those of some chunks."""
    every = np.frombuffer(postings, POSTING)
    return every[~np.isin(every["chunk"], np.array(chunks, np.uint32))].tobytes()


def _summed(keys: Keys, scores: Scores, limit: int) -> tuple[Keys, Scores]:
    """Each key once, with the sum of its scores; those that cannot be among the best are left out where that is quick."""
    first = int(keys.min())
    if int(keys.max()) - first > SPARSE * len(keys):
        unique, places = np.unique(keys, return_inverse=True)
        return unique, _added(places, scores)
    totals = _added(keys - first, scores)
    places = np.flatnonzero(totals >= _reached(totals, limit))
    return places.astype(np.int64) + first, totals[places]


def _reached(totals: Scores, limit: int) -> float:
    """A score above 0 that so many chunks reach, if so many score at all: from the best of every stretch of keys."""
    peaks = np.maximum.reduceat(totals, np.arange(0, len(totals), STRETCH))
    reached = float(np.partition(peaks, len(peaks) - limit)[len(peaks) - limit]) if len(peaks) > limit else 0.0
    return max(reached, float(np.nextafter(0, 1)))


def _added(places: Keys, scores: Scores) -> Scores:
    """What lies at each place, added up."""
    return np.bincount(places, scores).astype(np.float64, copy=False)
