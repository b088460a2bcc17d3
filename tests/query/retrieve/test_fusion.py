from collections.abc import Mapping

import pytest

from pincite.config.branches.retrieval import Rag
from pincite.core.protocols import Match
from pincite.core.query.plan import Search
from pincite.query.retrieve.fusion import Fusion, Ranking

MOST = 10.0


def ranking(
    via: str, scores: Mapping[int, float], *, most: float = 1.0, more: bool = False, **search: float
) -> Ranking:
    matches = [Match(key, score, most) for key, score in scores.items()]
    return Ranking(Search("q", via, **search), matches, more)  # type: ignore[arg-type]


def fused(rag: Rag, *rankings: Ranking, alpha: float | None = None) -> dict[int, float]:
    fusion = Fusion(rankings, alpha, rag, many=False)
    for key, score in fusion.scores.items():  # what is told of a chunk always adds up to its score
        assert sum(placing.share for placing in fusion.placings(key)) == pytest.approx(score)
    return {key: round(score, 6) for key, score in fusion.scores.items()}


DENSE = ranking("dense", {1: 0.9, 2: 0.5})
LEXICAL = ranking("lexical", {2: 8.0, 4: 4.0}, most=MOST)


def test_scores_relative_to_what_is_possible_are_added_by_weight() -> None:
    assert fused(Rag(), DENSE, LEXICAL) == {1: 0.45, 2: 0.65, 4: 0.2}
    assert fused(Rag(alpha=1.0), DENSE, LEXICAL) == {1: 0.9, 2: 0.5, 4: 0.0}
    assert fused(Rag(), DENSE, LEXICAL, alpha=0.0) == {1: 0.0, 2: 0.8, 4: 0.4}


def test_one_engine_alone_weighs_all() -> None:
    assert fused(Rag(), LEXICAL) == {2: 0.8, 4: 0.4}


def test_scores_relative_to_what_was_found_go_from_worst_to_best() -> None:
    assert fused(Rag(relative_to="found"), DENSE, LEXICAL) == {1: 0.5, 2: 0.5, 4: 0.0}
    alike = ranking("dense", {1: 0.5, 2: 0.5})
    assert fused(Rag(relative_to="found"), alike) == {1: 1.0, 2: 1.0}


def test_a_chunk_below_the_last_one_brought_counts_as_that_one() -> None:
    cut = ranking("lexical", {2: 8.0, 4: 4.0}, most=MOST, more=True)
    fusion = Fusion([DENSE, cut], None, Rag(), many=False)
    [below] = [placing for placing in fusion.placings(1) if placing.via == "lexical"]
    assert (below.rank, below.raw, below.share) == (None, 4.0, 0.2)
    assert fused(Rag(), DENSE, cut)[1] == 0.65
    assert not [placing for placing in fusion.placings(4) if placing.via == "dense"]  # it brought all it has


def test_a_score_known_beyond_the_last_one_counts_itself() -> None:
    fusion = Fusion([ranking("dense", {1: 0.9, 2: 0.5}, more=True), LEXICAL], None, Rag(), many=False)
    assert [round(placing.share, 6) for placing in fusion.placings(4, cosine=0.3)] == [0.15, 0.2]
    assert [placing.raw for placing in fusion.placings(2, cosine=0.3)] == [0.5, 8.0]  # the search told this itself
    assert [placing.raw for placing in fusion.placings(7, cosine=0.3)] == [0.3]  # lexical brought all it has
    by_rank = Fusion([DENSE, LEXICAL], None, Rag(fusion="rrf"), many=False)
    assert by_rank.placings(7, cosine=0.3) == ()


@pytest.mark.parametrize("rag", [Rag(), Rag(relative_to="found"), Rag(fusion="rrf")])
def test_every_share_follows_from_its_own_scale_or_rank(rag: Rag) -> None:
    half = ranking("lexical", {2: 8.0, 4: 4.0}, most=MOST, more=True, query=1, weight=0.5)
    fusion = Fusion([DENSE, LEXICAL, half], 0.3, rag, many=False)
    for key in fusion.scores:
        for one in fusion.placings(key):
            if one.scale is not None:
                assert one.share == one.scale.weight * (one.raw - one.scale.low) / one.scale.span
            else:
                assert one.rank is not None
                assert one.share == (0.5 if one.query else 1) / (rag.rrf_k + one.rank)


def test_several_queries_are_joined_by_rank() -> None:
    rag = Rag(multi_query_rrf_k=60)
    other = ranking("dense", {2: 0.4, 1: 0.1}, query=1)
    assert Fusion([DENSE, other], None, rag, many=True).scores == {1: 1 / 61 + 1 / 62, 2: 1 / 62 + 1 / 61}


def test_a_passage_has_a_rank_only_for_the_queries_that_returned_it() -> None:
    first = ranking("dense", {1: 0.9, 2: 0.8, 9: 0.3}, more=True)
    second = ranking("dense", {3: 0.7, 9: 0.6, 4: 0.2}, more=True, query=1)
    fusion = Fusion([first, second], None, Rag(multi_query_rrf_k=60), many=True, depth=3)
    assert fusion.scores == pytest.approx({1: 1 / 61, 2: 1 / 62, 3: 1 / 61, 9: 1 / 63 + 1 / 62, 4: 1 / 63})
    assert [(one.query, one.rank) for one in fusion.placings(1) if one.via == "query"] == [(0, 1)]
    assert [(one.query, one.rank) for one in fusion.placings(9) if one.via == "query"] == [(0, 3), (1, 2)]


def test_the_best_hit_of_one_query_beats_mediocre_hits_of_all() -> None:
    first = ranking("dense", {1: 0.9, **{key: 0.5 - key / 100 for key in range(3, 20)}})
    other = ranking("dense", {2: 0.9, **{key: 0.5 - key / 100 for key in range(3, 20)}}, query=1)
    deep = Fusion([first, other], None, Rag(), many=True, depth=20).scores
    assert max(deep, key=lambda key: deep[key]) == 3
    shallow = Fusion([first, other], None, Rag(), many=True, depth=1)
    assert set(shallow.scores) == {1, 2}
    assert [placing.rank for placing in shallow.placings(3) if placing.via == "query"] == []


def test_a_text_that_counts_less_adds_less() -> None:
    half = ranking("dense", {2: 0.9}, query=1, weight=0.5)
    fusion = Fusion([ranking("dense", {1: 0.2}), half], None, Rag(), many=True)
    assert fusion.scores == {1: 1 / 61, 2: 0.5 / 61}
    assert fusion.placings(2)[-1].weight == 0.5


def test_nothing_found_is_nothing_fused() -> None:
    assert fused(Rag(), ranking("dense", {}), ranking("lexical", {})) == {}
