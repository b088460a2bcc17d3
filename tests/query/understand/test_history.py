import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.query.question import Exchange, Question
from pincite.core.run import Run
from pincite.errors import NotFound
from pincite.query.understand.history import history_lookup
from tests.builders import Named

TURNS = tuple(Exchange(f"q{n}", f"q{n}", f"a{n}") for n in range(20))


class Kept:
    """Twenty turns of one session."""

    async def recent(self, scope: Any, session_id: str, turns: int) -> tuple[Exchange, ...]:
        if session_id != "s1":
            raise NotFound(f"there is no session '{session_id}'")
        return TURNS[len(TURNS) - turns :]

    async def keep(self, *_: Any) -> None:
        raise AssertionError("nothing is kept here")


def recalled(run: Run, **question: Any) -> tuple[Exchange, ...]:
    run.kit = replace(run.kit, memory=Kept())
    return asyncio.run(history_lookup(run, Question("q", **question))).conversation


@pytest.mark.parametrize(
    ("model", "turns"),
    [("llama3.2:3b", 3), ("llama3.1:8b", 6), ("qwen2.5:14b", 10), ("qwen2.5:72b", 15), ("who-knows", 6)],
)
def test_as_many_turns_as_the_model_can_use(make_run: Callable[..., Run], model: str, turns: int) -> None:
    assert recalled(make_run(llm=Named(model)), session_id="s1") == TURNS[-turns:]
    assert recalled(make_run(llm=Named(model)), conversation=TURNS) == TURNS[-turns:]


def test_the_setting_caps_it(make_run: Callable[..., Run]) -> None:
    big = Named("qwen2.5:72b")
    assert recalled(make_run(llm=big, conversation__max_history_turns=4), session_id="s1") == TURNS[-4:]
    assert recalled(make_run(llm=big, conversation__max_history_turns=0), conversation=TURNS) == ()
    assert recalled(make_run(llm=big, conversation__db_rehydration_enabled=False), session_id="s1") == ()


def test_what_the_caller_sends_along_is_taken_instead(make_run: Callable[..., Run]) -> None:
    own = (Exchange("mine", "mine", "yes"),)
    assert recalled(make_run(), session_id="s1", conversation=own) == own


def test_a_session_that_is_not_there_is_not_found_even_if_nothing_would_be_read(make_run: Callable[..., Run]) -> None:
    for more in ({}, {"conversation": TURNS}):
        with pytest.raises(NotFound):
            recalled(make_run(conversation__db_rehydration_enabled=False), session_id="s2", **more)


def test_a_question_without_a_conversation_asks_nobody(make_run: Callable[..., Run]) -> None:
    assert recalled(make_run()) == ()
