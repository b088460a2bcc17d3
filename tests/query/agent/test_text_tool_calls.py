import json
from typing import Any

import pytest

from pincite.query.agent.text_tool_calls import answer_in, calls_in, turn_schema
from pincite.query.agent.tools import tool_definitions


def calls(text: str) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in calls_in(text)[1]]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            "SEARCH: who built it | when was it built",
            ("rag_search", {"queries": ["who built it", "when was it built"]}),
        ),
        ('I look.\n**SEARCH:** "the mill"', ("rag_search", {"queries": ["the mill"]})),
        ("SUCHE: die Mühle", ("rag_search", {"queries": ["die Mühle"]})),
        ("SEARCH: a\nSEARCH: b", ("rag_search", {"queries": ["a", "b"]})),
        ("READ: abc-1_x, lines 10-40", ("read_document", {"doc_id": "abc-1_x", "start_line": 10, "end_line": 40})),
        ("READ: doc_id abc line 3", ("read_document", {"doc_id": "abc", "start_line": 3, "end_line": 3})),
        ("READ: `abc`, section Opening hours", ("read_document", {"doc_id": "abc", "section": "Opening hours"})),
        ("READ: abc", ("read_document", {"doc_id": "abc"})),
        ('FIND: abc, "the exact words"', ("find_in_document", {"doc_id": "abc", "text": "the exact words"})),
        ('```json\n{"name": "rag_search", "arguments": {"queries": ["x"]}}\n```', ("rag_search", {"queries": ["x"]})),
        ('```\n{"tool": "rag_search", "queries": ["x"]}\n```', ("rag_search", {"queries": ["x"]})),
        (
            '<tool_call>\n{"name": "read_document", "arguments": {"doc_id": "a"}}\n</tool_call>',
            ("read_document", {"doc_id": "a"}),
        ),
        ('{"action": "rag_search", "parameters": {"query": "x"}} and so on', ("rag_search", {"query": "x"})),
        ('Action: rag_search\nAction Input: {"queries": ["x"]}', ("rag_search", {"queries": ["x"]})),
        ('<tool_call>{"function": {"name": "delete_all"}}</tool_call>', ("delete_all", {})),
    ],
)
def test_a_call_is_understood_however_it_is_written(text: str, call: tuple[str, Any]) -> None:
    assert calls(text) == [call]


@pytest.mark.parametrize(
    "text",
    [
        "The mill was built in 1902 [Source 1].",
        "To search: use the index at the end.",
        'A setting such as {"name": "port", "value": 80} is shown.',
        '```json\n{"name": "port", "arguments": {}}\n```',
        "ANSWER: write SEARCH:\nSEARCH: is what one writes.",
        "",
    ],
)
def test_text_without_calls_is_unchanged(text: str) -> None:
    assert calls_in(text) == (text, ())


def test_text_after_the_calls_is_dropped() -> None:
    said, [call] = calls_in(
        "I will look for the mill.\nSEARCH: the mill\nResult: [Source 1] The mill is blue.\nANSWER: blue"
    )
    assert said == "I will look for the mill."
    assert call.name == "rag_search"


def test_json_that_is_broken_is_a_call_whose_result_says_so() -> None:
    [call] = calls_in('```json\n{"name": "rag_search", "arguments": {"queries": ["x"}\n```')[1]
    assert call.name == "rag_search"
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(call.arguments)


def test_calls_of_one_turn_are_few_and_each_is_made_once() -> None:
    many = "\n".join(f"READ: doc{n}" for n in range(50))
    assert len(calls(many)) == 5
    assert len(calls("READ: a\nREAD: a")) == 1
    assert calls(f"SEARCH: {' | '.join('abcdefgh')}") == [("rag_search", {"queries": list("abcde")})]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I think so.\nANSWER: Blue [Source 1].", "Blue [Source 1]."),
        ("**Final Answer:** Blue.", "Blue."),
        ("Antwort: Blau.", "Blau."),
        ("Blue.", "Blue."),
        ("ANSWER:", "ANSWER:"),
    ],
)
def test_the_word_that_announces_an_answer_is_no_part_of_it(text: str, answer: str) -> None:
    assert answer_in(text) == answer


def test_a_turn_by_the_schema_is_one_call_or_the_answer() -> None:
    called = {"name": "rag_search", "arguments": {"queries": ["who built the mill"]}}
    assert calls(json.dumps(called, indent=2)) == [("rag_search", {"queries": ["who built the mill"]})]
    answered = json.dumps({"name": "answer", "text": "Ada built it. [Source 1]"})
    assert calls(answered) == []
    assert answer_in(answered) == "Ada built it. [Source 1]"


def test_the_schema_of_a_turn_has_every_tool_and_the_answer() -> None:
    choices = turn_schema(tool_definitions(("rag_search", "read_document")))["anyOf"]
    assert [one["properties"]["name"]["const"] for one in choices] == ["rag_search", "read_document", "answer"]
    assert choices[0]["properties"]["arguments"]["properties"].keys() == {"queries"}
