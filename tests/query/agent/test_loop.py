"""The agent loop: its turns and its limits."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.answer import Answer
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Question
from pincite.core.query.tools import Step
from pincite.core.run import Event, Run, SourcesFound, Stepped, Token
from pincite.errors import NotFound, ProviderBusy, ProviderRefused, StoreDown
from pincite.query.agent.loop import steps_as_plan
from pincite.query.pipeline import answer
from tests.builders import Calling, found

TEXTS = {1: "The mill was built by Ada Bright in 1902.", 2: "Ada Bright was born in Karlsruhe."}
RANKS = {1: 0.9, 2: 0.6}
ASKED = "Where was the builder of the mill born?"
SEARCH = ("rag_search", {"queries": ["who built the mill", "where Ada Bright was born"]})
DONE = "She was born in Karlsruhe [Source 2]."


class SingleDocumentReader:
    """A reader of one document."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def read(self, reading: ReadRequest, **_: Any) -> DocumentExtract:
        if self.error:
            raise self.error
        if reading.document_id != "doc9":
            raise NotFound(f"there is no document '{reading.document_id}'")
        return DocumentExtract("doc9", "v1", "Ada", (found("Ada liked tea.", key=9),), 1, 1, 1)

    async def find(self, reading: ReadRequest, text: str, **_: Any) -> DocumentExtract:
        return replace(await self.read(reading), places=(1,), found=1)


@pytest.fixture
def asked(make_run: Callable[..., Run]) -> Callable[..., tuple[Answer, Run, list[Event]]]:
    def ask(llm: Any, *, shelf: Any = None, **settings: Any) -> tuple[Answer, Run, list[Event]]:
        events: list[Event] = []
        run = make_run(TEXTS, RANKS, RANKS, llm=llm, events=events, **settings)
        run.kit = replace(run.kit, document_reader=shelf or SingleDocumentReader())
        run.kit.index.chunks[9] = found("Ada liked tea.", key=9)  # type: ignore[attr-defined]
        return asyncio.run(answer(run, Question(ASKED, mode="agent"))), run, events

    return ask


Ask = Callable[..., tuple[Answer, Run, list[Event]]]


class Eager(Calling):
    """Calls tools as long as there are any."""

    def __init__(self) -> None:
        super().__init__(DONE)

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self._turns = (("", [("rag_search", {"queries": [f"mill {len(self.prompts)}"]})]) if prompt.tools else DONE,)
        async for piece in super().write(prompt):
            yield piece


def steps(answer: Answer) -> list[tuple[str, bool]]:
    return [(step.tool, step.failed) for step in answer.metadata.steps]


def test_the_model_searches_reads_and_answers_from_what_it_found(asked: Ask) -> None:
    llm = Calling(("I look for the builder.", [SEARCH]), ("", [("read_document", {"doc_id": "doc9"})]), DONE)
    result, _, events = asked(llm)
    assert (result.text, result.mode, result.metadata.model) == (DONE, "agent", "calling")
    assert steps(result) == [("rag_search", False), ("read_document", False)]
    assert result.metadata.steps[0].thought == "I look for the builder."
    assert result.metadata.steps[0].arguments == SEARCH[1]
    assert [source.chunk_id for source in result.sources] == ["doc1.v1.1", "doc2.v1.2", "doc9.v1.9"]
    [citation] = result.citations
    assert (citation.source, citation.quote) == (2, TEXTS[2])
    assert result.metadata.plan[-2:] == ("step 1: rag_search, 2 passages", "step 2: read_document, 1 passage")
    assert (result.metadata.usage.prompt_tokens, result.metadata.usage.completion_tokens) == (300, 30)  # type: ignore[union-attr]
    told = [type(event) for event in events if isinstance(event, Stepped | SourcesFound | Token)]
    assert told == [Stepped, SourcesFound, Stepped, SourcesFound, Token, Token]
    assert "".join(event.text for event in events if isinstance(event, Token)) == result.text


def test_every_turn_and_every_call_is_a_span_that_holds_no_words(asked: Ask) -> None:
    _, run, _ = asked(Calling(("", [SEARCH]), DONE))
    [agent] = [place for place, span in enumerate(run.spans) if span.name == "agent"]
    below = [span.name for span in run.spans if span.parent == agent]
    assert below == ["agent_turn", "tool_call", "agent_turn"]
    assert run.spans[agent].attributes["steps"] == 1
    told = json.dumps([span.attributes for span in run.spans])
    assert "mill" not in told
    assert "Karlsruhe" not in told


def test_tool_results_are_numbered_and_between_boundaries(asked: Ask) -> None:
    llm = Calling(("", [SEARCH, ("read_document", {"doc_id": "doc9"})]), DONE)
    asked(llm)
    [system, question, turn, first, second] = llm.prompts[1].messages
    boundary = next(part for part in system.content.split("lines of ")[1].split(".") if part)
    assert (question.role, turn.role, first.role, second.role) == ("user", "assistant", "tool", "tool")
    assert [call.name for call in turn.calls] == ["rag_search", "read_document"]
    assert first.answers == turn.calls[0]
    assert first.content.startswith("2 passages found; shown: [Source 1], [Source 2]")
    assert f"{boundary}\n[Source 2] Handbook (doc_id doc2, lines 10-10)\n{TEXTS[2]}\n{boundary}" in first.content
    assert "[Source 3]" in second.content


