"""Personalised PageRank, compared with values worked out by hand."""

import pytest

from pincite.core.graph import Subgraph
from pincite.query.graph.pagerank import DAMPING, rank_passages


def test_one_entity_divides_its_rank_among_its_passages() -> None:
    graph = Subgraph([(1, 10, 1.0), (2, 10, 1.0)], {}, (), (10,))
    ranks = rank_passages(graph, {10: 1.0}, {})
    # Entity e and passages p, q: e = (1 - d) + d (p + q), p = q = d e / 2; so e = 1 / (1 + d), p = d / (2 (1 + d)).
    assert ranks == {1: pytest.approx(DAMPING / (2 * (1 + DAMPING)), abs=5e-4), 2: pytest.approx(ranks[1])}


def test_what_is_two_hops_away_is_found_and_ranks_below() -> None:
    graph = Subgraph([(1, 10, 1.0), (1, 11, 1.0), (2, 11, 1.0), (3, 12, 1.0)], {}, (), (10,))
    ranks = rank_passages(graph, {10: 1.0}, {})
    assert list(ranks) == [1, 2]


def test_two_names_of_one_entity_are_one_node() -> None:
    links = [(1, 10, 1.0), (2, 11, 1.0)]
    assert list(rank_passages(Subgraph(links, {}, (), (10,)), {10: 1.0}, {})) == [1]
    assert list(rank_passages(Subgraph(links, {}, [(10, 11)], (10,)), {10: 1.0}, {})) == [1, 2]


def test_without_seeds_nothing_is_ranked() -> None:
    assert rank_passages(Subgraph([(1, 10, 1.0)], {}, (), ()), {}, {}) == {}
    assert rank_passages(Subgraph((), {}, (), ()), {}, {5: 1.0}) == {5: 1.0}
