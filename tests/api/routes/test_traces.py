"""Traces over HTTP: list, show, replay."""

import base64
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem

TEXT = {
    "leave": "# Leave\n\nUnused leave days expire on 31 March. Leave is asked for in the calendar.\n",
    "days": "# Days\n\nThe office closes on Fridays. Days of leave are counted by the payroll.\n",
}
QUESTION = "When do unused leave days expire?"


def test_a_trace_has_stages_but_no_text(client: httpx2.Client) -> None:
    answer = client.post(
        "/api/v1/query", json={"query": "a telling question"}, headers={"X-Request-ID": "abcdefgh"}
    ).json()
    trace = client.get(f"/api/v1/traces/{answer['metadata']['trace_id']}").json()
    assert set(trace) == {
        "id",
        "owner",
        "kind",
        "question",
        "strategy",
        "started_at",
        "duration_ms",
        "error",
        "code",
        "degraded",
        "request_id",
        "parent",
        "options",
        "settings",
        "outcome",
        "content",
        "spans",
    }
    assert (trace["kind"], trace["question"], trace["content"]) == ("query", None, None)
    assert len(trace["id"]) == 32
    assert trace["request_id"] == "abcdefgh"
    names = [span["name"] for span in trace["spans"]]
    assert {"guardrails", "query_analysis", "retrieval", "vector_search", "ranking"} <= set(names)
    retrieval, search = (
        next(span for span in trace["spans"] if span["name"] == n) for n in ("retrieval", "vector_search")
    )
    assert (search["parent_id"], len(search["id"])) == (retrieval["id"], 16)
    assert set(answer["metadata"]["durations_ms"]) <= set(names)
    assert "telling" not in str(trace)
    newest, *_ = client.get("/api/v1/traces", params={"limit": 5, "kind": "query"}).json()["items"]
    assert newest == {name: value for name, value in trace.items() if name != "spans"}


def test_a_clients_traceparent_is_linked(client: httpx2.Client) -> None:
    remote = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
    answer = client.post("/api/v1/search", json={"query": "x"}, headers={"traceparent": f"00-{remote}-01"}).json()
    assert client.get(f"/api/v1/traces/{remote[:32]}").json()["id"] == answer["trace_id"]
    assert client.get(f"/api/v1/traces/{answer['trace_id']}").json()["parent"] == remote
    other = client.post("/api/v1/search", json={"query": "x"}, headers={"traceparent": "00-nonsense"}).json()
    assert client.get(f"/api/v1/traces/{other['trace_id']}").json()["parent"] is None


def test_a_refused_question_has_a_trace_with_its_error(client: httpx2.Client) -> None:
    client.post("/api/v1/query", json={"query": " "})
    page = client.get("/api/v1/traces", params={"limit": 1, "errors": True}).json()
    assert page["items"][0]["error"].startswith("Invalid")
    assert page["items"][0]["code"] == "empty_query"


def test_lists_are_filtered_and_go_on(client: httpx2.Client) -> None:
    asked = [client.post("/api/v1/search", json={"query": "x"}).json()["trace_id"] for _ in range(4)]
    first = client.get("/api/v1/traces", params={"limit": 2, "kind": "search"}).json()
    following = client.get(
        "/api/v1/traces", params={"limit": 2, "kind": "search", "cursor": first["next_cursor"]}
    ).json()
    ids = [trace["id"] for page in (first, following) for trace in page["items"]]
    assert ids == asked[::-1]
    assert client.get("/api/v1/traces", params={"slower_than_ms": 1e9}).json()["items"] == []
    assert client.get("/api/v1/traces", params={"since": "2999-01-01T00:00:00"}).json()["items"] == []
    assert client.get("/api/v1/traces", params={"since": "2020-01-01T00:00:00Z", "limit": 1}).json()["items"]
    assert client.get("/api/v1/traces", params={"since": "2020-01-01T00:00:00-23:59", "limit": 1}).json()["items"]


def test_traces_that_are_not_there(client: httpx2.Client) -> None:
    assert_problem(client.get("/api/v1/traces/nope"), 404, "not_found")
    assert_problem(client.post("/api/v1/traces/nope/replay", json={}), 404, "not_found")
    assert_problem(client.post("/api/v1/traces/nope/replay"), 404, "not_found")  # a body is not needed
    assert_problem(client.get("/api/v1/traces", params={"cursor": "nope"}), 422, "invalid")
    told = assert_problem(client.get("/api/v1/traces", params={"kind": "foo"}), 422, "invalid")["detail"]
    assert told.startswith("kind: must be 'query', 'chat', 'search'")


