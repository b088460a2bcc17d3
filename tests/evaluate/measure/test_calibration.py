"""Whether relevance means what it says."""

import pytest

from pincite.core.evaluations import EvaluationOutcome
from pincite.evaluate.measure.calibration import calibration_error, reliability, to_bins, wilson_interval


def test_first_passages_rated_alike_are_counted_together() -> None:
    ranks: dict[int, int | None] = {1: 1, 2: 2, 3: 1, 4: None, 5: 1}
    outcome = EvaluationOutcome({}, ranks, 1.0, 2.0, (), {1: 0.82, 2: 0.88, 3: 1.0, 4: 0.0})
    bins = reliability(outcome)
    assert [(one.low, one.questions) for one in bins] == [(0.0, 1), (0.8, 2), (0.9, 1)]
    assert [one.observed.value for one in bins] == [0.0, 0.5, 1.0]
    assert bins[1].predicted == pytest.approx(0.85)


def test_a_run_that_kept_no_relevances_has_no_bins() -> None:
    assert reliability(EvaluationOutcome({}, {1: 1}, 1.0, 1.0)) == ()


def test_the_interval_of_a_share_is_wilsons() -> None:
    found = wilson_interval(8, 10)
    assert (found.value, round(found.low, 4), round(found.high, 4)) == (0.8, 0.4902, 0.9433)
    assert (wilson_interval(0, 3).low, wilson_interval(3, 3).high) == (0.0, 1.0)
    assert wilson_interval(3, 3).low == pytest.approx(0.4385, abs=1e-4)


def test_the_error_is_the_weighted_distance_from_what_was_predicted() -> None:
    bins = to_bins([(0.9, True), (0.9, True), (0.9, False), (0.1, False)])
    assert calibration_error(bins) == pytest.approx((3 * (0.9 - 2 / 3) + 0.1) / 4)
    assert calibration_error(()) == 0.0
