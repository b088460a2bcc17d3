"""Streamed answers: order of events, failures, disconnects."""

import asyncio
import time

import httpx2
import pytest

from pincite.api.middleware import authenticate
from pincite.api.streaming import sse
from pincite.api.streaming.answer_streams import Ask, Stream, StreamEvent
from pincite.core.query.answer import Answer
from pincite.core.query.prompt import StreamPart
from pincite.core.run import Planned, Started, Token
from pincite.providers.scripted import Options, ScriptedLLM
from tests.api.live_server import LiveServer, assert_problem, events
from tests.api.models import Talker, speaking
from tests.builders import plan
from tests.steady_clock import now

TEXT = "# Leave\n\nFive vacation days carry over to the next year.\n"
ASKED = {"query": "How many vacation days carry over?", "stream": True, "no_cache": True}


@pytest.fixture(scope="module")
def shelf(live_server: LiveServer) -> str:
    live_server.add("stream", leave=TEXT)
    return "stream"


def told(client: httpx2.Client, body: dict[str, object]) -> list[tuple[str, dict[str, object]]]:
    with client.stream("POST", "/api/v1/query", json=body) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-request-id"]
        assert response.headers["cache-control"] == "no-store"
        return events(response.iter_lines())


def test_events_come_in_order_and_the_tokens_are_the_answer(
    live_server: LiveServer, client: httpx2.Client, shelf: str
) -> None:
    answers = ("Five vacation days carry over. [Source 1]",)
    with speaking(live_server, ScriptedLLM(Options(answers=answers))):
        heard = told(client, {**ASKED, "folder": shelf})
    names = [name for name, _ in heard]
    assert names == ["start", "plan", "sources", *["token"] * 6, "answer", "done"]  # one for each word and for the mark
    data = dict(heard)
    assert data["start"] == {
        "id": data["answer"]["id"],
        "trace_id": data["answer"]["metadata"]["trace_id"],
        "session_id": None,
        "stream_id": None,
    }
    assert data["plan"]["question"] == ASKED["query"]
    assert data["plan"]["strategy"] == "hybrid"
    assert "".join(str(one["text"]) for name, one in heard if name == "token") == data["answer"]["answer"] == answers[0]
    assert [source["number"] for source in data["sources"]["sources"]] == [1]
    assert data["answer"]["citations"][0]["quote"] == "Five vacation days carry over to the next year."
    assert data["done"] == {"id": data["answer"]["id"]}


def test_a_stream_and_a_whole_answer_are_the_same(client: httpx2.Client, shelf: str) -> None:
    streamed = dict(told(client, {**ASKED, "folder": shelf}))["answer"]
    whole = client.post("/api/v1/query", json={**ASKED, "folder": shelf, "stream": False}).json()
    for answer in (streamed, whole):
        answer["metadata"] = {}
        answer["id"] = ""
    assert streamed == whole


def test_an_empty_result_still_sends_its_sources(client: httpx2.Client) -> None:
    heard = told(client, {**ASKED, "document_ids": ["none"]})
    assert [name for name, _ in heard] == ["start", "plan", "sources", "answer", "done"]
    assert dict(heard)["sources"] == {"sources": []}


def test_a_question_that_cannot_be_asked_is_refused_with_its_status(client: httpx2.Client) -> None:
    assert_problem(client.post("/api/v1/query", json={"query": " ", "stream": True}), 422, "empty_query")


