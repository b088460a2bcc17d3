"""Clusters of unit vectors by k-means, with bounds on their sizes; the same vectors always give the same clusters."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.models.token_vectors import unit_rows

Array = npt.NDArray[Any]

LEAST, MOST = 5, 12
"""Smallest and largest cluster."""
TARGET = 8
"""Members of a cluster that the number of clusters is chosen for."""
MAX_AT_ONCE = 512
"""Vectors that are clustered at once; more are halved first, so that the time grows with their number only."""
MAX_ROUNDS = 25
SEED = 20240

Clusters = list[list[int]]
"""The positions of each cluster's members, in ascending order; clusters are in the order of their first member."""


def clusters(vectors: Array) -> Clusters:
    """Return clusters of 5 to 12 vectors; up to 12 vectors are one cluster."""
    unit = unit_rows(vectors)
    found = [part for group in _groups(unit, np.arange(len(unit))) for part in _sized(unit, group)]
    return sorted(sorted(part.tolist()) for part in found)


def k_means(unit: Array, k: int) -> Array:
    """Return `k` unit centroids; the first ones are chosen far from each other, by a fixed seed."""
    random = np.random.default_rng(SEED)
    centroids = _first_centroids(unit, k, random)
    nearest = np.full(len(unit), -1)
    for _ in range(MAX_ROUNDS):
        before, nearest = nearest, (unit @ centroids.T).argmax(axis=1)
        if np.array_equal(before, nearest):
            break
        sums = np.zeros_like(centroids)
        np.add.at(sums, nearest, unit)
        empty = ~np.isin(np.arange(k), nearest)
        centroids = unit_rows(np.where(empty[:, None], centroids, sums))
    return centroids


def _first_centroids(unit: Array, k: int, random: np.random.Generator) -> Array:
    """k-means++: each next centroid is a vector, likelier the farther it is from those already chosen."""
    chosen = [int(random.integers(len(unit)))]
    distance = np.maximum(0, 1 - unit @ unit[chosen[0]]).astype(np.float64)
    while len(chosen) < k:
        distance[chosen] = 0
        total = distance.sum()
        if total > 0:
            place = int(np.searchsorted(np.cumsum(distance), random.random() * total, side="right"))
        else:  # all others equal a chosen one
            place = next(n for n in range(len(unit)) if n not in chosen)
        chosen.append(min(place, len(unit) - 1))
        distance = np.minimum(distance, np.maximum(0, 1 - unit @ unit[chosen[-1]]))
    return unit[chosen].copy()


def _groups(unit: Array, members: Array) -> list[Array]:
    """Halve many vectors between two centroids until each part is small; no part is less than a quarter."""
    if len(members) <= MAX_AT_ONCE:
        return [members]
    one, other = k_means(unit[members], 2)
    leaning = unit[members] @ (other - one)
    order = np.argsort(leaning, kind="stable")
    cut = int(np.clip((leaning < 0).sum(), len(members) // 4, len(members) - len(members) // 4))
    return [*_groups(unit, np.sort(members[order[:cut]])), *_groups(unit, np.sort(members[order[cut:]]))]


def _sized(unit: Array, members: Array) -> list[Array]:
    """Cluster the members; none of the clusters is too large or too small."""
    count = len(members)
    if count <= MOST:
        return [members] if count else []
    k = -(-count // TARGET)
    similar = unit[members] @ k_means(unit[members], k).T
    nearest = _assigned(similar)
    _fill_small(similar, nearest)
    return [members[nearest == cluster] for cluster in range(k)]


def _assigned(similar: Array) -> Array:
    """Return the cluster of each vector: the most similar one that has room, the most similar pairs first."""
    count, k = similar.shape
    nearest, sizes = np.full(count, -1), np.zeros(k, int)
    for pair in np.argsort(-similar, axis=None, kind="stable"):
        place, cluster = divmod(int(pair), k)
        if nearest[place] < 0 and sizes[cluster] < MOST:
            nearest[place] = cluster
            sizes[cluster] += 1
    return nearest


def _fill_small(similar: Array, nearest: Array) -> None:
    """Move the most similar vectors of larger clusters into each cluster that is too small."""
    sizes = np.bincount(nearest, minlength=similar.shape[1])
    for cluster in np.flatnonzero(sizes < LEAST):
        for place in np.argsort(-similar[:, cluster], kind="stable"):
            if sizes[cluster] >= LEAST:
                break
            if nearest[place] != cluster and sizes[nearest[place]] > LEAST:
                sizes[nearest[place]] -= 1
                sizes[cluster] += 1
                nearest[place] = cluster
