"""Reasoning and thinking before an answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.run import Run
from pincite.models.facts import facts_of
from pincite.query.generate.reasoning import NO_THINKING, Thinking, thinking_for
from pincite.query.understand.intent import analyse_question
from tests.builders import plan


def thinking(run: Run, model: str, question: str = "q") -> Thinking:
    run.kit = replace(run.kit, llm=_Named(model)) if model else replace(run.kit, llm=run.kit.extractive)
    return thinking_for(run, replace(plan(question), analysis=analyse_question(question)), facts_of(model))


class _Named:
    def __init__(self, name: str, window: int | None = None) -> None:
        self.name, self.window = name, window or facts_of(name).window or 8192

    def write(self, _prompt: Any) -> Any:
        raise AssertionError("nobody asks it")


def test_thinking_is_off_by_default(make_run: Callable[..., Run]) -> None:
    assert thinking(make_run(), "qwen3:8b") == NO_THINKING


def test_reasoning_step_by_step_is_asked_for_and_has_its_room(make_run: Callable[..., Run]) -> None:
    found = thinking(make_run(answers__chain_of_thought="on"), "gpt-4o")
    assert (found.step_by_step, found.tokens, found.extended_tokens) == (True, 1024, None)
    assert thinking(make_run(answers__chain_of_thought="auto"), "gpt-4o", "Why did it fail?").step_by_step
    assert thinking(make_run(answers__chain_of_thought="auto"), "gpt-4o", "Who was Ada Byron?") == NO_THINKING


def test_a_model_that_reasons_anyway_is_not_told_to(make_run: Callable[..., Run]) -> None:
    assert thinking(make_run(answers__chain_of_thought="on"), "deepseek-r1") == NO_THINKING


def test_a_model_that_can_thinks_for_long_by_itself_instead(make_run: Callable[..., Run]) -> None:
    run = make_run(answers__chain_of_thought="on", answers__extended_thinking=True)
    found = thinking(run, "claude-sonnet-4-5")
    assert (found.step_by_step, found.extended_tokens, run.degraded) == (False, 4096, [])


@pytest.mark.parametrize(
    ("model", "why"), [("gpt-4o", "gpt-4o is not known to think"), ("deepseek-r1-tiny", "no room for it")]
)
def test_one_that_cannot_reasons_step_by_step_and_that_is_said(
    make_run: Callable[..., Run], model: str, why: str
) -> None:
    run = make_run(answers__chain_of_thought="on", answers__extended_thinking=True)
    run.kit = replace(run.kit, llm=_Named(model, 4096))
    found = thinking_for(run, plan("q"), facts_of(model))
    assert found.step_by_step == (model == "gpt-4o")
    [note] = run.degraded
    assert (note.stage, why in note.reason) == ("extended_thinking", True)


def test_without_a_model_everything_wished_for_is_named(make_run: Callable[..., Run]) -> None:
    wishes = {"answers__chain_of_thought": "on", "answers__extended_thinking": True, "answers__ensemble_voting": True}
    run = make_run(**wishes)
    assert thinking(run, "") == NO_THINKING
    assert [note.stage for note in run.degraded] == ["chain_of_thought", "extended_thinking", "ensemble"]
    assert all("none is configured (llm.*)" in note.reason for note in run.degraded)
    left_to_us = make_run(answers__chain_of_thought="auto")
    assert (thinking(left_to_us, "", "Why did it fail?"), left_to_us.degraded) == (NO_THINKING, [])
