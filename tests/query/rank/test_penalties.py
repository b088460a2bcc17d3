"""Penalties on passages by what they are for."""

import pytest

from pincite.config.branches.retrieval import Penalties
from pincite.query.rank.penalties import penalised
from tests.builders import hit


@pytest.mark.parametrize(("kind", "left"), [("glossary", 0.7), ("contents", 0.5), ("image_credits", 0.6)])
def test_each_kind_loses_its_share_and_the_step_is_kept(kind: str, left: float) -> None:
    [found] = penalised([hit("x", score=0.8, content_type=kind)], Penalties())
    assert found.score == pytest.approx(0.8 * left)
    assert found.hybrid_score == 0.8
    [step] = found.adjustments
    assert (step.stage, step.before, step.score) == ("penalty", 0.8, found.score)
    assert step.before - step.amount * abs(step.before) == step.score


def test_a_score_below_zero_goes_down_as_well() -> None:
    [found] = penalised([hit("x", score=-2.0, content_type="contents")], Penalties())
    assert found.score == -3.0


def test_ordinary_passages_stay_as_they_are_in_their_order() -> None:
    hits = [hit("x", key=n, score=1.0, content_type=kind) for n, kind in enumerate(("prose", "table", "list", "code"))]
    assert penalised(hits, Penalties()) == hits
