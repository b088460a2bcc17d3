"""Passages that a bridge joins to a good one: they share an entity, and have words of the question that it lacks.

What answers the second step of a question mentions what the first step found. Many passages do; the one that also has
the words of the question which the first passage leaves open is likely to be the second step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pincite.core.graph import Subgraph
from pincite.core.protocols import TermMatches

OPEN_SHARE = 0.1
"""What a passage without any open word of the question counts, where one with all of them counts 1 more."""
ASKED = 0.6
"""What an entity counts that the question names, where one of the best passage counts 1."""
MOST_PASSAGES = 60
"""Passages of an entity at most; one with more joins too much to tell anything."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which words of the question each passage has, and what each word weighs."""

    places: Mapping[int, int]
    weights: np.ndarray
    has: np.ndarray

    def share(self, beside: int | None) -> np.ndarray:
        """The root of each passage's share of the question, by weight; without the words that one passage has."""
        weights = self.weights
        if beside is not None and beside in self.places:
            weights = weights * ~self.has[:, self.places[beside]]
        total = float(self.weights.sum()) or 1.0
        found: np.ndarray = np.sqrt(weights @ self.has / total)
        return found


def coverage(terms: Sequence[TermMatches], passages: Sequence[int]) -> Coverage:
    """The coverage of the question by passages."""
    places = {key: place for place, key in enumerate(passages)}
    has = np.zeros((len(terms), len(passages)), dtype=bool)
    for row, term in enumerate(terms):
        has[row, [places[key] for key in term.keys if key in places]] = True
    return Coverage(places, np.array([term.weight for term in terms], dtype=float), has)


def bridge_scores(
    graph: Subgraph, best: Mapping[int, float], asked: Sequence[int], covered: Coverage
) -> dict[int, float]:
    """The score of each passage that an entity joins to one of the best, or that mentions an entity of the question.

    `best` are the best passages with scores up to 1.
    """
    passages: dict[int, list[int]] = {}
    names: dict[int, list[int]] = {}
    for chunk, name, _ in graph.links:
        passages.setdefault(name, []).append(chunk)
        names.setdefault(chunk, []).append(name)
    scores: dict[int, float] = {}

    def add(name: int, weight: float, share: np.ndarray, but: int | None) -> None:
        found = passages.get(name, ())
        if 0 < len(found) <= MOST_PASSAGES:
            rarity = weight / float(np.log(len(found) + np.e))
            for chunk in found:
                if chunk != but:
                    score = rarity * (OPEN_SHARE + float(share[covered.places[chunk]]))
                    scores[chunk] = max(scores.get(chunk, 0.0), score)

    for chunk, score in best.items():
        share = covered.share(chunk)
        for name in names.get(chunk, ()):
            add(name, score, share, chunk)
    share = covered.share(None)
    for name in asked:
        add(name, ASKED, share, None)
    return scores
