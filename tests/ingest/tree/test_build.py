"""The tree of a document and of a folder: levels, centroids, passages and editions below each node."""

import numpy as np
import pytest

from pincite.ingest.tree.build import MAX_LEVELS, MAX_PASSAGES, Leaf, document_tree, folder_tree, top_level


def _leaves(count: int, edition: int = 1, first: int = 0) -> list[Leaf]:
    vectors = np.random.default_rng(edition).normal(size=(count, 8))
    return [
        Leaf(first + n, edition, f"Passage {first + n} speaks about dome number {n}.", ("Handbook",), "en", vectors[n])
        for n in range(count)
    ]


def test_a_short_document_has_one_node() -> None:
    [root] = document_tree(_leaves(3))
    assert (root.level, sorted(root.passages), root.editions) == (1, [0, 1, 2], (1,))
    assert root.terms["handbook"] == 1


def test_every_level_holds_all_passages_until_one_node_is_left() -> None:
    nodes = document_tree(_leaves(100))
    levels = sorted({node.level for node in nodes})
    assert levels == [1, 2, 3]
    for level in levels:
        assert sorted(key for node in nodes if node.level == level for key in node.passages) == list(range(100))
    assert len(top_level(nodes)) == 1


def test_there_are_four_levels_at_most_and_a_node_has_a_limited_number_of_passages() -> None:
    nodes = document_tree(_leaves(6000))
    assert max(node.level for node in nodes) == MAX_LEVELS
    assert max(len(node.passages) for node in nodes) == MAX_PASSAGES


def test_a_vector_is_the_centroid_of_its_children() -> None:
    leaves = [Leaf(n, 1, "", (), "en", vector) for n, vector in enumerate(([1.0, 0.0], [0.0, 1.0]))]
    [root] = document_tree(leaves)
    assert root.vector.tolist() == pytest.approx([0.5**0.5, 0.5**0.5])


def test_a_folder_tree_joins_the_roots_of_documents() -> None:
    roots = [root for n in range(3) for root in top_level(document_tree(_leaves(4, n + 1, 10 * n)))]
    [node] = folder_tree(roots)
    assert node.editions == (1, 2, 3)
    assert len(node.passages) == 12
    assert {one.passage // 10 for one in node.summary} == {0, 1, 2}


def test_a_folder_of_one_document_has_no_tree_of_its_own() -> None:
    assert folder_tree(document_tree(_leaves(4))) == []


def test_no_passages_give_no_tree() -> None:
    assert document_tree([]) == []