@pytest.mark.parametrize("where", ["traces", "sessions"])
@pytest.mark.parametrize(
    "last",
    [
        "2020-01-01T00:00:00+00:00 a\0b",
        "2020-01-01T00:00:00-23:59 a",
        "0001-01-01T00:00:00+23:59 a",
        "2020-01-01T00:00:00",
    ],
)
def test_a_made_up_cursor_breaks_nothing(client: httpx2.Client, where: str, last: str) -> None:
    cursor = base64.urlsafe_b64encode(last.encode()).decode()
    assert client.get(f"/api/v1/{where}", params={"cursor": cursor}).status_code == 200


@pytest.mark.parametrize(
    "wrong", [{"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"since": "soon"}, {"slower_than_ms": -1}]
)
def test_limits(client: httpx2.Client, wrong: dict[str, object]) -> None:
    assert_problem(client.get("/api/v1/traces", params=wrong), 422, "invalid")  # type: ignore[arg-type]


# --- replay -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def keeping(postgres: str, tmp_path_factory: pytest.TempPathFactory, module_database_url: str) -> Iterator[LiveServer]:
    """A server that keeps the words of questions."""
    data: Path = tmp_path_factory.mktemp("keeping") / "data"
    with LiveServer(data, **{"database.url": module_database_url, "traces.content": True}) as live_server:
        live_server.add("", **TEXT)
        yield live_server


def test_a_replay_reports_changes(keeping: LiveServer) -> None:
    with keeping.client("reader") as client:
        answer = client.post("/api/v1/query", json={"query": QUESTION, "top_k": 2}).json()
        trace_id = answer["metadata"]["trace_id"]
        replay = client.post(f"/api/v1/traces/{trace_id}/replay", json={"settings": {"rag.fusion": "rrf"}}).json()
        assert (replay["replay_of"], replay["settings"]) == (
            trace_id,
            {"rag.fusion": {"before": "relative_score", "after": "rrf"}},
        )
        assert {one["title"] for one in replay["passages"]} == {"Leave", "Days"}
        first = replay["passages"][0]
        assert (first["rank_before"], first["rank_after"], first["change"]) == (1, 1, "same")
        assert first["score_before"] > first["score_after"] > 0
        assert replay["answer"]["before"] == answer["answer"]
        assert (
            "".join(one["text"] for one in replay["answer"]["changes"] if one["change"] != "removed")
            == (replay["answer"]["after"])
        )
        assert replay["confidence"]["before"] == pytest.approx(answer["confidence"]["score"], abs=1e-4)
        assert set(replay["duration_ms"]) == {"before", "after"}
        kept = client.get(f"/api/v1/traces/{replay['trace_id']}").json()
        kept["settings"].pop("answers.reader", None)  # that of the tests
        assert (kept["kind"], kept["settings"], kept["options"]["replays"]) == (
            "replay",
            {"rag.fusion": "rrf"},
            trace_id,
        )
        nothing = {"settings": {"rag.similarity_threshold": 1}, "profile": "adaptive"}
        changed = client.post(f"/api/v1/traces/{trace_id}/replay", json=nothing).json()
        assert changed["changed"]
        assert changed["confidence"]["after"] == 0


@pytest.mark.parametrize(
    "key", ["llm.base_url", "llm.provider", "llm.api_key", "embedding.provider", "database.url", "rag.fusoin", "data"]
)
def test_a_replay_cannot_change_providers(keeping: LiveServer, key: str) -> None:
    with keeping.client() as client:
        trace_id = client.post("/api/v1/search", json={"query": QUESTION}).json()["trace_id"]
        response = client.post(f"/api/v1/traces/{trace_id}/replay", json={"settings": {key: "http://evil"}})
        assert_problem(response, 422, "invalid")
        assert key in response.json()["detail"]


def test_a_question_that_was_not_stored_must_be_given(client: httpx2.Client) -> None:
    trace_id = client.post("/api/v1/search", json={"query": "something"}).json()["trace_id"]
    assert_problem(client.post(f"/api/v1/traces/{trace_id}/replay", json={}), 422, "no_content")
    given = client.post(f"/api/v1/traces/{trace_id}/replay", json={"question": "something"})
    assert (given.status_code, given.json()["answer"]) == (200, None)
