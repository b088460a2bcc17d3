import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from pincite.core.query.answer import Answer
from pincite.core.query.question import Exchange, Question, Sampling
from pincite.core.run import Event, Planned, Run, SourcesFound, Token
from pincite.errors import Invalid
from pincite.providers.scripted import Options, ScriptedLLM
from pincite.query.generate.general_chat import general_prompt
from pincite.query.pipeline import answer
from tests.builders import Named, plan

TEXTS, RANKS = {1: "Every employee has 30 days of leave."}, {1: 0.8}
BEFORE = (Exchange("When does it open?", "When does it open?", "At nine. [Source 1]"),)


def ask(run: Run, question: Question) -> Answer:
    return asyncio.run(answer(run, question))


def model(*answers: str) -> ScriptedLLM:
    return ScriptedLLM(Options(answers=answers))


def test_small_talk_is_answered_by_the_model_without_a_look_into_the_documents(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    run = make_run(TEXTS, RANKS, RANKS, llm=model("Hello to you."), events=events, rag__mode="automatic")
    result = ask(run, Question("Hello!"))
    assert (result.text, result.sources, result.citations) == ("Hello to you.", (), ())
    assert result.warnings == ("this answer is not from your documents",)
    assert (result.metadata.chunks_retrieved, result.metadata.model) == (0, "scripted")
    assert (result.has_relevant_sources, result.confidence.level) == (False, "low")
    assert run.kit.index.calls == []  # type: ignore[attr-defined]
    assert [type(event) for event in events if not isinstance(event, Token)][1:3] == [Planned, SourcesFound]
    assert "".join(event.text for event in events if isinstance(event, Token)) == result.text


@pytest.mark.parametrize(("text", "said"), [("Hello!", "Ask me something"), ("Vielen Dank!", "Gern geschehen")])
def test_without_a_model_a_sentence_says_what_to_do(make_run: Callable[..., Run], text: str, said: str) -> None:
    run = make_run(TEXTS, RANKS, RANKS, rag__mode="automatic")
    run.kit = replace(run.kit, llm=run.kit.extractive)
    result = ask(run, Question(text))
    assert said in result.text
    assert (result.metadata.model, result.degraded) == (None, ())
    assert "not from your documents" in result.warnings[0]


def test_a_model_that_fails_leaves_the_sentence_and_it_is_said(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=ScriptedLLM(Options(fail="connection refused")), rag__mode="manual")
    result = ask(run, Question("How many days of leave?"))
    assert "Ask me something" in result.text
    assert [note.stage for note in result.degraded] == ["llm_generation"]


def test_a_request_can_do_without_the_documents_and_with_them(make_run: Callable[..., Run]) -> None:
    asked = Question("How many days of leave does every employee have?")
    without = ask(make_run(TEXTS, RANKS, RANKS, llm=model("Thirty, I think.")), replace(asked, retrieve=False))
    assert (without.text, without.sources) == ("Thirty, I think.", ())
    with_them = ask(make_run(TEXTS, RANKS, RANKS, rag__mode="manual"), replace(asked, retrieve=True))
    assert with_them.sources


def test_marks_of_a_model_that_saw_no_source_cite_nothing(make_run: Callable[..., Run]) -> None:
    result = ask(make_run(llm=model("It is so. [Source 1]")), Question("Is it so?", retrieve=False))
    assert (result.sources, result.citations, result.groundedness.score) == ((), (), 0.0)


def test_the_model_sees_the_conversation_and_the_callers_wish(make_run: Callable[..., Run]) -> None:
    asked = Question("What did I just ask?", conversation=BEFORE, sampling=Sampling(system_prompt="Be brief."))
    made = asyncio.run(general_prompt(make_run(llm=Named("gpt-4o")), replace(plan(asked.text), question=asked)))
    assert made is not None
    assert [message.role for message in made.messages] == ["system", "user", "assistant", "user"]
    assert made.messages[0].content.startswith("Be brief.\n\nYou are the assistant")
    assert made.messages[2].content == "At nine."
    assert made.sources == ()


def test_what_does_not_fit_into_the_models_window_is_refused(make_run: Callable[..., Run]) -> None:
    asked = Question("Hi", sampling=Sampling(system_prompt="word " * 2000))
    with pytest.raises(Invalid, match="too long"):
        asyncio.run(general_prompt(make_run(llm=Named(window=1000)), replace(plan("Hi"), question=asked)))
