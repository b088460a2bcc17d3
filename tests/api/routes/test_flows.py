"""Flows over HTTP."""

from typing import Any

import httpx2

from tests.api.live_server import LiveServer, assert_problem, events

LEAVE = "# Leave\n\nUp to five vacation days carry over into the next year.\n"


def flow(folder: str, **more: Any) -> dict[str, Any]:
    nodes = [{"id": "docs", "type": "RAG", "folder": folder}, {"id": "answer", "type": "Completion"}]
    edges = [{"from": "docs", "to": "answer"}]
    return {"nodes": nodes, "edges": edges, "input": "How many vacation days carry over?", **more}


def test_a_flow_ends_in_an_answer_and_its_nodes_are_in_the_trace(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    live_server.add(folder, leave=LEAVE)
    live_server.add(f"{folder}x", other=LEAVE.replace("five", "nine"))
    told = client.post("/api/v1/flows/run", json=flow(folder)).json()
    assert {source["document_name"] for source in told["sources"]} == {"leave.md"}  # the node keeps to its folder
    assert "Up to five vacation days carry over into the next year. [Source 1]" in told["answer"]
    [citation] = told["citations"]
    assert citation["quote"] == "Up to five vacation days carry over into the next year."
    assert told["metadata"]["plan"][0] == "node answer: completion"
    spans = client.get(f"/api/v1/traces/{told['metadata']['trace_id']}").json()["spans"]
    assert [span["name"] for span in spans if span["name"].endswith("_node")] == ["completion_node", "rag_node"]


def test_a_flow_can_be_followed_as_it_runs(live_server: LiveServer, client: httpx2.Client, folder: str) -> None:
    live_server.add(folder, leave=LEAVE)
    with client.stream("POST", "/api/v1/flows/run", json=flow(folder, stream=True)) as response:
        told = events(response.iter_lines())
    names = [name for name, _ in told]
    assert (names[0], names[-2:]) == ("start", ["answer", "done"])
    assert "step" in names


def test_an_invalid_flow_is_refused_with_the_reason(client: httpx2.Client, folder: str) -> None:
    circle = flow(folder, edges=[{"from": "docs", "to": "answer"}, {"from": "answer", "to": "answer"}])
    problem = assert_problem(client.post("/api/v1/flows/run", json=circle), 422, "invalid")
    assert "the edges form a cycle" in problem["detail"]
    assert_problem(client.post("/api/v1/flows/run", json=flow(folder, input=" ")), 422, "empty_query")
    unknown = assert_problem(client.post("/api/v1/flows/run", json=flow(folder, profile="nosuch")), 422, "invalid")
    assert "there is no profile" in unknown["detail"]
