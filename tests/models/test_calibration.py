"""What cosines are worth, embedder by embedder."""

import asyncio

import pytest

from pincite.models.calibration import FITTED, PAIRS, RELATED, UNRELATED, WORDS_ALONE, known, learn, nearness, stretched
from pincite.providers.scripted import Options, ScriptedEmbedder


class Named(ScriptedEmbedder):
    def __init__(self, name: str) -> None:
        super().__init__(Options())
        self.name = name


def test_the_fitted_model_keeps_its_coefficients_in_every_variant() -> None:
    assert known(Named("minilm-l6-v2/int8.1")) == known(Named("minilm-l6-v2/fp32")) == FITTED
    assert known(Named("somebody-else")) is None
    same = stretched(RELATED, UNRELATED)
    assert (same.bias, same.cosine) == pytest.approx((FITTED.bias, FITTED.cosine))


def test_a_model_whose_cosines_all_lie_high_is_read_on_its_own_scale() -> None:
    high = stretched(related=0.9, unrelated=0.7)
    for mine, theirs in ((0.9, RELATED), (0.7, UNRELATED)):
        assert high.bias + high.cosine * mine == pytest.approx(FITTED.bias + FITTED.cosine * theirs)


def test_a_model_that_cannot_tell_what_belongs_together_is_not_listened_to() -> None:
    assert stretched(0.5, 0.48) == stretched(0.1, 0.6) == WORDS_ALONE


def test_what_was_learnt_is_known_from_then_on() -> None:
    embedder = Named("learnt/1")
    calibration = asyncio.run(learn(embedder))
    assert known(embedder) == calibration
    assert calibration.cosine > 0


def test_nearness_tells_pairs_from_the_rest() -> None:
    assert nearness([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.6, 0.8]]) == pytest.approx((0.9, 0.3))
    assert len({text for pair in PAIRS for text in pair}) == 2 * len(PAIRS)
