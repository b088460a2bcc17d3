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


def test_a_flow_is_stored_listed_versioned_and_run_by_name(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    live_server.add(folder, leave=LEAVE)
    name = f"leave-{folder}"
    stored = client.put(f"/api/v1/flows/{name}", json=flow(folder)).json()
    assert (stored["name"], stored["version"], stored["nodes"]) == (name, 1, 2)
    assert stored["definition"]["nodes"][0] == {"id": "docs", "type": "rag", "folder": folder}
    assert list(stored["definition"]) == ["nodes", "edges", "input"]  # in the order in which it is read
    assert stored["definition"]["edges"] == [{"from": "docs", "to": "answer"}]
    assert client.put(f"/api/v1/flows/{name}", json=flow(folder)).json()["version"] == 1
    without = {key: value for key, value in flow(folder).items() if key != "input"}
    assert client.put(f"/api/v1/flows/{name}", json=without).json()["version"] == 2
    [listed] = [one for one in client.get("/api/v1/flows").json()["items"] if one["name"] == name]
    assert (listed["version"], listed["versions"], "definition" in listed) == (2, 2, False)
    assert [one["version"] for one in client.get(f"/api/v1/flows/{name}/versions").json()["items"]] == [2, 1]
    assert client.get(f"/api/v1/flows/{name}?version=1").json()["definition"]["input"] == flow(folder)["input"]
    told = client.post(f"/api/v1/flows/{name}/run", json={"version": 1}).json()
    assert "Up to five vacation days carry over into the next year. [Source 1]" in told["answer"]
    asked = {"input": "How many vacation days carry over?"}
    assert client.post(f"/api/v1/flows/{name}/run", json=asked).json()["answer"] == told["answer"]
    missing = assert_problem(client.post(f"/api/v1/flows/{name}/run", json={}), 422, "invalid")
    assert "stored without an input" in missing["detail"]
    with client.stream("POST", f"/api/v1/flows/{name}/run", json={**asked, "stream": True}) as response:
        assert [event for event, _ in events(response.iter_lines())][-2:] == ["answer", "done"]
    assert client.delete(f"/api/v1/flows/{name}").status_code == 204
    for response in (
        client.get(f"/api/v1/flows/{name}"),
        client.get(f"/api/v1/flows/{name}/versions"),
        client.post(f"/api/v1/flows/{name}/run", json=asked),
        client.delete(f"/api/v1/flows/{name}"),
    ):
        assert_problem(response, 404, "not_found")


def test_an_invalid_flow_is_not_stored(client: httpx2.Client, folder: str) -> None:
    circle = flow(folder, edges=[{"from": "docs", "to": "answer"}, {"from": "answer", "to": "answer"}])
    problem = assert_problem(client.put("/api/v1/flows/circle", json=circle), 422, "invalid")
    assert "the edges form a cycle" in problem["detail"]
    assert client.get("/api/v1/flows/circle").status_code == 404
    assert client.put("/api/v1/flows/-x", json=flow(folder)).status_code == 422
