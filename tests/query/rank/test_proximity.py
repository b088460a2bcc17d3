import asyncio
from collections.abc import Callable

import pytest

from pincite.core.query.hits import Hit
from pincite.core.run import Run
from pincite.providers.scripted import Options, ScriptedReranker
from pincite.query.rank.proximity import PROXIMITY_WEIGHT, closeness, proximity_boost
from tests.builders import hit, plan


def boosted_hits(run: Run, text: str, *hits: Hit) -> list[Hit]:
    return asyncio.run(proximity_boost(run, plan(text), hits))


@pytest.mark.parametrize(
    ("held", "near"),
    [
        ("", 0.0),
        ("a x x", 0.0),
        ("a b c", 1.0),
        ("a x b x c", 3 / 5),
        ("a x x x a b x", 2 / 3),
        ("c x x x x x a b c", 1.0),
    ],
)
def test_how_many_of_the_words_and_how_near(held: str, near: float) -> None:
    assert closeness({"a", "b", "c"}, held.split()) == pytest.approx(near)


def test_words_side_by_side_beat_words_far_apart_of_nearly_the_same_score(make_run: Callable[..., Run]) -> None:
    apart = hit("The harbour, which is old, and much later in the text the master.", key=1, score=0.51)
    beside = hit("The harbour master decides.", key=2, score=0.5)
    found = boosted_hits(make_run(), "harbour master", apart, beside)
    assert [one.chunk.key for one in found] == [2, 1]
    for one in found:
        before = {1: 0.51, 2: 0.5}[one.chunk.key]
        assert one.score == one.hybrid_score == pytest.approx(before + sum(placing.share for placing in one.placings))
        assert one.score - before <= PROXIMITY_WEIGHT * 0.51 + 1e-9
        assert [placing.via for placing in one.placings] == ["near"]


def test_a_much_better_passage_stays_before_one_that_only_holds_the_words(make_run: Callable[..., Run]) -> None:
    found = boosted_hits(
        make_run(), "harbour master", hit("Ships.", key=1, score=0.9), hit("harbour master", key=2, score=0.5)
    )
    assert [one.chunk.key for one in found] == [1, 2]


def test_no_proximity_boost_where_a_reranker_is_configured(make_run: Callable[..., Run]) -> None:
    hits = [hit("Ships.", key=1), hit("harbour master", key=2)]
    assert boosted_hits(make_run(reranker=ScriptedReranker(Options())), "harbour master", *hits) == hits


def test_no_hits_no_proximity_boost(make_run: Callable[..., Run]) -> None:
    assert boosted_hits(make_run(), "harbour master") == []
