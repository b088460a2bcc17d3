"""Shares of judged answers."""

from pincite.core.evaluations import AnswerResult, AnswerVerdict
from pincite.evaluate.measure.answer_shares import summarise, verdict_scores


def result(
    verdict: AnswerVerdict, kind: str = "who", language: str = "en", words: int = 10, level: str = "high"
) -> AnswerResult:
    return AnswerResult(verdict, "", kind, language, words, level, 5.0)


RESULTS = [
    result("right"),
    result("right", words=30),
    result("partly", kind="when", level="medium"),
    result("wrongly refused", kind="when", language="de", words=4, level="low"),
]


def test_shares_are_given_by_kind_and_language_with_intervals() -> None:
    summary = summarise(RESULTS)
    assert [(one.by, one.name, one.questions) for one in summary.groups] == [
        ("all", "", 4), ("kind", "who", 2), ("kind", "when", 2), ("language", "en", 3), ("language", "de", 1),
    ]  # fmt: skip
    everything = summary.groups[0].shares
    assert {name: share.value for name, share in everything.items()} == {
        "right": 0.5, "partly": 0.25, "wrong": 0.0, "wrongly refused": 0.25,
    }  # fmt: skip
    assert everything["right"].low < 0.5 < everything["right"].high
    assert summary.groups[1].shares["right"].value == 1.0
    assert [(one.level, one.questions, one.right.value) for one in summary.confidence] == [
        ("high", 2, 1.0), ("medium", 1, 0.0), ("low", 1, 0.0),
    ]  # fmt: skip
    assert (summary.median_words, summary.p90_words) == (10, 30)


def test_questions_without_kinds_make_one_group() -> None:
    assert [one.by for one in summarise([result("right", "", "")]).groups] == ["all"]
    assert summarise([]).groups[0].questions == 0


def test_every_answer_has_one_verdict() -> None:
    assert [sum(column) for column in zip(*verdict_scores(RESULTS).values(), strict=True)] == [1.0] * 4
