"""Sentences about another period, date or currency than the question names are left out."""

import pytest

from pincite.extractive.periods import names_several, without_other_periods
from pincite.extractive.question import question_terms
from pincite.extractive.sentences import sentences_of
from tests.builders import hit


def kept(question: str, text: str) -> list[str]:
    found = sentences_of([hit(text)])
    return [one.text for one in without_other_periods(question_terms(question, found), found)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was revenue in FY2021?", "Revenue was $5 million in fiscal 2022."),
        ("What was Q2 revenue?", "Revenue was $5 million in the third quarter."),
        ("What was Q2 revenue?", "Revenue was $5 million in fiscal 2022."),
        ("What was revenue in the first half?", "Revenue was $5 million in H2."),
        ("What was Q2 2021 revenue?", "Revenue was $5 million in 2Q22."),
        ("What was signed on 3 May 2021?", "The lease was signed on May 3, 2022."),
        ("Which brand cost $350 million?", "The brand Nilgiri cost €350 million."),
        ("Wie hoch war der Umsatz im Geschäftsjahr 2021?", "Der Umsatz betrug im GJ 2022 5 Mio. Euro."),
    ],
)
def test_another_one_is_left_out(question: str, text: str) -> None:
    assert kept(question, text) == []


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was revenue in FY2022?", "Revenue was $5 million in fiscal 2022."),
        ("What was revenue in FY2022?", "Revenue was $5 million."),  # no year at all
        ("What was Q2 revenue?", "Revenue was $5 million in the second quarter and $6 million in the third quarter."),
        ("What was signed on 3 May 2021?", "The lease was signed in spring."),
        ("Which brand cost $350 million?", "The brand Nilgiri cost US$350m."),
        ("Can I spend $350?", "You may spend up to $400."),
        ("What was revenue in 2021?", "Revenue was $5 million in fiscal 2022."),  # no fiscal year is named
    ],
)
def test_what_may_answer_is_kept(question: str, text: str) -> None:
    assert kept(question, text) == [text]


def test_one_of_two_periods_is_enough() -> None:
    text = "Revenue was $5 million in fiscal 2022.\n\nRevenue was $4 million in fiscal 2021.\n\nRevenue was $3 million in fiscal 2020."
    assert kept("How did revenue change from FY2021 to FY2022?", text) == text.split("\n\n")[:2]
    quarters = "Revenue fell in the second quarter.\n\nRevenue rose in the third quarter."
    assert kept("Compare revenue in Q2 and Q3.", quarters) == quarters.split("\n\n")


def test_nothing_answers_where_the_thing_asked_for_is_told_of_another_year() -> None:
    text = "Capital expenditures were $5 million in fiscal 2022.\n\nNet sales were $7 million in fiscal 2021."
    assert kept("What were the capital expenditures in FY2021?", text) == []
    assert kept("What were the net sales in FY2021?", text) == ["Net sales were $7 million in fiscal 2021."]


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("Interest was $88 million and $93 million in fiscal 2022 and fiscal 2021, respectively.", True),
        ("Interest was $93 million in fiscal 2021.", False),
    ],
)
def test_a_sentence_about_two_years_has_a_value_for_each(text: str, several: bool) -> None:
    [sentence] = found = sentences_of([hit(text)])
    assert names_several(question_terms("What was interest in FY2021?", found), sentence) is several
