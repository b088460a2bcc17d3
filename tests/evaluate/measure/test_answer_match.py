"""Answers judged by strings and sources."""

from dataclasses import replace
from typing import Any

import pytest

from pincite.core.evaluations import AnswerQuestion
from pincite.evaluate.measure.answer_match import GivenAnswer, contains, judge_answer


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It costs 1,250.00 EUR.", "1250"),
        ("It costs 12\u202f400 EUR.", "12400"),
        ("It costs 12.400 EUR.", "12,400"),
        ("The share is 7,5\u00a0%.", "7,5%"),
        ("Open from 9 \u2013 5", "9 - 5"),
        ("He said “no”.", '"NO"'),
        ("Use **two** keys", "two keys"),
        ("K-7,Berlin,3,open,Li", "3"),
        ("K-7,Berlin,3,open,Li", "li"),
        ("Fa\u0308hre", "f\u00e4hre"),
        ("No. It is closed.", "No."),
    ],
)
def test_spelling_is_ignored(text: str, wanted: str) -> None:
    assert contains(text, wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It takes 130 days", "30"),
        ("It takes 3.5 days", "3"),
        ("At 12:30", "12"),
        ("It is noted", "no"),
        ("It costs 1250 EUR", "1251"),
        ("7,50 EUR", "7"),
        ("anything", ""),
    ],
)
def test_a_part_of_a_number_or_of_a_short_word_is_no_match(text: str, wanted: str) -> None:
    assert not contains(text, wanted)


FACT = AnswerQuestion(
    "1", "How long, and who?", gold=(("30 days",), ("Ann", "Bea")), forbidden=("45 days",), sources=("A.md", "b.md")
)


@pytest.mark.parametrize(
    ("text", "cited", "changes", "verdict"),
    [
        ("30 days, says Bea.", ["x/a.MD"], {}, "right"),
        ("30 days.", ["a.md"], {}, "partly"),
        ("30 days, says Bea.", ["other.md"], {}, "wrong"),
        ("30 days, says Bea, not 45 days.", ["a.md"], {}, "wrong"),
        ("Something else.", ["a.md"], {}, "wrong"),
        ("30 days, says Ann.", ["a.md"], {"all_sources": True}, "partly"),
        ("30 days, says Ann.", ["a.md", "b.md"], {"all_sources": True}, "right"),
        ("30 days, says Ann.", ["a.md"], {"expect": "conflict"}, "partly"),
        ("30 days, says Ann.", ["a.md", "b.md"], {"expect": "conflict"}, "right"),
        ("30 days, says Ann.", [], {"sources": ()}, "right"),
        ("It is not in the documents.", [], {"expect": "refuse", "gold": ()}, "right"),
        ("Das steht nicht in den Unterlagen.", [], {"expect": "refuse", "gold": ()}, "right"),
        ("Ce n'est pas écrit dans les documents.", [], {"expect": "refuse", "gold": ()}, "right"),
        ("It is not in the documents, but 45 days.", [], {"expect": "refuse", "gold": ()}, "wrong"),
        ("It is 30 days.", ["a.md"], {"expect": "refuse", "gold": ()}, "wrong"),
    ],
)
def test_the_verdict_follows_content_and_sources(
    text: str, cited: list[str], changes: dict[str, Any], verdict: str
) -> None:
    found, reason = judge_answer(replace(FACT, **changes), GivenAnswer(text, cited, refused=False))
    assert found == verdict
    assert bool(reason) == (verdict != "right")


def test_a_refusal_is_right_only_where_it_is_expected() -> None:
    refusal = GivenAnswer("I don't know. 30 days Ann", [], refused=True)
    assert judge_answer(FACT, refusal)[0] == "wrongly refused"
    assert judge_answer(AnswerQuestion("1", "?", expect="refuse"), refusal)[0] == "right"
