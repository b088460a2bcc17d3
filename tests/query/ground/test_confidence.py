"""The confidence of an answer."""

from dataclasses import replace

import pytest

from pincite.core.query.answer import Groundedness, GroundedSentence
from pincite.query.ground.confidence import (
    FITTED_CURVE,
    HIGH_READ_SCORE,
    HIGH_SCORE,
    ConfidenceInputs,
    Curve,
    answered_share,
    calibrated_confidence,
    counted_confidence,
    estimate_likelihood,
    product_confidence,
)

WHOLE = Groundedness(1.0, (GroundedSentence(0, 9, 1.0, 1),))
GOOD = ConfidenceInputs((0.99, 0.4), WHOLE, 1.0)


def test_more_relevance_support_and_words_of_the_question_raise_the_score() -> None:
    assert FITTED_CURVE.slope > 0
    assert FITTED_CURVE.lead > 0
    assert estimate_likelihood(0.9, 0.0, 0.9) > estimate_likelihood(0.3, 0.0, 0.9) > estimate_likelihood(0.3, 0.0, 0.2)
    assert estimate_likelihood(0.5, 0.5, 0.5, curve=Curve(0.0, 0.0, 0.0)) == 0.5
    half = replace(GOOD, groundedness=Groundedness(0.5))
    assert calibrated_confidence(half).score == pytest.approx(calibrated_confidence(GOOD).score / 2, abs=1e-3)


def test_a_source_as_relevant_that_is_not_cited_lowers_the_score_and_is_named() -> None:
    beside = calibrated_confidence(replace(GOOD, rival=0.95))
    assert beside.score < calibrated_confidence(replace(GOOD, rival=0.3)).score < calibrated_confidence(GOOD).score
    assert "another source of relevance 95% is not cited" in beside.reason
    assert "not cited" not in calibrated_confidence(replace(GOOD, rival=0.3)).reason


def test_answered_share_counts_question_words_in_cited_texts() -> None:
    told = ["Every employee has 30 days of leave.", "Handbook"]
    assert answered_share("How many days of leave does an employee have in Patagonia?", told) == pytest.approx(
        0.6, abs=0.1
    )
    assert answered_share("Leave days?", told) == 1.0
    assert answered_share("", told) == 0.0


def test_the_reason_names_what_raises_and_lowers_the_confidence() -> None:
    half = Groundedness(0.5, (GroundedSentence(0, 9, 1.0, 1), GroundedSentence(9, 20, 0.1, None)))
    made = calibrated_confidence(replace(GOOD, groundedness=half, missing=("Patagonia",), conflicts=1, agreement=0.5))
    assert made.reason == (
        "2 cited sources, relevance 99%, 1 of 2 sentences supported, nothing found about “Patagonia”, sources disagree, "
        "other drafts agree with 50% of it"
    )


@pytest.mark.parametrize(
    "against",
    [
        {"uncited": True},
        {"conflicts": 1},
        {"agreement": 0.2},
        {"computed": True},
        {"across": True},
        {"read": 0.3},
        {"missing": ("Patagonia",)},
    ],
)
def test_confidence_is_not_high_without_citations_or_with_conflicts(against: dict[str, object]) -> None:
    assert calibrated_confidence(GOOD).level == "high"
    made = calibrated_confidence(replace(GOOD, **against))  # type: ignore[arg-type]
    assert made.level != "high"
    assert made.score < HIGH_SCORE


@pytest.mark.parametrize(
    ("relevant", "grounded", "score", "level"),
    [
        ((0.9, 0.4), 1.0, 0.9, "high"),
        ((0.4, 0.9), 0.5, 0.45, "low"),
        ((0.6,), 1.0, 0.6, "medium"),
        ((), 1.0, 0.0, "low"),
    ],
)
def test_the_product_rule_multiplies_relevance_and_grounding(
    relevant: tuple[float, ...], grounded: float, score: float, level: str
) -> None:
    made = product_confidence(ConfidenceInputs(relevant, Groundedness(grounded), 0.1, rival=0.95))
    assert (made.score, made.level) == (score, level)
    doubtful = product_confidence(ConfidenceInputs((0.9,), Groundedness(1.0), 1.0, conflicts=1))
    assert (doubtful.score, doubtful.level) == (0.9, "medium")


def test_confidence_is_zero_without_citations() -> None:
    assert calibrated_confidence(replace(GOOD, relevant=())).level == "low"


@pytest.mark.parametrize(
    ("similarities", "level", "reason"),
    [
        ([0.6, 0.5, 0.4], "high", "3 relevant sources with 2 citations"),
        ([0.6, 0.2], "medium", "2 sources found, average relevance 40%"),
        ([0.9], "low", "only 1 source found"),
        ([0.2, 0.2, 0.2], "low", "low relevance scores (avg 20%)"),
    ],
)
def test_the_counted_rule_uses_passages_and_mean_similarity(similarities: list[float], level: str, reason: str) -> None:
    made = counted_confidence(GOOD, similarities, 2)
    assert (made.level, made.reason, made.score) == (level, reason, 0.99)


def test_a_surer_reader_raises_the_score_and_the_level_high_begins_earlier() -> None:
    weak = replace(GOOD, relevant=(0.5,), rival=0.1, read=0.6)
    assert calibrated_confidence(weak).score < calibrated_confidence(replace(weak, read=0.99)).score
    assert calibrated_confidence(replace(GOOD, read=0.97)).level == "high"
    doubted = calibrated_confidence(replace(GOOD, read=0.1))
    assert (doubted.level, doubted.score < HIGH_READ_SCORE) == ("medium", True)
