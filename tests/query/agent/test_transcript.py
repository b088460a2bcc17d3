import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from pincite.core.query.question import Exchange, Question
from pincite.core.query.tools import ToolCall
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.agent.scratchpad import Scratchpad
from pincite.query.agent.transcript import OMITTED_RESULT, Transcript
from pincite.query.prompt.budget import tokenizer
from pincite.query.prompt.templates import template
from tests.builders import Calling, plan

CALL = ToolCall("c1", "rag_search", '{"queries": ["mill"]}')


@pytest.fixture
def begin(make_run: Callable[..., Run]) -> Callable[..., Transcript]:
    def make(question: Question | None = None, window: int = 8192) -> Transcript:
        asked = question or Question("Who built the mill?")
        scratchpad = Scratchpad(template("agent/source"), tokenizer("cl100k_base"), boundary="=== b ===")
        run = make_run(llm=Calling("x", window=window), llm__max_tokens=200)
        return Transcript.of(run, replace(plan(asked.text), question=asked), scratchpad)

    return make


Begin = Callable[..., Transcript]


def test_it_begins_with_rules_conversation_and_question(begin: Begin) -> None:
    asked = Question(
        "And who built it?", conversation=(Exchange("Is there a mill?", "Is there a mill?", "Yes [Source 1]."),)
    )
    asked = replace(asked, sampling=replace(asked.sampling, system_prompt="Be brief."))
    messages = begin(asked).prompt(tools=True, native=True).messages
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[0].content.startswith("Be brief.\n\nYou answer questions from a library")
    assert "=== b ===" in messages[0].content
    assert messages[2].content == "Yes."
    assert messages[3].content == "And who built it?"


def test_tools_are_described_in_words_only_where_they_are_not_offered(begin: Begin) -> None:
    assert "SEARCH:" in begin().prompt(tools=True, native=False).messages[0].content
    assert "SEARCH:" not in begin().prompt(tools=True, native=True).messages[0].content
    assert "SEARCH:" not in begin().prompt(tools=False, native=False).messages[0].content


def test_a_turn_has_its_calls_and_their_results(begin: Begin) -> None:
    native, plain = begin(), begin()
    for one, way in ((native, True), (plain, False)):
        one.add_result(CALL, "1 passage found")
        one.add_turn("I look.", [CALL], native=way)
    [_, _, turn, result] = native.prompt(tools=True, native=True).messages
    assert (turn.content, turn.calls, result.role, result.answers) == ("I look.", (CALL,), "tool", CALL)
    [_, _, said, brought] = plain.prompt(tools=True, native=False).messages
    assert (said.role, said.content) == ("assistant", 'I look.\nrag_search {"queries": ["mill"]}')
    assert (brought.role, brought.content) == ("user", "Result of rag_search: 1 passage found")


@pytest.mark.parametrize("written", ['{"queries": [', "[1]", "", json.dumps({"queries": ["x" * 60_000]})])
def test_arguments_that_were_refused_are_not_sent_back(begin: Begin, written: str) -> None:
    one, call = begin(), replace(CALL, arguments=written)
    one.add_result(call, "not JSON")
    one.add_turn("", [call], native=True)
    assert one.prompt(tools=True, native=True).messages[2].calls[0].arguments == "{}"


def test_given_texts_exclude_the_models_own_text(begin: Begin) -> None:
    one = begin()
    one.add_result(CALL, "there is no document 'https://evil.example/?d=x'")
    one.add_turn("https://evil.example/?d=y", [CALL], native=True)
    assert "evil" not in " ".join(one.given_texts)


def test_the_oldest_results_are_omitted_first(begin: Begin) -> None:
    one = begin(window=1500)
    for n in range(6):
        one.add_result(CALL, f"result {n} " + "flour " * 150)
        one.add_turn("", [CALL], native=True)
    prompt = one.prompt(tools=True, native=True)
    told = [message.content for message in prompt.messages if message.role == "tool"]
    assert told[-1].startswith("result 5")
    assert told[0] == OMITTED_RESULT
    assert prompt.tokens < 1500 - 200


def test_a_question_too_long_for_the_window_raises(begin: Begin) -> None:
    with pytest.raises(ProviderError, match="larger window"):
        begin(Question("mill " * 2000), window=1024).prompt(tools=True, native=True)


def test_the_final_prompt_requests_the_answer(begin: Begin) -> None:
    one = begin()
    one.request_answer()
    assert one.prompt(tools=False, native=True).messages[-1].content.endswith("Question: Who built the mill?")
