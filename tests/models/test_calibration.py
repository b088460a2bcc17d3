"""What cosines are worth, embedder by embedder."""

import asyncio

import pytest

from pincite.models.calibration import (
    FITTED,
    FITTED_RELATED_MEAN,
    FITTED_UNRELATED_MEAN,
    LEXICAL_ONLY,
    PAIRS,
    known_calibration,
    learn_calibration,
    mean_cosines,
    scale_calibration,
)
from pincite.providers.scripted import Options, ScriptedEmbedder


class Named(ScriptedEmbedder):
    def __init__(self, name: str) -> None:
        super().__init__(Options())
        self.name = name


def test_the_fitted_model_keeps_its_coefficients_in_every_variant() -> None:
    assert known_calibration(Named("minilm-l6-v2/int8.1")) == known_calibration(Named("minilm-l6-v2/fp32")) == FITTED
    assert known_calibration(Named("somebody-else")) is None
    same = scale_calibration(FITTED_RELATED_MEAN, FITTED_UNRELATED_MEAN)
    assert (same.bias, same.cosine) == pytest.approx((FITTED.bias, FITTED.cosine))


def test_a_model_whose_cosines_all_lie_high_is_read_on_its_own_scale() -> None:
    high = scale_calibration(related=0.9, unrelated=0.7)
    for mine, theirs in ((0.9, FITTED_RELATED_MEAN), (0.7, FITTED_UNRELATED_MEAN)):
        assert high.bias + high.cosine * mine == pytest.approx(FITTED.bias + FITTED.cosine * theirs)


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
