"""Intervals by resampling."""

import numpy as np
import pytest

from pincite.core.evaluations import Interval
from pincite.evaluate.measure import bootstrap


def test_the_interval_is_about_two_standard_errors_on_each_side() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.2, 400).tolist()
    found = bootstrap.mean(values)
    error = np.std(values) / np.sqrt(len(values))
    assert found.value == pytest.approx(np.mean(values))
    assert found.low == pytest.approx(found.value - 1.96 * error, abs=0.2 * error)
    assert found.high == pytest.approx(found.value + 1.96 * error, abs=0.2 * error)


def test_the_same_values_always_have_the_same_interval() -> None:
    values = [0.1, 0.9, 0.4, 0.4]
    assert bootstrap.mean(values) == bootstrap.mean(values)


def test_pairing_sees_a_small_gain_that_two_intervals_hide() -> None:
    before = np.random.default_rng(2).uniform(0, 1, 100)
    after = np.clip(before + 0.02, 0, 1)
    alone, then = bootstrap.mean(before.tolist()), bootstrap.mean(after.tolist())
    assert alone.high > then.low  # apart, nothing could be said
    assert bootstrap.difference(before.tolist(), after.tolist()).verdict == "better"
    assert bootstrap.difference(after.tolist(), before.tolist()).verdict == "worse"
    assert bootstrap.difference(before.tolist(), before[::-1].tolist()).verdict == "within noise"


def test_nothing_changed_is_within_noise() -> None:
    assert bootstrap.difference([0.3, 0.7], [0.3, 0.7]) == Interval(0.0, 0.0, 0.0)
    assert Interval(0.0, 0.0, 0.0).verdict == "within noise"


def test_no_and_one_question_have_a_mean_too() -> None:
    assert bootstrap.mean([]) == Interval(0.0, 0.0, 0.0)
    assert bootstrap.mean([0.5]) == Interval(0.5, 0.5, 0.5)


def test_many_questions_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).uniform(0, 1, 50).tolist()
    whole = bootstrap.mean(values)
    monkeypatch.setattr(bootstrap, "MAX_DRAWS_IN_MEMORY", 500)
    parts = bootstrap.mean(values)
    assert parts.value == whole.value
    assert parts.low == pytest.approx(whole.low, abs=0.01)


def test_what_is_not_the_same_questions_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="paired"):
        bootstrap.difference([0.1], [0.1, 0.2])
