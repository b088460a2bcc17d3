"""Evaluations in a terminal."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pincite.cli.view.evaluation import print_comparison, print_evaluation, print_evaluations, print_runs
from pincite.cli.view.screen import Screen
from pincite.core.evaluations import Evaluation, EvaluationOutcome, EvaluationSet, Interval, Place, SetQuestion
from pincite.evaluate.measure.bootstrap import mean
from pincite.evaluate.questions.own_documents import scores
from tests.evaluate.makers import comparison

NOW = datetime(2026, 5, 1, tzinfo=UTC)
QUESTIONS = tuple(
    SetQuestion(f"question {n} \x1b[31m?", "cloze", "en", Place("d", n, n + 1), "v", n, id=n) for n in range(1, 41)
)
SET = EvaluationSet("es_1", 2, "words", 0, 40, NOW, QUESTIONS)


def run(name: str, ranks: dict[int, int | None], **settings: object) -> Evaluation:
    measures = {measure: mean(values) for measure, values in scores(list(ranks.values())).items()}
    outcome = EvaluationOutcome(
        measures, ranks, 50.0 if settings else 90.0, 120.0, ("embedding: down",) if settings else ()
    )
    return Evaluation(name, "es_1", 2, "done", 1.0, 3, settings, NOW, NOW, None, outcome)


BEFORE = run("ev_1", dict.fromkeys(range(1, 41), 2))
AFTER = run("ev_2", dict.fromkeys(range(1, 41), 1), **{"rag.alpha": 0.3})


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("COLUMNS", "80")
    return Screen()


def test_figures_are_never_cut_however_long_the_names(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    one = comparison()
    long = replace(one, trials=(one.trials[0], replace(one.trials[1], name="rag.alpha=.3,rag.fusion=rrf,rag.rrf_k=12")))
    print_comparison(screen, long)
    out = capsys.readouterr().out
    assert "0.5980" in out
    assert "better" in out
    assert "a <note> & more" in out
    assert max(map(len, out.splitlines()[:4])) <= 80


def test_a_change_is_printed_in_points_and_milliseconds(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    print_runs(screen, SET, [("as it is", AFTER)], BEFORE)
    out = capsys.readouterr().out
    assert "this change: +36.9 [+36.9, +36.9] nDCG@10, -40 ms  better" in out
    assert "rag.alpha  default → 0.3" in out
    assert "as it is: embedding: down" in out


def test_the_first_run_has_nothing_to_compare_with(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    print_runs(screen, SET, [("as it is", BEFORE), ("rag.alpha=.3", AFTER)], None)
    out = capsys.readouterr().out
    assert "this change" not in out
    assert "rag.alpha=.3: +36.9" in out


def test_one_run_shows_the_worst_questions_first_and_safely(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    mixed = run("ev_3", {**dict.fromkeys(range(1, 39), 1), 39: 12, 40: None})
    print_evaluation(screen, mixed, SET, {"d": "A title"})
    out = capsys.readouterr().out
    assert "2 questions not answered by the first passage" in out
    assert out.index("question 40") < out.index("question 39")
    assert "\x1b[31m" not in out
    print_evaluation(screen, AFTER, SET, {})
    assert "Every question was answered by the first passage." in capsys.readouterr().out


def test_lists_show_what_is_going_on(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    going = Evaluation("ev_4", None, None, "running", 0.25, 3, {}, NOW)
    failed = replace(going, id="ev_5", state="failed", error="it broke")
    print_evaluations(screen, [SET], [going, failed, AFTER])
    out = capsys.readouterr().out
    assert "running 25%" in out
    assert "failed" in out
    print_evaluation(screen, failed, SET, {})
    assert "it broke" in capsys.readouterr().out
    print_evaluations(screen, [], [])
    assert "pincite eval --auto" in capsys.readouterr().out


def test_a_difference_that_includes_zero_says_nothing() -> None:
    assert Interval(0.02, -0.01, 0.05).verdict == "within noise"