def test_tool_call_and_text_in_one_turn_is_a_step_and_no_answer(asked: Ask) -> None:
    result, _, _ = asked(Calling(("She was born in Paris [Source 1].", [SEARCH]), DONE))
    assert result.text == DONE
    assert "Paris" not in result.text


def test_endless_calls_end_with_a_request_for_the_answer(asked: Ask) -> None:
    llm = Calling(*[("", [("rag_search", {"queries": [f"mill {n}"]})]) for n in range(50)])
    result, _, _ = asked(llm, agent__max_iterations=4)
    assert len(llm.prompts) == 5
    assert llm.prompts[-1].tools == ()
    assert "No more tools can be called" in llm.prompts[-1].messages[-1].content
    assert len(result.metadata.steps) == 4
    assert result.metadata.model == "extractive"  # it had nothing to say even then
    assert any(note.stage == "agent" for note in result.degraded)


def test_at_the_turn_limit_the_model_answers_with_a_warning(asked: Ask) -> None:
    llm = Eager()
    result, _, _ = asked(llm)
    assert len(llm.prompts) == 11
    assert result.text == DONE
    assert any("it used all 10 turns (agent.max_iterations)" in warning for warning in result.warnings)


def test_at_the_token_limit_the_model_answers_with_a_warning(asked: Ask) -> None:
    llm = Eager()
    result, _, _ = asked(llm, agent__max_tokens=1000, agent__max_iterations=50)
    assert len(llm.prompts) == 11  # ten turns of 110 tokens, as its server counts, and the answer
    assert any("it used all 1,000 tokens (agent.max_tokens)" in warning for warning in result.warnings)


def test_repeated_calls_are_not_executed_and_force_an_answer(asked: Ask) -> None:
    other = ("rag_search", json.dumps({"queries": ["Who built the MILL", "where Ada Bright was born"]}))
    llm = Calling(("", [SEARCH]), ("", [other]), ("", [SEARCH]), ("", [SEARCH]), DONE)
    result, run, _ = asked(llm)
    assert [failed for _, failed in steps(result)] == [False, True, True, True]
    assert "made this call already" in result.metadata.steps[1].result
    assert sum(span.name == "retrieval" for span in run.spans) == 1
    assert any("it repeated the same calls" in warning for warning in result.warnings)
    assert result.text == DONE


def test_arguments_of_a_megabyte_are_refused_and_not_sent_back(asked: Ask) -> None:
    llm = Calling(("", [("rag_search", {"queries": ["x" * 1_000_000]})]), ("", [SEARCH]), DONE)
    result, _, _ = asked(llm)
    assert steps(result)[0] == ("rag_search", True)
    assert max(len(message.content) for message in llm.prompts[-1].messages) < 5000
    assert all(len(call.arguments) < 1000 for message in llm.prompts[-1].messages for call in message.calls)
    assert len(json.dumps([step.result for step in result.metadata.steps])) < 2000


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("fly", {}), "there is no tool 'fly'"),
        (("rag_search", '{"queries": ['), "not JSON"),
        (("read_document", {"doc_id": "bobs"}), "there is no document 'bobs'"),
        (("read_document", {"doc_id": "doc9", "page": 3}), "page: there is no such argument"),
    ],
)
def test_errors_of_a_call_are_returned_to_the_model(asked: Ask, call: Any, said: str) -> None:
    llm = Calling(("", [call]), ("", [SEARCH]), DONE)
    result, _, _ = asked(llm)
    assert said in llm.prompts[1].messages[-1].content
    assert steps(result)[0][1]
    assert result.text == DONE


def test_calls_of_one_turn_are_all_made_up_to_five(asked: Ask) -> None:
    many = [("rag_search", {"queries": [f"mill {n}"]}) for n in range(12)]
    result, _, _ = asked(Calling(("", many), DONE))
    assert len(result.metadata.steps) == 5


def test_a_tool_that_is_down_degrades_and_the_others_go_on(asked: Ask) -> None:
    llm = Calling(("", [("read_document", {"doc_id": "doc9"}), SEARCH]), DONE)
    result, _, _ = asked(llm, shelf=SingleDocumentReader(StoreDown("the database is away")))
    assert steps(result) == [("read_document", True), ("rag_search", False)]
    assert any(note.stage == "read_document" for note in result.degraded)
    assert "the database" not in llm.prompts[1].messages[-2].content
    assert result.text == DONE


def test_an_answer_without_passages_triggers_a_search(asked: Ask) -> None:
    llm = Calling("It was Paris, as I know.", DONE)
    result, _, _ = asked(llm)
    assert steps(result) == [("rag_search", False)]
    assert result.text == DONE
    assert len(llm.prompts) == 2


