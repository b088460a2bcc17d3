"""Bridges between passages, compared with values worked out by hand."""

from math import e, log, sqrt

import pytest

from pincite.core.graph import Subgraph
from pincite.core.protocols import TermMatches
from pincite.query.graph.bridges import ASKED, MOST_PASSAGES, OPEN_SHARE, bridge_scores, coverage

# The question has the words "song" (weight 1), "born" (2) and "where" (1). Passage 1 has the first, 2 the second.
TERMS = [TermMatches(1.0, frozenset({1})), TermMatches(2.0, frozenset({2, 9})), TermMatches(1.0, frozenset())]


def graph(*links: tuple[int, int]) -> Subgraph:
    return Subgraph([(chunk, name, 1.0) for chunk, name in links], {}, (), ())


def test_a_passage_counts_by_the_words_that_the_other_leaves_open() -> None:
    covered = coverage(TERMS, [1, 2, 3])
    assert covered.share(None).tolist() == pytest.approx([sqrt(1 / 4), sqrt(2 / 4), 0.0])
    assert covered.share(1).tolist() == pytest.approx([0.0, sqrt(2 / 4), 0.0])
    assert covered.share(2).tolist() == pytest.approx([sqrt(1 / 4), 0.0, 0.0])


def test_what_shares_an_entity_and_has_open_words_comes_before_what_only_shares_it() -> None:
    covered = coverage(TERMS, [1, 2, 3])
    scores = bridge_scores(graph((1, 10), (2, 10), (3, 10)), {1: 1.0}, (), covered)
    rarity = 1 / log(3 + e)
    assert scores == {
        2: pytest.approx(rarity * (OPEN_SHARE + sqrt(0.5))),
        3: pytest.approx(rarity * OPEN_SHARE),
    }


def test_an_entity_of_the_question_counts_less_than_one_of_the_best_passage() -> None:
    covered = coverage(TERMS, [2])
    assert bridge_scores(graph((2, 10)), {}, [10], covered) == {
        2: pytest.approx(ASKED / log(1 + e) * (OPEN_SHARE + sqrt(0.5)))
    }


def test_an_entity_of_too_many_passages_joins_nothing() -> None:
    chunks = range(1, MOST_PASSAGES + 2)
    covered = coverage((), list(chunks))
    assert bridge_scores(graph(*((chunk, 10) for chunk in chunks)), {1: 1.0}, (), covered) == {}
    assert (
        len(bridge_scores(graph(*((chunk, 10) for chunk in chunks[:-1])), {1: 1.0}, (), covered)) == MOST_PASSAGES - 1
    )
