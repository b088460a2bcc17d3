"""What tools say: bounded, and with where to read on."""

import asyncio
from typing import Any

import pytest

from pincite.core.documents.document import Document, Listing, Passage, ReadRequest
from pincite.core.graph import EntityCard, GraphNode, GraphPlace, Neighbour, StatedFact
from pincite.core.query.answer import Answer, SearchResult
from pincite.core.query.question import Question
from pincite.engine.reader.document_reader import MAX_PLACES
from pincite.errors import Invalid
from pincite.mcp.server import describe_tool
from pincite.mcp.tools import MAX_RESULT_CHARS, TOOLS, ToolBackend, call_tool


def backend(content: str) -> ToolBackend:
    """One that has a single document."""

    async def read(reading: ReadRequest) -> Passage:
        lines = content.count("\n") + 1
        return Passage(reading.document_id or "", "v1", "Leave", content, 1, lines, lines, None)

    async def search(question: Question) -> SearchResult:
        raise AssertionError("nobody searches here")

    async def ask(question: Question) -> Answer:
        raise AssertionError("nobody asks here")

    async def find_entities(name: str) -> list[GraphNode]:
        return [GraphNode("person-000000000000002a", "Ada Lovelace", "person", 3)] if name == "Ada" else []

    async def entity(entity: str) -> EntityCard:
        node = GraphNode(entity, "Ada Lovelace", "person", 3)
        place = GraphPlace("d1", "Letters", "d1.v1.2", None, 7, 10, 60, "Ada Lovelace wrote to Charles Babbage.")
        near = Neighbour(GraphNode("person-000000000000002b", "Charles Babbage", "person", 1), 1, 2, entity)
        fact = StatedFact("Ada Lovelace", entity, "wrote to", "Charles Babbage", near.node.id, place)
        return EntityCard(node, (fact,), (place,), (near,))

    async def page(listing: Listing) -> tuple[list[Document], str | None]:
        raise AssertionError("nobody lists here")

    return ToolBackend(search, read, ask, page, find_entities, entity)


def told(content: str, name: str, **arguments: Any) -> Any:
    return asyncio.run(call_tool(backend(content), name, arguments))


def test_every_tool_says_what_it_is_for_and_takes() -> None:
    for name, tool in TOOLS.items():
        described = describe_tool(name, tool)
        assert described.input_schema["additionalProperties"] is False
        assert not {"anyOf", "oneOf", "allOf"} & set(described.input_schema)  # some models' servers refuse these
        assert described.title


def test_a_long_document_is_cut_between_lines_and_says_how_to_read_on() -> None:
    content = "\n".join(f"line {n}" for n in range(1, 30_000))
    said = told(content, "read_document", doc_id="d").text
    assert len(said) < MAX_RESULT_CHARS + 300
    kept, _, note = said.rpartition("\n\n")
    last = int(kept.rsplit(" ", 1)[1])
    assert note == f"(cut after line {last} of 29999; read on with start_line {last + 1})"


def test_one_endless_line_is_cut_too() -> None:
    assert len(told("x" * (2 * MAX_RESULT_CHARS), "read_document", doc_id="d").text) < MAX_RESULT_CHARS + 300


def test_every_place_is_counted_and_so_many_are_told() -> None:
    said = told("cat\n" * 80, "find_in_document", doc_id="d", text="cat")
    assert said.data["found"] == 80
    assert [place["line"] for place in said.data["places"]] == list(range(1, MAX_PLACES + 1))
    assert said.text.startswith("80 places in Leave (doc_id d)\nline 1: cat")


def test_a_text_that_is_not_there_is_told() -> None:
    said = told("cat", "find_in_document", doc_id="d", text="Cat")
    assert (said.data["found"], said.text) == (0, "Leave does not contain that text.")


def test_arguments_that_cannot_be_are_named() -> None:
    with pytest.raises(Invalid, match="text: "):
        told("cat", "find_in_document", doc_id="d", text="")


def test_the_graph_is_searched_by_name_and_every_fact_has_its_place() -> None:
    found = asyncio.run(call_tool(backend(""), "graph_search", {"name": "Ada"}))
    assert "Ada Lovelace — wrote to — Charles Babbage (Letters, doc_id d1, line 7)" in found.text
    assert "Related: Charles Babbage" in found.text
    assert found.data["facts"][0]["place"]["text"] == "Ada Lovelace wrote to Charles Babbage."
    assert asyncio.run(call_tool(backend(""), "graph_search", {"name": "Nobody"})).data == {"items": []}