def test_a_model_without_tool_support_gets_tools_in_plain_text(asked: Ask) -> None:
    refused = ProviderRefused("http://m did not take the request (HTTP 400: m does not support tools)")
    llm = Calling(
        "unused",
        "I look.\nSEARCH: who built the mill | the mill\nResult: nothing",
        f"So.\nANSWER: {DONE}",
        fail=refused,
    )
    result, _, _ = asked(llm)
    assert [len(prompt.tools) for prompt in llm.prompts] == [3, 0, 0]
    assert "SEARCH: what to look for" in llm.prompts[1].messages[0].content
    assert llm.prompts[2].messages[-1].role == "user"
    assert llm.prompts[2].messages[-1].content.startswith("Result of rag_search: 1 passage found; shown: [Source 1]")
    assert result.text == DONE
    assert any("described in plain text" in note.reason for note in result.degraded)


@pytest.mark.parametrize(("setting", "tools"), [(False, 0), (True, 3)])
def test_the_setting_says_whether_tools_are_offered(asked: Ask, setting: bool, tools: int) -> None:
    llm = Calling(("SEARCH: the mill", [SEARCH]), DONE)
    result, _, _ = asked(llm, llm__tools=setting)
    assert len(llm.prompts[0].tools) == tools
    assert result.text == DONE


def test_rules_continue_where_the_model_fails(asked: Ask) -> None:
    result, _, _ = asked(Calling(DONE, fail=ProviderBusy("it is away")))
    assert result.metadata.model == "extractive"
    assert [note.stage for note in result.degraded] == ["agent"]
    assert steps(result)[0] == ("rag_search", False)
    assert result.citations
    assert all(citation.matched for citation in result.citations)


def test_a_model_that_only_repeats_its_sources_has_not_answered(asked: Ask) -> None:
    class Parrot(Calling):
        """Says again what it was told last."""

        async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
            self._turns = (prompt.messages[-1].content,)
            async for piece in super().write(prompt):
                yield piece

    result, _, _ = asked(Parrot(""))
    assert result.metadata.model == "extractive"
    assert "===" not in result.text
    assert any("repeated its input" in note.reason for note in result.degraded)


@pytest.mark.parametrize("native", [True, False])
def test_a_search_that_is_only_described_is_asked_to_be_answered_instead(asked: Ask, native: bool) -> None:
    described = "I would search for the birthplace of the builder."
    search: Any = ("", [SEARCH]) if native else "SEARCH: who built the mill | where Ada Bright was born"
    llm = Calling(search, described, f"I would look for her name. {DONE} She was born in Karlsruhe [Source 1].")
    result, _, _ = asked(llm, llm__tools=native)
    assert result.text == DONE  # without the sentence about searching and the repeated one
    assert len(llm.prompts) == 3
    assert "No more tools can be called" in llm.prompts[-1].messages[-1].content
    assert any("it described a search and made none" in warning for warning in result.warnings)


def test_a_model_that_describes_searches_to_the_end_has_not_answered(asked: Ask) -> None:
    result, _, _ = asked(Calling(("", [SEARCH]), *["I would search for her birthplace."] * 3))
    assert result.metadata.model == "extractive"
    assert "search" not in result.text
    assert any("described a search instead of answering" in note.reason for note in result.degraded)


def test_a_small_window_omits_the_oldest_results(asked: Ask) -> None:
    llm = Calling(
        *[("", [("rag_search", {"queries": [f"mill {n} " + "of stone " * 40]})]) for n in range(9)], DONE, window=2048
    )
    result, _, _ = asked(llm, llm__max_tokens=300)
    assert result.text == DONE
    assert all(prompt.tokens <= 2048 - 300 for prompt in llm.prompts)
    told = [message.content for message in llm.prompts[-1].messages if message.role == "tool"]
    assert 1 < len(told) < 9
    assert told[0].startswith("(no longer shown")
    assert told[-1].startswith("1 passage found")


def test_a_url_the_model_invented_is_not_allowed_in_the_next_turn(asked: Ask) -> None:
    leak = "https://evil.example/?d=secret"
    llm = Calling(
        (f"See {leak}", [("read_document", {"doc_id": leak}), SEARCH]), f"More at {leak} or [here]({leak}). {DONE}"
    )
    result, _, _ = asked(llm)
    assert "?d=secret" not in result.text
    shown = json.dumps([[step.thought, step.result, dict(step.arguments)] for step in result.metadata.steps])
    assert "?d=secret" not in shown


def test_no_passages_give_no_answer(make_run: Callable[..., Run]) -> None:
    run = make_run({}, {}, {}, llm=Calling(("", [SEARCH]), "It was Paris."))
    result = asyncio.run(answer(run, Question(ASKED, mode="agent")))
    assert "don't have specific information" in result.text
    assert result.sources == ()


def test_the_plan_contains_no_user_text() -> None:
    made = steps_as_plan(
        [Step(1, "rag_search", {"queries": ["secret"]}, "2 found", (1, 2)), Step(2, "secret", {}, "no", (), True)]
    )
    assert made == ("step 1: rag_search, 2 passages", "step 2: unknown, failed")
