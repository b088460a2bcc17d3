"""What `benchmarks/confidence.py` sees in answers, and how it tells what a curve is worth."""

from dataclasses import replace

import pytest

from benchmarks.confidence import INPUTS, Seen, report, seen
from pincite.core.query.answer import Groundedness
from pincite.core.query.prompt import NO_ANSWER
from pincite.query.ground.confidence import ConfidenceInputs
from tests.builders import answer, source

QUESTION = {"_id": "en:1", "text": "Do cats purr?", "answers": ["purr"], "kind": "covered"}
ANSWER = answer("Cats purr. [Source 1]", (source(1, "a", "Cats purr."),))


@pytest.fixture(autouse=True)
def inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the confidence of the answer was made from."""
    monkeypatch.setattr(INPUTS, "last", ConfidenceInputs((0.9, 0.4), Groundedness(1.0), 0.8, read=0.7))


def test_an_answer_is_right_where_the_gold_answer_stands_in_what_it_cites() -> None:
    made = seen(QUESTION, ANSWER, "set")
    assert made is not None
    assert (made.right, made.relevance, made.answered_share, made.read) == (True, 0.9, 0.8, 0.7)
    assert (made.grounding, made.rival, made.set, made.not_high) == (1.0, 0.0, "set covered", False)
    far = seen({**QUESTION, "kind": "far"}, ANSWER, "set")
    assert far is not None
    assert not far.right


def test_refusals_and_questions_answered_by_yes_or_no_say_nothing() -> None:
    refused = replace(ANSWER, metadata=replace(ANSWER.metadata, finish_reason=NO_ANSWER))
    assert seen(QUESTION, refused, "set") is None
    assert seen({**QUESTION, "answers": ["yes"]}, ANSWER, "set") is None


@pytest.mark.parametrize("with_reader", [False, True])
def test_a_curve_is_fitted_on_one_half_and_tried_on_the_other(
    capsys: pytest.CaptureFixture[str], with_reader: bool
) -> None:
    rows = [
        Seen(
            n % 10 / 10,
            n % 3 / 3,
            1.0,
            n % 7 / 7 if with_reader else None,
            1.0,
            n % 10 > n // 10 % 8,
            bool(n % 2 == n // 20 % 2),
            "covered",
            False,
        )
        for n in range(200)
    ]
    bins = report(rows)
    assert sum(one.questions for one in bins) == 100
    told = capsys.readouterr().out
    assert "200 answers" in told
    assert "expected calibration error" in told
