import numpy as np
import pytest

from benchmarks.choosing import Case, fit_choice, fit_refusal, report, shares
from pincite.extractive.question import question_terms
from pincite.extractive.score import score_sentences
from pincite.extractive.sentences import sentences_of
from tests.builders import hit

TEXTS = ("The bridge opened in 1931. It rained.", "The pump is old. The lamp was lit in 1968.")


def case(question: str, text: str, kind: str, *, held_out: bool = False, cosine: float = 0.5) -> Case:
    found = sentences_of([hit(text)])
    asked = question_terms(question, found)
    made = score_sentences(asked, found, [cosine, cosine / 2])
    gold = np.array([kind == "covered" and "19" in one.sentence.text for one in made])
    return Case(kind, False, held_out, asked, made, made, gold)


@pytest.fixture
def cases() -> list[Case]:
    made = []
    for out in (False, True):
        for n, text in enumerate(TEXTS * 3):
            made.append(
                case("When was the lamp lit, or the bridge opened?", text, "covered", held_out=out, cosine=0.3 + n / 20)
            )
            made.append(
                case("When did Tesla die?", text, "near" if n % 2 else "far", held_out=out, cosine=0.2 + n / 15)
            )
    return made


def test_what_right_sentences_hold_is_worth_more(cases: list[Case]) -> None:
    assert fit_choice([one for one in cases if one.kind == "covered"])["own"] > 0


def test_what_speaks_for_an_answer_is_fitted(cases: list[Case]) -> None:
    assert fit_refusal(cases, ["meaning"])["meaning"] != 0


def test_the_report_shows_both_halves(cases: list[Case]) -> None:
    lines = report_or_skip(cases)
    assert any(line.startswith("| own |") for line in lines)
    assert set(shares(cases)) == {"covered", "near", "far"}


def report_or_skip(cases: list[Case]) -> list[str]:
    try:
        return report(cases, [])
    except (ArithmeticError, np.linalg.LinAlgError):
        pytest.skip("so few questions are told apart completely")