def test_a_stream_that_fails_ends_with_a_problem(
    live_server: LiveServer, client: httpx2.Client, shelf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(ScriptedLLM):
        async def write(self, prompt):  # type: ignore[no-untyped-def]
            yield StreamPart("Five days. ")
            raise ZeroDivisionError("a secret")

    with speaking(live_server, Broken(Options())):
        heard = told(client, {**ASKED, "folder": shelf})
    assert [name for name, _ in heard] == ["start", "plan", "sources", "token", "error"]
    problem = dict(heard)["error"]
    assert (problem["status"], problem["code"]) == (500, "internal")
    assert "secret" not in str(problem)


def test_a_client_that_leaves_stops_the_model_within_a_second(
    live_server: LiveServer, client: httpx2.Client, shelf: str
) -> None:
    talker = Talker()
    with speaking(live_server, talker):
        with client.stream("POST", "/api/v1/query", json={**ASKED, "folder": shelf}) as response:
            for line in response.iter_lines():
                if line == "event: token":
                    break
        left = now()
        assert talker.wait("stopped") - left < 1


def test_a_disconnect_before_the_first_token_stops_the_model(live_server: LiveServer, shelf: str) -> None:
    talker = Talker(pause_s=60)
    with speaking(live_server, talker):
        with live_server.client() as client, client.stream("POST", "/api/v1/query", json={**ASKED, "folder": shelf}):
            talker.wait("began")
        left = now()
        assert talker.wait("stopped") - left < 1


def test_a_disconnect_without_streaming_stops_the_model(live_server: LiveServer, shelf: str) -> None:
    talker = Talker(pause_s=60)
    with speaking(live_server, talker):
        with live_server.client() as client, pytest.raises(httpx2.ReadTimeout):
            client.post("/api/v1/query", json={**ASKED, "folder": shelf, "stream": False}, timeout=1)
        left = now()
        assert talker.wait("stopped") - left < 1


def test_a_run_that_was_cut_off_leaves_a_trace(live_server: LiveServer, client: httpx2.Client, shelf: str) -> None:
    talker = Talker()
    with speaking(live_server, talker):
        with client.stream("POST", "/api/v1/query", json={**ASKED, "folder": shelf}):
            talker.wait("began")
        talker.wait("stopped")
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        newest = client.get("/api/v1/traces", params={"limit": 1}).json()["items"][0]
        if newest["error"]:
            break
        time.sleep(0.05)
    assert (newest["error"], newest["code"]) == ("cancelled", "cancelled")


def test_a_revoked_key_gets_no_more_events(
    live_server: LiveServer, shelf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authenticate, "RECHECK_INTERVAL_S", 0.05)
    talker = Talker()
    key, key_id = live_server.do(live_server.pincite.services.keys.create("local", "short", "reader", None))
    with speaking(live_server, talker), live_server.client(None) as client:
        client.headers["Authorization"] = f"Bearer {key}"
        with client.stream("POST", "/api/v1/query", json={**ASKED, "folder": shelf}) as response:
            talker.wait("began")
            live_server.do(live_server.pincite.services.keys.revoke("local", key_id))
            heard = events(response.iter_lines())
        assert heard[-1][0] == "error"
        assert heard[-1][1]["code"] == "unauthorized"
        talker.wait("stopped")


def sent(ask: Ask) -> list[bytes]:
    """What a stream sends to a client that stays."""

    async def run() -> list[bytes]:
        bodies: list[bytes] = []

        async def send(message: dict[str, object]) -> None:
            bodies.append(bytes(message.get("body", b"")))  # type: ignore[arg-type]

        async def receive() -> dict[str, object]:
            await asyncio.sleep(60)
            return {}

        scope = {"type": "http", "state": {"request_id": "r"}}
        telling = Stream(ask, request_id="r")
        telling.begin()
        await sse.AnswerStream(telling, asyncio.sleep(60))(scope, receive, send)  # type: ignore[arg-type]
        return bodies

    return asyncio.run(run())


def test_a_silent_stream_is_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "KEEP_ALIVE_S", 0.02)

    async def ask(listen: object) -> Answer:
        listen(Started("a_1", "1"))  # type: ignore[operator]
        listen(Planned(plan("q")))  # type: ignore[operator]
        await asyncio.sleep(0.1)
        listen(Token("word\n"))  # type: ignore[operator]
        raise ZeroDivisionError

    bodies = sent(ask)
    assert bodies.count(b": still here\n\n") >= 2
    assert b'event: token\ndata: {"text":"word\\n"}\n\n' in bodies
    assert bodies[-2].startswith(b"event: error\n")
    assert bodies[-1] == b""


def test_line_ends_inside_data_do_not_break_a_frame() -> None:
    framed = sse.sse_frame(StreamEvent.of(1, "token", {"text": "a\n\nevent: done\r\ndata: {}\u2028ü"}), numbered=False)
    assert framed.count(b"\n") == 3
    assert events(framed.decode().split("\n")) == [("token", {"text": "a\n\nevent: done\r\ndata: {}\u2028ü"})]
