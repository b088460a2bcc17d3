"""The pairs of `benchmarks/polarity.py`, and how its outcomes are counted."""

import asyncio
from collections import Counter

import pytest

from benchmarks.polarity import Judgement, Outcome, Pair, judge, read_pairs, sides, table

YES, NO, VETOED = Judgement(0.9, 0.9, 0.9), Judgement(0.4, 0.2, 0.2), Judgement(0.1, 0.9, 0.1)


def pair(language: str = "en", form: str = "not") -> Pair:
    return Pair(language, form, "The pool is open.", "The pool is open.", "The pool is not open.")


def test_there_are_two_hundred_different_pairs_in_each_language() -> None:
    pairs = read_pairs()
    assert Counter(one.language for one in pairs) == {"en": 200, "de": 200}
    assert len({text for one in pairs for text in (one.claim, one.negation)}) == 800
    assert {one.form for one in pairs} == {
        "not", "no", "never", "nobody", "without", "by no means", "antonym", "order", "amount", "quantifier",
    }  # fmt: skip
    for one in pairs:
        assert all(text.strip() == text and text.endswith(".") for text in (one.passage, one.claim, one.negation))


def test_a_pair_is_told_apart_where_only_the_claim_is_supported() -> None:
    told = [Outcome(pair(), claim, negation).told_apart("reader") for claim in (YES, NO) for negation in (YES, NO)]
    assert told == [False, True, False, False]


def test_a_rule_overrules_the_reader() -> None:
    outcome = Outcome(pair(), YES, VETOED)
    assert [outcome.told_apart(method) for method in ("rules", "reader", "both")] == [True, False, True]
    assert not Outcome(pair(), VETOED, NO).told_apart("both")


def test_shares_are_counted_by_group_and_side() -> None:
    outcomes = [Outcome(pair(), YES, NO), Outcome(pair(), YES, VETOED), Outcome(pair("de"), NO, YES)]
    assert table("language", outcomes, lambda one: one.pair.language).splitlines() == [
        "| language | pairs | rules | reader | both |",
        "|---|---|---|---|---|",
        "| en | 2 | 1.000 | 0.500 | 1.000 |",
        "| de | 1 | 0.000 | 0.000 | 0.000 |",
        "| all | 3 | 0.667 | 0.333 | 0.667 |",
    ]
    told = sides(outcomes).splitlines()
    assert told[2:5] == [
        "| claims, en | 1.000 | 1.000 | 1.000 |",
        "| negations, en | 0.000 | 0.500 | 0.000 |",
        "| claim scored higher than its negation, en | 1.000 | 0.500 | 1.000 |",
    ]


@pytest.mark.slow
def test_a_plain_negation_is_told_apart_by_every_method() -> None:
    claimed = Pair("en", "not", "Dogs are allowed in the garden.", "Dogs are allowed in the garden.",
                   "Dogs are not allowed in the garden.")  # fmt: skip
    [outcome] = asyncio.run(judge([claimed]))
    assert [outcome.told_apart(method) for method in ("rules", "reader", "both")] == [True, True, True]
