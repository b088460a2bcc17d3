"""BM25 over packed postings, term by term."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.core.protocols import Match, TermMatches

POSTING = np.dtype([("chunk", ">u4"), ("frequency", ">u2"), ("words", ">u2")])
"""A packed posting: the chunk's key, the frequency of the term in it, and the chunk's number of words."""

SPARSE_KEY_GAP = 64
"""Average gap between keys above which scores are summed by sorting the keys; below it, in an array indexed by key."""

KEYS_PER_BLOCK = 64
"""Consecutive keys whose maximum score represents them when the score threshold is estimated."""

Keys = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The inputs of a score besides the postings: the number of chunks and words, and BM25's `k1` and `b`."""

    chunks: int
    words: int
    k1: float
    b: float

    def weight(self, frequency: int) -> float:
        """Return the inverse document frequency of a term that `frequency` chunks contain."""
        return float(np.log1p(max(0.0, self.chunks - frequency + 0.5) / (frequency + 0.5)))

    def scores(self, frequencies: npt.NDArray[Any], words: npt.NDArray[Any], weight: float | Scores) -> Scores:
        """Return the score that a term of this weight adds to each chunk that contains it; `words` are its lengths."""
        frequency = frequencies.astype(np.float64)
        lengths = words.astype(np.float64)
        lengths *= self.k1 * self.b * self.chunks / max(1, self.words)
        lengths += self.k1 * (1 - self.b) + frequency
        frequency *= weight * (self.k1 + 1)
        frequency /= lengths
        return frequency


def best_matches(
    found: Mapping[str, Sequence[bytes]], weights: Mapping[str, float], corpus: Corpus, gone: bytes, limit: int
) -> list[Match]:
    """Return the chunks with the highest scores from each term's packed postings; chunk keys in `gone` are excluded."""
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
        scores.append(corpus.scores(postings["frequency"], postings["words"], weight))
    return highest(keys, scores, most, limit)


def term_matches(
    found: Mapping[str, Sequence[bytes]], weights: Mapping[str, float], corpus: Corpus, gone: bytes, keys: Sequence[int]
) -> list[TermMatches]:
    """Return which of these chunks contain each term, with the weight that BM25 gives it."""
    hidden, wanted = np.frombuffer(gone, ">u4"), np.array(keys, np.int64)
    matches: list[TermMatches] = []
    for term, pieces in sorted(found.items()):
        chunks = np.frombuffer(b"".join(pieces), POSTING)["chunk"].astype(np.int64)
        if len(hidden):
            chunks = chunks[~np.isin(chunks, hidden)]
        if len(chunks):
            weight = weights[term] * corpus.weight(len(chunks))
            matches.append(TermMatches(weight, frozenset(wanted[np.isin(wanted, chunks)].tolist())))
    return matches


def highest(keys: Sequence[Keys], scores: Sequence[Scores], most: float, limit: int) -> list[Match]:
    """Return the chunks with the highest sums of scores; `most` is the highest sum that is possible."""
    if not keys:
        return []
    chunks, totals = _sum_by_key(np.concatenate(keys), np.concatenate(scores), limit)
    order = np.lexsort((chunks, -totals))[:limit]
    return [Match(key, score, most) for key, score in zip(chunks[order].tolist(), totals[order].tolist(), strict=True)]


def without_chunks(postings: bytes, chunks: Sequence[int]) -> bytes:
    """Return packed postings without those of the given chunks."""
    every = np.frombuffer(postings, POSTING)
    return every[~np.isin(every["chunk"], np.array(chunks, np.uint32))].tobytes()


def _sum_by_key(keys: Keys, scores: Scores, limit: int) -> tuple[Keys, Scores]:
    """Return each key once with the sum of its scores; in dense arrays, keys below the threshold are dropped."""
    first = int(keys.min())
    if int(keys.max()) - first > SPARSE_KEY_GAP * len(keys):
        unique, places = np.unique(keys, return_inverse=True)
        return unique, _sum_at(places, scores)
    totals = _sum_at(keys - first, scores)
    places = np.flatnonzero(totals >= _score_threshold(totals, limit))
    return places.astype(np.int64) + first, totals[places]


def _score_threshold(totals: Scores, limit: int) -> float:
    """Return a positive score that at least `limit` chunks reach, if as many match: from each block's maximum."""
    peaks = np.maximum.reduceat(totals, np.arange(0, len(totals), KEYS_PER_BLOCK))
    reached = float(np.partition(peaks, len(peaks) - limit)[len(peaks) - limit]) if len(peaks) > limit else 0.0
    return max(reached, float(np.nextafter(0, 1)))


def _sum_at(places: Keys, scores: Scores) -> Scores:
    """Return the sum of the scores at each array position."""
    return np.bincount(places, scores).astype(np.float64, copy=False)
