import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.accounts.conversations import KeptTurn
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Exchange, Question
from pincite.core.run import Answered, Event, Run, Token
from pincite.errors import BadRequest, Invalid, NotFound, StoreDown
from pincite.providers.scripted import Options, ScriptedLLM
from pincite.query import history, pipeline
from pincite.query.ground.ground import grounding
from pincite.query.history import history_lookup
from pincite.query.pipeline import answer
from tests.builders import Named

TEXTS = {1: "Every employee has 30 days of leave.\nUnused days expire on 31 March."}
RANKS = {1: 0.8}
ASKED = Question("When do unused days of leave expire?", session_id="s1")


class Memory:
    """Has no history, saves every turn, or fails."""

    def __init__(self, fail: Exception | None = None) -> None:
        self.kept: list[KeptTurn] = []
        self.begun: list[str] = []
        self._fail = fail

    async def recent(self, *_: Any, **__: Any) -> tuple[()]:
        return ()

    async def begin_turn(self, _scope: Any, session_id: str, question: str, _trace_id: str) -> int:
        assert session_id == "s1"
        self.begun.append(question)
        return len(self.begun)

    async def save_turn(self, _scope: Any, session_id: str, turn: KeptTurn, begun: int) -> None:
        assert (session_id, begun) == ("s1", len(self.begun))
        if self._fail:
            raise self._fail
        self.kept.append(turn)

    async def drop_turn(self, _scope: Any, session_id: str, begun: int) -> None:
        assert (session_id, begun) == ("s1", len(self.begun))
        self.begun.pop()


def remembering(run: Run, memory: Memory) -> Run:
    run.kit = replace(run.kit, memory=memory)
    return run


def test_a_turn_is_saved_with_its_documents(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    memory = Memory()
    run = remembering(make_run(TEXTS, RANKS, RANKS, events=events), memory)
    result = asyncio.run(answer(run, ASKED))
    [turn] = memory.kept
    assert (turn.question, turn.standalone, turn.words, turn.complete) == (ASKED.text, ASKED.text, result.text, True)
    assert (turn.documents, turn.trace_id) == (("doc1",), run.id)
    assert result.session_id == "s1"
    assert events[-1] == Answered(result)


@pytest.mark.parametrize("error", [StoreDown("the database is gone"), Invalid("odd"), RuntimeError("a bug")])
def test_a_failure_to_save_degrades_the_answer(make_run: Callable[..., Run], error: Exception) -> None:
    result = asyncio.run(answer(remembering(make_run(TEXTS, RANKS, RANKS), Memory(error)), ASKED))
    [note] = result.degraded
    assert (note.stage, "not in the history" in note.reason) == ("history_saving", True)
    assert result.text


def test_an_incomplete_answer_is_saved_as_incomplete(make_run: Callable[..., Run]) -> None:
    memory = Memory()
    cut = ScriptedLLM(Options(answers=("Unused days expire on 31 March.",), fail_after=3))
    result = asyncio.run(answer(remembering(make_run(TEXTS, RANKS, RANKS, llm=cut), memory), ASKED))
    assert [(turn.words, turn.complete) for turn in memory.kept] == [(result.text, False)]


@pytest.mark.parametrize(
    ("finish", "whole"),
    [("stop", True), ("end", True), (None, True), ("no_answer", True), ("length", False), ("content_filter", False),
     ("refusal", False), ("tool_calls", False), ("\x1b[31mwhat", False)],
)  # fmt: skip
def test_only_normal_finish_reasons_are_complete(make_run: Callable[..., Run], finish: str | None, whole: bool) -> None:
    class Model:
        name, window = "m", 8192

        async def write(self, _: Prompt) -> AsyncIterator[StreamPart]:
            yield StreamPart("Unused days expire on 31 March. [Source 1]")
            yield StreamPart(finish_reason=finish)

    memory = Memory()
    result = asyncio.run(answer(remembering(make_run(TEXTS, RANKS, RANKS, llm=Model()), memory), ASKED))
    assert [turn.complete for turn in memory.kept] == [whole]
    assert any("incomplete" in warning for warning in result.warnings) is not whole
    assert "\x1b" not in str(result.warnings)


class Stuck(Memory):
    """Never finishes saving."""

    async def save_turn(self, *_: Any) -> None:
        await asyncio.Event().wait()


def test_saving_has_a_timeout(make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "SAVE_TIMEOUT_S", 0.05)
    result = asyncio.run(answer(remembering(make_run(TEXTS, RANKS, RANKS), Stuck()), ASKED))
    assert [note.stage for note in result.degraded] == ["history_saving"]
    broken = remembering(make_run(TEXTS, RANKS, RANKS), Stuck())
    broken.kit = replace(broken.kit, index=None)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):  # and how it failed is told
        asyncio.run(asyncio.wait_for(answer(broken, ASKED), 10))


