import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from pincite.core.documents.document import ReadRequest
from pincite.core.protocols import DocumentExtract
from pincite.core.query.hits import Hit
from pincite.core.query.tools import ToolCall
from pincite.errors import NotFound, Unavailable
from pincite.query.agent.tools import (
    MAX_ARGUMENT_CHARS,
    TOOLS,
    ToolBackend,
    ToolResult,
    call_tool,
    example_arguments,
    tool_definitions,
)
from tests.builders import hit


class RecordingBackend:
    """A backend that records its calls."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def search(self, queries: Sequence[str]) -> list[Hit]:
        self.asked.append(list(queries))
        return [hit("Cats purr.")]

    async def read(self, reading: ReadRequest) -> tuple[DocumentExtract, list[Hit]]:
        self.asked.append(reading)
        if reading.document_id == "secret":
            raise NotFound("there is no document 'secret'")
        return DocumentExtract("doc1", "v1", "Cats", (), 1, 9, 80, "Sleep"), [hit("Cats sleep.")]

    async def find(self, reading: ReadRequest, text: str) -> tuple[DocumentExtract, list[Hit]]:
        self.asked.append((reading, text))
        if text == "down":
            raise Unavailable("the database is away")
        places = (3, 3, 7) if text == "cat" else ()
        return DocumentExtract("doc1", "v1", "Cats", (), 1, 9, 80, places=places, found=len(places)), [hit("A cat.")][
            : len(places)
        ]

    @property
    def backend(self) -> ToolBackend:
        return ToolBackend(self.search, self.read, self.find)


def call(name: str, arguments: Any, recording: RecordingBackend | None = None) -> ToolResult:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return asyncio.run(call_tool(ToolCall("c", name, written), (recording or RecordingBackend()).backend))


def test_every_tool_is_described_by_a_plain_schema() -> None:
    assert [tool.name for tool in tool_definitions()] == list(TOOLS)
    for tool in tool_definitions():
        assert tool.description
        assert tool.parameters["type"] == "object"
        assert all("type" in about for about in tool.parameters["properties"].values()), tool
        assert "title" not in json.dumps(tool.parameters)
    [search, read, find] = tool_definitions()
    assert search.parameters["required"] == ["queries"]
    assert (
        search.parameters["properties"]["queries"]["minItems"],
        search.parameters["properties"]["queries"]["maxItems"],
    ) == (1, 5)
    assert set(read.parameters["properties"]) == {
        "doc_id",
        "source_uri",
        "version",
        "section",
        "start_line",
        "end_line",
    }
    assert find.parameters["required"] == ["text"]


@pytest.mark.parametrize("name", list(TOOLS))
def test_the_example_of_each_tool_is_valid(name: str) -> None:
    assert not call(name, example_arguments(name)).failed


@pytest.mark.parametrize("given", [{"queries": ["cats", " cats ", "dogs"]}, {"query": ["cats", "dogs"]}])
def test_queries_are_searched_together_without_duplicates(given: dict[str, Any]) -> None:
    recording = RecordingBackend()
    result = call("rag_search", given, recording)
    assert recording.asked == [["cats", "dogs"]]
    assert (result.summary, len(result.hits), result.failed) == ("1 passage found", 1, False)


def test_one_query_may_stand_alone() -> None:
    recording = RecordingBackend()
    call("rag_search", {"query": "cats"}, recording)
    assert recording.asked == [["cats"]]


def test_a_document_is_read_as_asked() -> None:
    recording = RecordingBackend()
    result = call(
        "read_document", {"doc_id": "d", "section": "S", "start_line": 2, "end_line": 3, "version": "v"}, recording
    )
    assert recording.asked == [ReadRequest("d", None, "S", 2, 3, "v")]
    assert result.summary == "lines 1 to 9 of 80, section Sleep"


def test_every_match_of_a_text_is_returned_with_its_line() -> None:
    assert call("find_in_document", {"doc_id": "d", "text": "cat"}).summary == "3 places: line 3, 7"
    assert "does not contain this exact text" in call("find_in_document", {"doc_id": "d", "text": "dog"}).summary


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("delete_all", {}, "there is no tool 'delete_all'; there are: rag_search, read_document"),
        ("rag_serch", {}, "did you mean 'rag_search'?"),
        ("rag_search", '{"queries": ["a"', "not JSON; send an object such as"),
        ("rag_search", "[1]", "must be an object"),
        ("rag_search", {}, "queries: is missing"),
        ("rag_search", {"queries": []}, "queries: must have at least 1 entry"),
        ("rag_search", {"queries": list("abcdef")}, "queries: may have at most 5 entries"),
        ("rag_search", {"queries": [7]}, "queries.0: must be text"),
        ("rag_search", {"queries": [" ", "\0"]}, "must hold words"),
        ("rag_search", {"queries": ["a"], "top_k": 3}, "top_k: there is no such argument"),
        ("read_document", {}, "give either doc_id or source_uri"),
        ("read_document", {"doc_id": "a", "source_uri": "b"}, "give either doc_id or source_uri"),
        ("read_document", {"doc_id": "a", "start_line": 0}, "start_line: must be at least 1"),
        ("read_document", {"doc_id": "secret"}, "there is no document 'secret'"),
        ("find_in_document", {"doc_id": "a"}, "text: is missing"),
        ("rag_search", "[" * 5000, "not JSON"),
    ],
)  # fmt: skip
def test_errors_of_a_call_are_its_result(name: str, arguments: Any, said: str) -> None:
    result = call(name, arguments)
    assert result.failed
    assert said in result.summary
    assert result.hits == ()


def test_arguments_of_a_megabyte_are_refused_unread() -> None:
    recording = RecordingBackend()
    result = call("rag_search", {"queries": ["x" * 1_000_000]}, recording)
    assert result.failed
    assert f"more than {MAX_ARGUMENT_CHARS:,} characters" in result.summary
    assert len(result.summary) < 200
    assert recording.asked == []


def test_an_unavailable_backend_raises() -> None:
    with pytest.raises(Unavailable):
        call("find_in_document", {"doc_id": "d", "text": "down"})
