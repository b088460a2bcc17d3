"""Flows: the input of each node to a completion, and answers whose citations resolve."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.answer import Answer
from pincite.core.query.hits import Hit
from pincite.core.run import Event, Run, Token
from pincite.errors import NotFound
from pincite.flows.graph import read_flow
from pincite.flows.run import combine_backends, run_flow
from pincite.query.agent.tools import ToolBackend
from tests.builders import Calling, found, hit

TEXTS = {1: "Up to five vacation days carry over into the next year.", 2: "The mill was built in 1902."}
RANKS = {1: 0.9, 2: 0.2}
ASKED = "How many vacation days carry over?"
SEARCHING = {"id": "docs", "type": "rag"}
WRITING = {"id": "answer", "type": "completion"}
Play = Callable[..., tuple[Answer, list[Event]]]


class Shelf:
    """A reader with one document."""

    async def read(self, reading: ReadRequest, **_: Any) -> DocumentExtract:
        if "doc1" not in (reading.document_id, reading.source_uri):
            raise NotFound(f"there is no document '{reading.document_id}'")
        return DocumentExtract("doc1", "v1", "Leave", (found(TEXTS[1]),), 1, 1, 1)

    async def find(self, reading: ReadRequest, text: str, **_: Any) -> DocumentExtract:
        return replace(await self.read(reading), places=(1,), found=1)


@pytest.fixture
def play(make_run: Callable[..., Run]) -> Play:
    """Run a flow, with a model if one is given."""

    def play(*nodes: dict[str, Any], edges: tuple[tuple[str, str], ...], llm: Any = None, **more: Any) -> Any:
        events: list[Event] = []
        run = make_run(TEXTS, RANKS, RANKS, llm=llm, events=events)
        run.kit = replace(run.kit, document_reader=Shelf(), llm=llm or run.kit.extractive)
        joined = [{"from": one, "to": other} for one, other in edges]
        flow = read_flow({"nodes": list(nodes), "edges": joined, "input": ASKED, **more})
        return asyncio.run(run_flow(run, flow)), events

    return play


def assert_resolved(answer: Answer) -> None:
    assert answer.citations
    for citation in answer.citations:
        assert citation.matched
        assert citation.quote in TEXTS[1]


def test_a_completion_gets_the_tools_and_guidance_of_its_inputs(play: Play) -> None:
    llm = Calling(
        ("", [("rag_search", {"queries": ["vacation days", "carry over"]})]),
        "Up to five vacation days carry over into the next year [Source 1].",
    )
    answer, events = play(SEARCHING, WRITING | {"system_prompt": "Be brief."}, edges=(("docs", "answer"),), llm=llm)
    first = llm.prompts[0]
    assert [tool.name for tool in first.tools] == ["rag_search"]
    system = first.messages[0].content
    assert system.index("Search with rag_search before you answer: 1 to 5 queries") < system.index("Be brief.")
    assert [step.tool for step in answer.metadata.steps] == ["rag_search"]
    assert_resolved(answer)
    assert "".join(event.text for event in events if isinstance(event, Token)) == answer.text


def test_a_tool_result_is_a_message_with_citable_sources(play: Play) -> None:
    llm = Calling(("", [("rag_search", {"queries": ["vacation"]})]), "Up to five vacation days carry over [Source 1].")
    play(SEARCHING, WRITING, edges=(("docs", "answer"),), llm=llm)
    [brought] = [message for message in llm.prompts[-1].messages if message.role == "tool"]
    assert "[Source 1]" in brought.content
    assert "Up to five vacation days" in brought.content


def test_the_queries_of_a_node_run_before_the_model_is_called(play: Play) -> None:
    llm = Calling("Up to five vacation days carry over into the next year [Source 1].")
    node = SEARCHING | {"queries": ["{input}", "vacation"]}
    answer, _ = play(node, WRITING, edges=(("docs", "answer"),), llm=llm)
    assert answer.metadata.steps[0].arguments == {"queries": [ASKED, "vacation"]}
    assert len(llm.prompts) == 1
    assert_resolved(answer)


def test_a_read_node_reads_only_the_named_document(play: Play) -> None:
    llm = Calling(
        ("", [("read_document", {"doc_id": "nosuchdocument00"})]),
        "Up to five vacation days carry over into the next year [Source 1].",
    )
    node = {"id": "policy", "type": "read_document", "doc_id": "doc1", "start_line": 1}
    answer, _ = play(node, WRITING, edges=(("policy", "answer"),), llm=llm)
    assert [tool.name for tool in llm.prompts[0].tools] == ["read_document", "find_in_document"]
    assert [(step.tool, step.failed) for step in answer.metadata.steps] == [
        ("read_document", False),
        ("read_document", True),
    ]
    assert "only the document" in answer.metadata.steps[1].result
    assert_resolved(answer)


def test_a_completion_continues_the_one_before_with_the_same_source_numbers(play: Play) -> None:
    llm = Calling(
        ("", [("rag_search", {"queries": ["vacation"]})]),
        "Five days [Source 1].",
        "Up to five vacation days carry over into the next year [Source 1].",
    )
    answer, events = play(
        SEARCHING,
        {"id": "draft", "type": "completion"},
        WRITING | {"prompt": "Check: {draft}"},
        edges=(("docs", "draft"), ("draft", "answer")),
        llm=llm,
    )
    assert answer.text == "Up to five vacation days carry over into the next year [Source 1]."
    assert any("Check: Five days" in message.content for message in llm.prompts[-1].messages)
    assert answer.metadata.plan[:2] == ("node draft: completion", "node answer: completion")
    assert "".join(event.text for event in events if isinstance(event, Token)) == answer.text
    assert_resolved(answer)


def test_the_input_is_the_flows_in_every_node(play: Play) -> None:
    llm = Calling("Up to five vacation days carry over into the next year [Source 1].")
    node = SEARCHING | {"queries": ["{input}"], "guidance": "Search for: {input}"}
    writing = WRITING | {"prompt": "Please answer: {input}", "system_prompt": "The question is {input}"}
    answer, _ = play(node, writing, edges=(("docs", "answer"),), llm=llm)
    assert answer.metadata.steps[0].arguments == {"queries": [ASKED]}
    system, asked = llm.prompts[0].messages[0].content, llm.prompts[0].messages[1].content
    assert system.startswith(f"Search for: {ASKED}\n\nThe question is {ASKED}\n\n")
    assert asked == f"Please answer: {ASKED}"


def test_without_a_model_the_flows_input_is_searched_not_the_prompt(play: Play) -> None:
    answer, _ = play(SEARCHING, WRITING | {"prompt": "Please answer: {input}"}, edges=(("docs", "answer"),))
    assert [step.arguments for step in answer.metadata.steps] == [{"queries": [ASKED]}]


def test_a_completion_without_tools_is_not_told_to_use_them(play: Play) -> None:
    llm = Calling(
        ("", [("rag_search", {"queries": ["vacation"]})]),
        "Five days [Source 1].",
        "Up to five vacation days carry over into the next year [Source 1].",
    )
    answer, _ = play(
        SEARCHING,
        {"id": "draft", "type": "completion"},
        {"id": "final", "type": "completion", "prompt": "Shorten: {draft}"},
        edges=(("docs", "draft"), ("draft", "final")),
        llm=llm,
    )
    last = llm.prompts[-1]
    assert last.tools == ()
    assert not any(word in last.messages[0].content for word in ("tool", "SEARCH", "look for", "Search"))
    assert [message.role for message in last.messages] == ["system", "user", "assistant", "user"]
    assert "[Source 1]" in last.messages[-1].content
    assert TEXTS[1] in last.messages[-1].content
    assert last.messages[-1].content.endswith("Shorten: Five days [Source 1].")
    assert [(step.tool, step.arguments) for step in answer.metadata.steps] == [
        ("rag_search", {"queries": ["vacation"]})
    ]
    assert_resolved(answer)


def test_a_flow_that_neither_searches_nor_reads_is_written_without_documents(play: Play) -> None:
    llm = Calling("Five days.", "Five days, politely.")
    first = {"id": "first", "type": "completion", "prompt": "Answer: {input}"}
    last = {"id": "last", "type": "completion", "prompt": "Say politely: {first}", "system_prompt": "Be polite."}
    answer, _ = play(first, last, edges=(("first", "last"),), llm=llm)
    assert (answer.text, answer.sources, answer.metadata.steps) == ("Five days, politely.", (), ())
    assert answer.warnings == ("this answer is not from your documents",)
    asked = [[message.content for message in prompt.messages] for prompt in llm.prompts]
    assert [prompt[-1] for prompt in asked] == [f"Answer: {ASKED}", "Say politely: Five days."]
    assert asked[1][0].startswith("Be polite.\n\nYou are a helpful assistant. No document was looked into")


def test_a_completion_without_tools_that_writes_a_call_makes_none(play: Play) -> None:
    llm = Calling(
        "Up to five vacation days carry over [Source 1].", ("SEARCH: x", [("rag_search", {"queries": ["x"]})])
    )
    answer, _ = play(
        SEARCHING | {"queries": ["vacation"]},
        {"id": "draft", "type": "completion"},
        {"id": "final", "type": "completion", "prompt": "Shorten: {draft}"},
        edges=(("docs", "draft"), ("draft", "final")),
        llm=llm,
    )
    assert len(llm.prompts) == 2
    assert len(answer.metadata.steps) == 1


def test_without_a_model_the_nodes_search_and_sentences_are_extracted(play: Play) -> None:
    answer, _ = play(SEARCHING, WRITING, edges=(("docs", "answer"),))
    assert TEXTS[1] in answer.text
    assert [note.stage for note in answer.degraded] == ["flow"]
    assert_resolved(answer)


def test_a_missing_document_ends_a_flow_before_a_model_is_called(play: Play) -> None:
    llm = Calling("Nobody should be asked.")
    node = {"id": "policy", "type": "read_document", "source_uri": "https://example.org/none"}
    with pytest.raises(NotFound):
        play(node, WRITING, edges=(("policy", "answer"),), llm=llm)
    assert llm.prompts == []


def test_too_many_queries_of_the_model_are_refused(play: Play) -> None:
    llm = Calling(
        ("", [("rag_search", {"queries": ["a", "b"]})]),
        ("", [("rag_search", {"queries": ["vacation"]})]),
        "Up to five vacation days carry over [Source 1].",
    )
    answer, _ = play(SEARCHING | {"max_queries": 1}, WRITING, edges=(("docs", "answer"),), llm=llm)
    assert next((step.failed, step.result) for step in answer.metadata.steps) == (True, "at most 1 queries at once")


def test_results_of_several_search_nodes_are_interleaved_without_duplicates() -> None:
    a, b, c = (hit(f"text {n}", key=n) for n in (1, 2, 3))

    def node(*found: Hit) -> ToolBackend:
        async def search(_: Any) -> list[Hit]:
            return list(found)

        async def nothing(*_: Any) -> Any:
            raise NotFound("not mine")

        return ToolBackend(search, nothing, nothing, ("rag_search", "read_document"))

    backend = combine_backends([node(a, b), replace(node(c, a), max_queries=3)])
    assert backend.max_queries == 3
    assert [one.chunk.key for one in asyncio.run(backend.search(["x"]))] == [1, 3, 2]  # type: ignore[arg-type]
    assert backend.tools == ("rag_search", "read_document")
    with pytest.raises(NotFound, match="not mine"):
        asyncio.run(backend.read(None))  # type: ignore[arg-type]
