"""Clusters by k-means: sizes, determinism, and what lies together."""

import numpy as np
import pytest

from pincite.ingest.tree.kmeans import LEAST, MAX_AT_ONCE, MOST, clusters, k_means
from pincite.models.token_vectors import unit_rows


def _vectors(count: int, dimensions: int = 16, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, dimensions))


@pytest.mark.parametrize("count", [13, 14, 25, 100, 257, MAX_AT_ONCE + 1, 1300])
def test_clusters_hold_every_vector_once_and_5_to_12_of_them(count: int) -> None:
    found = clusters(_vectors(count))
    assert sorted(place for part in found for place in part) == list(range(count))
    assert all(LEAST <= len(part) <= MOST for part in found)


@pytest.mark.parametrize("count", [1, 4, 5, 12])
def test_up_to_twelve_vectors_are_one_cluster(count: int) -> None:
    assert clusters(_vectors(count)) == [list(range(count))]


def test_no_vectors_give_no_clusters() -> None:
    assert clusters(np.zeros((0, 4))) == []


def test_the_same_vectors_give_the_same_clusters() -> None:
    assert clusters(_vectors(90)) == clusters(_vectors(90))


def test_equal_vectors_are_clustered_too() -> None:
    found = clusters(np.ones((30, 4)))
    assert all(LEAST <= len(part) <= MOST for part in found)


def test_vectors_of_one_direction_are_one_cluster() -> None:
    noise = np.random.default_rng(3).normal(scale=0.01, size=(24, 3))
    along = np.repeat(np.eye(3), 8, axis=0) + noise
    assert clusters(along) == [list(range(8)), list(range(8, 16)), list(range(16, 24))]


def test_centroids_are_the_directions_of_their_members() -> None:
    rows = unit_rows(np.array([[1, 0.1], [1, -0.1], [0.1, 1], [-0.1, 1]]))
    centroids = sorted(np.round(k_means(rows, 2), 4).tolist())
    assert centroids == [[0.0, 1.0], [1.0, 0.0]]
