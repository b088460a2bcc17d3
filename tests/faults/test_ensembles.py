"""An ensemble of drafts of which one fails: the others answer, and the answer reports it."""

from typing import Any

import pytest

from pincite.core.query.question import Question
from pincite.query.ensemble import drafts

from .bench import WRITTEN, Asked, Bench

QUESTION = "How many vacation days carry over in Germany?"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MIN_WAIT_S", 0.3)


def ask(bench: Bench, *lines: dict[str, Any], **settings: Any) -> Asked:
    """Give each draft its own answer; the order of the calls is not defined."""
    bench.play(answers__ensemble_voting=True, resilience__retries=0, spelling__enabled=False, **settings)
    bench.stub.play(answers=list(lines))
    return bench.ask(Question(QUESTION, session_id=bench.session(), fresh=True))


SAYS = {"say": WRITTEN}


def test_three_drafts_are_requested_at_once_and_their_usage_is_counted(bench: Bench) -> None:
    asked = ask(bench, SAYS, SAYS, SAYS)
    assert (asked.answer.text, asked.shown, asked.stages) == (WRITTEN, WRITTEN, set())
    calls = [call for call in bench.stub.calls if "completions" in call.path]
    assert len(calls) == 3
    assert len({call.body["temperature"] for call in calls}) == 3
    one = len(WRITTEN.split())
    assert asked.answer.metadata.usage is not None
    assert asked.answer.metadata.usage.completion_tokens == 3 * one


@pytest.mark.parametrize("fault", ["500", "401", "reset", "cut:2", "malformed", "empty", "html", "silent", "hang:2"])
def test_a_failed_draft_leaves_the_others(bench: Bench, fault: str) -> None:
    asked = ask(bench, SAYS, {"say": WRITTEN, "fault": fault}, SAYS)
    assert (asked.answer.text, asked.shown, asked.complete) == (WRITTEN, WRITTEN, True)
    assert asked.stages == {"ensemble"}
    assert "2 of 3 drafts were written" in asked.reasons
    assert all(citation.matched for citation in asked.answer.citations)
    assert bench.stub.wait_for(lambda calls: all(call.ended is not None for call in calls))


@pytest.mark.parametrize("fault", ["500", "cut:2", "empty"])
def test_if_all_drafts_fail_the_answer_is_extractive(bench: Bench, fault: str) -> None:
    asked = ask(bench, *[{"say": WRITTEN, "fault": fault}] * 3)
    assert (asked.answer.metadata.model, asked.stages) == ("extractive", {"ensemble"})
    assert "[Source 1]" in asked.answer.text
    assert asked.shown == asked.answer.text


def test_if_no_draft_starts_in_time_the_answer_is_extractive(bench: Bench) -> None:
    silent = {"say": WRITTEN, "fault": "silent"}
    asked = ask(bench, silent, silent, silent, llm__first_token_timeout_s=0.5, llm__question_timeout_s=20)
    assert (asked.answer.metadata.model, asked.stages) == ("extractive", {"ensemble"})
    assert "sent nothing within" in asked.reasons


def test_a_draft_that_says_something_else_is_outvoted(bench: Bench) -> None:
    wrong = {"say": "In Germany nine vacation days carry over. [Source 1]"}
    asked = ask(bench, wrong, SAYS, SAYS)
    assert asked.answer.text == WRITTEN
    assert not any("drafts say" in warning for warning in asked.answer.warnings)


def test_a_statement_of_one_draft_only_has_a_warning(bench: Bench) -> None:
    more = {"say": f"{WRITTEN} Karl Weber decided it in 1999. [Source 1]"}
    asked = ask(bench, more, more | {"say": more["say"].replace("Karl Weber", "Ada Byron")}, SAYS)
    assert asked.answer.text == WRITTEN  # with no other agreement, the common statement is the answer
    asked = ask(bench, *[{"say": f"{WRITTEN} In {year} it was decided."} for year in (1997, 1998, 1999)])
    assert any("1 of 2 statements is not what most of 3 drafts say" in one for one in asked.answer.warnings)
