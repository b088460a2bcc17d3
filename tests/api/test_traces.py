"""Traces: of one's own requests, newest first."""

import httpx2
import pytest

from tests.api.door import assert_problem


def test_an_answers_trace_tells_its_stages_and_not_its_words(client: httpx2.Client) -> None:
    answer = client.post("/api/v1/query", json={"query": "a telling question"}).json()
    trace = client.get(f"/api/v1/traces/{answer['metadata']['trace_id']}").json()
    assert set(trace) == {
        "id", "kind", "question", "strategy", "started_at", "duration_ms", "error", "degraded", "spans"
    }  # fmt: skip
    assert trace["kind"] == "query"
    assert trace["question"] is None
    assert [span["stage"] for span in trace["spans"]][:3] == ["guard_in", "understand", "retrieve"]
    assert "telling" not in str(trace)
    newest, *_ = client.get("/api/v1/traces", params={"limit": 5}).json()["items"]
    assert newest == {name: value for name, value in trace.items() if name != "spans"}


def test_a_refused_question_has_a_trace_with_its_error(client: httpx2.Client) -> None:
    client.post("/api/v1/query", json={"query": " "})
    page = client.get("/api/v1/traces", params={"limit": 1}).json()
    assert page["next_cursor"] is None
    assert page["items"][0]["error"].startswith("Invalid")


def test_traces_that_are_not_there(client: httpx2.Client) -> None:
    assert_problem(client.get("/api/v1/traces/nope"), 404, "not_found")


@pytest.mark.parametrize("limit", [0, 1001, "x"])
def test_limits(client: httpx2.Client, limit: object) -> None:
    assert_problem(client.get("/api/v1/traces", params={"limit": limit}), 422, "invalid")