def test_a_complete_answer_is_saved_after_the_deadline(make_run: Callable[..., Run]) -> None:
    memory = Memory()
    run = remembering(make_run(TEXTS, RANKS, RANKS), memory)

    async def late(run: Run, *arguments: Any) -> Any:
        result = await grounding(run, *arguments)
        run.deadline = 0.0
        return result

    late.__name__ = "grounding"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "grounding", late)
        result = asyncio.run(answer(run, ASKED))
    assert [turn.complete for turn in memory.kept] == [True]
    assert result.text


@pytest.mark.parametrize("after", ["Planned", "Token"])
def test_a_cancelled_question_is_saved_with_the_streamed_text(make_run: Callable[..., Run], after: str) -> None:
    memory = Memory()
    slow = ScriptedLLM(Options(answers=("Unused days expire. On 31 March they are gone.",), delay_s=0.02))
    run = remembering(make_run(TEXTS, RANKS, RANKS, llm=slow), memory)

    async def leave() -> list[str]:
        said: list[str] = []
        reached = asyncio.Event()

        def listen(event: Event) -> None:
            said.extend([event.text] if isinstance(event, Token) else [])
            if type(event).__name__ == after:
                reached.set()

        run.emit = listen
        task = asyncio.create_task(answer(run, ASKED))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return said

    said = asyncio.run(leave())
    [turn] = memory.kept
    assert (turn.question, turn.words, turn.complete, turn.answer) == (ASKED.text, "".join(said), False, None)
    assert bool(turn.words) == (after == "Token")


def test_a_refused_question_is_not_saved(make_run: Callable[..., Run]) -> None:
    memory = Memory()
    long = replace(ASKED, sampling=replace(ASKED.sampling, system_prompt="word " * 9000))
    with pytest.raises(BadRequest):
        asyncio.run(answer(remembering(make_run(TEXTS, RANKS, RANKS), memory), long))
    assert (memory.kept, memory.begun) == ([], [])


def test_the_question_is_saved_before_its_answer_begins(make_run: Callable[..., Run]) -> None:
    memory = Memory()
    begun_at_first_word: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Token) and not begun_at_first_word:
            begun_at_first_word.extend(memory.begun)

    run = remembering(make_run(TEXTS, RANKS, RANKS), memory)
    run.emit = listen
    asyncio.run(answer(run, ASKED))
    assert begun_at_first_word == [ASKED.text]


def test_a_question_that_cannot_be_saved_beforehand_is_saved_with_its_answer(make_run: Callable[..., Run]) -> None:
    class Late(Memory):
        async def begin_turn(self, *_: Any) -> int:
            raise StoreDown("the database is gone")

        async def save_turn(self, _scope: Any, _session_id: str, turn: KeptTurn, begun: int | None) -> None:
            assert begun is None
            self.kept.append(turn)

    memory = Late()
    result = asyncio.run(answer(remembering(make_run(TEXTS, RANKS, RANKS), memory), ASKED))
    assert ([turn.words for turn in memory.kept], result.degraded) == ([result.text], ())


def test_without_a_session_nothing_is_kept(make_run: Callable[..., Run]) -> None:
    memory = Memory()
    asyncio.run(answer(remembering(make_run(TEXTS, RANKS, RANKS), memory), Question(ASKED.text)))
    assert memory.kept == []


TURNS = tuple(Exchange(f"q{n}", f"q{n}", f"a{n}") for n in range(20))


class Kept:
    """Twenty turns of one session."""

    async def recent(self, scope: Any, session_id: str, turns: int, **_: Any) -> tuple[Exchange, ...]:
        if session_id != "s1":
            raise NotFound(f"there is no session '{session_id}'")
        return TURNS[len(TURNS) - turns :]

    async def begin_turn(self, *_: Any) -> int:
        raise AssertionError("nothing is kept here")

    save_turn = drop_turn = begin_turn


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


def test_a_conversation_of_the_caller_takes_precedence(make_run: Callable[..., Run]) -> None:
    own = (Exchange("mine", "mine", "yes"),)
    assert recalled(make_run(), session_id="s1", conversation=own) == own


def test_a_session_that_is_not_there_is_not_found_even_if_nothing_would_be_read(make_run: Callable[..., Run]) -> None:
    for more in ({}, {"conversation": TURNS}):
        with pytest.raises(NotFound):
            recalled(make_run(conversation__db_rehydration_enabled=False), session_id="s2", **more)


def test_a_question_without_a_session_reads_no_history(make_run: Callable[..., Run]) -> None:
    assert recalled(make_run()) == ()
