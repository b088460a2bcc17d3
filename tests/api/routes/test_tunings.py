"""Tunings over HTTP."""

import time
from typing import Any

import httpx2

from tests.api.live_server import LiveServer, assert_problem

TREES = "alder birch cedar dogwood elm fir ginkgo hazel ivy juniper".split()


def ended(client: httpx2.Client, tuning_id: str) -> dict[str, Any]:
    """A tuning once it is over."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found: dict[str, Any] = client.get(f"/api/v1/tunings/{tuning_id}").json()
        if found["status"] != "running":
            return found
        time.sleep(0.05)
    raise AssertionError(f"not over in time: {found}")


def begun(client: httpx2.Client, **body: Any) -> str:
    """Begin a tuning as soon as nothing else is running."""
    deadline = time.monotonic() + 60
    while (response := client.post("/api/v1/tunings", json=body)).status_code == 409:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert response.status_code == 202, response.text
    return str(response.json()["tuning"]["id"])


def test_settings_are_tried_and_the_proposal_is_applied_and_undone(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    live_server.add(folder, **{tree: f"# {tree}\n\nThe zq{tree} rule is number {n}.\n" for n, tree in enumerate(TREES)})
    questions = [
        {"q": f"What is the zq{tree} rule{mark}", "gold": [[f"number {n}"]]}
        for n, tree in enumerate(TREES)
        for mark in ("?", " again?")
    ]
    made = client.post("/api/v1/evaluation-sets", json={"questions": questions}).json()["id"]
    client.put("/api/v1/settings", json={"guard.max_query_chars": 100}).raise_for_status()
    found = ended(client, begun(client, set_id=made, candidates=["guard.max_query_chars=5"], only=True))
    assert (found["status"], found["error"], found["result"]["proposal"]) == ("done", None, None)
    assert found["result"]["reason"] == "no change is better beyond noise"
    assert_problem(client.post(f"/api/v1/tunings/{found['id']}/apply"), 409, "conflict")
    client.put("/api/v1/settings", json={"guard.max_query_chars": 5}).raise_for_status()
    found = ended(client, begun(client, set_id=made, candidates=["guard.max_query_chars=200"], only=True))
    proposal = found["result"]["proposal"]
    assert (proposal["before"], proposal["after"]) == ({"guard.max_query_chars": 5}, {"guard.max_query_chars": 200})
    assert proposal["confirmed"]["verdict"] == "better"
    assert found["result"]["tests"] == "answers"
    applied = client.post(f"/api/v1/tunings/{found['id']}/apply").raise_for_status().json()
    assert [one["key"] for one in applied["changes"]] == ["guard.max_query_chars"]
    assert client.get("/api/v1/settings").json()["values"]["guard.max_query_chars"] == 200
    client.post("/api/v1/settings/undo").raise_for_status()
    assert client.get("/api/v1/settings").json()["values"]["guard.max_query_chars"] == 5
    client.put("/api/v1/settings", json={"guard.max_query_chars": None}).raise_for_status()
    assert client.get("/api/v1/tunings").json()["items"][0]["id"] == found["id"]
    client.delete(f"/api/v1/evaluation-sets/{made}").raise_for_status()


def test_what_cannot_be_tuned_is_refused(live_server: LiveServer, client: httpx2.Client, reader: httpx2.Client) -> None:
    with live_server.stranger() as stranger:
        assert "no question set yet" in assert_problem(stranger.post("/api/v1/tunings"), 404, "not_found")["detail"]
    small = client.post("/api/v1/evaluation-sets", json={"questions": [{"q": "A?", "expect": "refuse"}]}).json()["id"]
    told = assert_problem(client.post("/api/v1/tunings", json={"set_id": small}), 422, "invalid")
    assert "at least 20 questions" in told["detail"]
    assert_problem(client.post("/api/v1/tunings", json={"set_id": "es_none"}), 404, "not_found")
    assert_problem(client.get("/api/v1/tunings/tu_none"), 404, "not_found")
    assert_problem(reader.post("/api/v1/tunings", json={}), 403, "not_allowed")
    client.delete(f"/api/v1/evaluation-sets/{small}").raise_for_status()
