"""What cosines are worth, embedder by embedder."""

import asyncio

import pytest

from pincite.models.calibration import (
    FITTED,
    LEXICAL_ONLY,
    MINILM,
    PAIRS,
    RELATED_MEAN,
    UNRELATED_MEAN,
    Calibration,
    known_calibration,
    learn_calibration,
    mean_cosines,
    on_common_scale,
    scale_calibration,
    to_common_scale,
)
from pincite.providers.scripted import Options, ScriptedEmbedder


class Named(ScriptedEmbedder):
    def __init__(self, name: str) -> None:
        super().__init__(Options())
        self.name = name


def test_the_fitted_model_keeps_its_coefficients_in_every_variant() -> None:
    assert known_calibration(Named("minilm-l6-v2/int8.1")) == known_calibration(Named("minilm-l6-v2/fp32")) == MINILM
    assert known_calibration(Named("pincite-embed/1")) == FITTED
    assert known_calibration(Named("somebody-else")) is None
    same = scale_calibration(FITTED.related, FITTED.unrelated)
    assert (same.bias, same.cosine) == pytest.approx((FITTED.bias, FITTED.cosine))


def test_a_model_whose_cosines_all_lie_high_is_read_on_its_own_scale() -> None:
    high = scale_calibration(related=0.9, unrelated=0.7)
    for mine, theirs in ((0.9, FITTED.related), (0.7, FITTED.unrelated)):
        assert high.bias + high.cosine * mine == pytest.approx(FITTED.bias + FITTED.cosine * theirs)


@pytest.mark.parametrize("calibration", [FITTED, MINILM, scale_calibration(0.5, 0.1)])
def test_every_embedder_is_compared_on_one_scale(calibration: Calibration) -> None:
    assert to_common_scale(calibration, calibration.related) == pytest.approx(RELATED_MEAN)
    assert to_common_scale(calibration, calibration.unrelated) == pytest.approx(UNRELATED_MEAN)
    assert to_common_scale(LEXICAL_ONLY, 0.5) is None


def test_a_cosine_of_an_unknown_embedder_stays_as_it_is() -> None:
    assert on_common_scale(Named("pincite-embed/1"), FITTED.related) == pytest.approx(RELATED_MEAN)
    assert on_common_scale(Named("somebody-new"), 0.42) == 0.42


def test_cosines_that_do_not_separate_pairs_are_ignored() -> None:
    assert scale_calibration(0.5, 0.48) == scale_calibration(0.1, 0.6) == LEXICAL_ONLY


def test_what_was_learnt_is_known_from_then_on() -> None:
    embedder = Named("learnt/1")
    calibration = asyncio.run(learn_calibration(embedder))
    assert known_calibration(embedder) == calibration
    assert calibration.cosine > 0


def test_mean_cosines_separate_related_from_unrelated_pairs() -> None:
    assert mean_cosines([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.6, 0.8]]) == pytest.approx((0.9, 0.3))
    assert len({text for pair in PAIRS for text in pair}) == 2 * len(PAIRS)
