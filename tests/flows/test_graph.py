"""Which flows are valid, and the errors of invalid ones."""

from typing import Any

import pytest

from pincite.errors import Invalid
from pincite.flows.graph import MAX_COMPLETIONS, MAX_NODES, CompletionNode, RagNode, ReadNode, read_flow


def flow(*nodes: dict[str, Any], edges: str = "", **more: Any) -> dict[str, Any]:
    """Return a flow; its edges are written `a>b c>d`."""
    joined = [dict(zip(("from", "to"), edge.split(">"), strict=True)) for edge in edges.split()]
    return {"nodes": list(nodes), "edges": joined, "input": "How many days?", **more}


def completions(number: int) -> list[dict[str, Any]]:
    """Return completion nodes."""
    return [{"id": f"c{n}", "type": "completion"} for n in range(number)]


RAG, READ, WRITE = {"id": "r", "type": "rag"}, {"id": "d", "type": "read_document"}, {"id": "c", "type": "completion"}


def test_node_types_are_accepted_in_several_spellings() -> None:
    told = flow(
        {"id": "r", "type": "RAG"},
        {"id": "d", "type": "ReadDocument"},
        {"id": "c", "type": "CompletionNode"},
        edges="r>c d>c",
    )
    read = read_flow(told)
    assert [type(node) for node in read.nodes] == [RagNode, ReadNode, CompletionNode]
    [last] = read.in_order()
    assert [node.id for node in read.inputs(last)] == ["r", "d"]


def test_completions_are_ordered_topologically_and_unneeded_ones_omitted() -> None:
    nodes = [{"id": name, "type": "completion"} for name in "dcba"]
    assert [node.id for node in read_flow(flow(*nodes, edges="a>b b>c", output="c")).in_order()] == ["a", "b", "c"]
    assert [node.id for node in read_flow(flow(*nodes, edges="a>b b>c", output="b")).in_order()] == ["a", "b"]


def test_system_messages_are_ordered_by_priority() -> None:
    node = CompletionNode(id="c", system_prompt="Be brief.")
    read = ReadNode(id="d", guidance="Read.")
    rag = RagNode(id="r", guidance="Search.")
    assert (rag.priority, read.priority, node.priority) == (-50, -40, 0)
    messages = [(one.priority, one.message()) for one in (read, rag)]
    assert node.sampling(messages, {}).system_prompt == "Search.\n\nRead.\n\nBe brief."
    first = CompletionNode(id="c", system_prompt="Be brief.", priority=-60)
    assert str(first.sampling(messages, {}).system_prompt).startswith("Be brief.")


def test_guidance_says_how_many_queries_there_may_be() -> None:
    assert "1 to 3 queries" in RagNode(id="r", max_queries=3).message()


def test_placeholders_of_a_prompt_are_filled_once() -> None:
    node = CompletionNode(id="c", prompt="{input} after {a}? {b} { }")
    assert node.fill_prompt({"input": "{a}", "a": "x"}) == "{a} after x? {b} { }"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "a flow must be an object"),
        (flow(), "nodes"),
        (flow({"id": "x", "type": "ragg"}), "there is no node type 'ragg'"),
        (flow({"id": "x"}), "there is no node type"),
        (flow("x"), "a node must be an object"),  # type: ignore[arg-type]
        (flow({**RAG, "topk": 1}, WRITE, edges="r>c"), "topk"),
        (flow({**RAG, "topK": 1, "top_k": 2}, WRITE, edges="r>c"), "a field is sent twice, in two spellings"),
        (flow({**RAG, "queries": ["x"] * 6}, WRITE, edges="r>c"), "queries"),
        (flow({"id": "a b", "type": "rag"}), "id"),
        (flow(WRITE, WRITE), "two nodes have the id 'c'"),
        (flow({"id": "input", "type": "completion"}), "cannot be called 'input'"),
        (flow(RAG, WRITE, edges="r>d"), "an edge names 'd', but there is no such node"),
        (flow(RAG, READ, WRITE, edges="r>d d>c"), "'d' is of the type read_document, which accepts no input"),
        (flow(RAG, WRITE, edges="r>c r>c"), "two edges connect the same nodes"),
        (flow(WRITE, {"id": "b", "type": "completion"}, edges="c>b b>c"), "the edges form a cycle"),
        (flow(WRITE, edges="c>c"), "the edges form a cycle"),
        (flow(RAG, WRITE), "'r' has no outgoing edge; connect it to a completion"),
        (flow(RAG), "needs 1 to 10 nodes of the type completion"),
        (flow(WRITE, {"id": "b", "type": "completion"}), "several completions have no outgoing edge (c, b)"),
        (flow(WRITE, output="x"), "there is no completion 'x'"),
        ({"nodes": [WRITE]}, "input"),
        (flow(WRITE, input=""), "input"),
        (flow(*completions(MAX_COMPLETIONS + 1), output="c1"), "1 to 10 nodes"),
        (flow(*completions(MAX_NODES + 1)), "nodes"),
        (flow(WRITE, edges=" ".join(["c>c"] * 201)), "edges"),
    ],
)
def test_an_invalid_flow_is_refused_with_one_line(value: Any, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_flow(value)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
