"""Conversations over a WebSocket."""

import json
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from pincite.api.middleware import authenticate
from pincite.providers.scripted import Options, ScriptedLLM
from tests.api.live_server import LiveServer, assert_problem
from tests.api.models import Talker, speaking
from tests.steady_clock import now

TEXT = "# Leave\n\nFive vacation days carry over to the next year.\n"
ASKED = {"message": "How many vacation days carry over?", "folder": "ws"}


@pytest.fixture(scope="module", autouse=True)
def shelf(live_server: LiveServer) -> str:
    live_server.add("ws", leave=TEXT)
    return "ws"


def dial(
    live_server: LiveServer, key: str | None = None, *, path: str = "/api/v1/chat/ws", **headers: str
) -> ClientConnection:
    credentials = {"Authorization": f"Bearer {key or live_server.keys['reader']}"} if key != "" else {}
    url = live_server.url.replace("http://", "ws://") + path
    return connect(url, additional_headers={**credentials, **headers}, proxy=None, open_timeout=20)


def ask(socket: ClientConnection, **body: object) -> list[tuple[str, dict[str, Any]]]:
    socket.send(json.dumps(body))
    return hear(socket, "done", "error")


def hear(socket: ClientConnection, *until: str) -> list[tuple[str, dict[str, Any]]]:
    heard: list[tuple[str, dict[str, Any]]] = []
    while not heard or heard[-1][0] not in until:
        frame = json.loads(socket.recv(timeout=60))
        heard.append((frame["event"], frame["data"]))
    return heard


def test_several_questions_are_answered_over_one_socket(live_server: LiveServer, client: httpx2.Client) -> None:
    answers = ("Five vacation days carry over. [Source 1]",)
    with speaking(live_server, ScriptedLLM(Options(answers=answers))), dial(live_server) as socket:
        first = ask(socket, **ASKED)
        assert [name for name, _ in first] == ["start", "plan", "sources", *["token"] * 6, "answer", "done"]
        told = dict(first)
        assert (
            "".join(data["text"] for name, data in first if name == "token") == told["answer"]["answer"] == answers[0]
        )
        session = told["start"]["session_id"]
        second = dict(ask(socket, message="And how many carry over then?", session_id=session, folder="ws"))
        assert second["answer"]["session_id"] == session
    assert len(client.get(f"/api/v1/sessions/{session}").json()["turns"]) == 2


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        ("nonsense", "JSON object"),
        ("[]", "JSON object"),
        ("[" * 100_000, "JSON object"),
        (b"\x00\x01", "JSON object"),
        ('{"message": "q", "mesages": []}', "did you mean"),
        ('{"message": "\\ud800"}', "surrogate"),
        ('{"message": "q", "stop": 7}', "stop"),
        ('{"message": " "}', "empty"),
        ('{"message": "q", "session_id": "s_none"}', "no session"),
        ('{"cancel": true, "message": "q"}', "no option 'cancel'"),
    ],
)
def test_a_bad_frame_is_answered_and_the_socket_stays(live_server: LiveServer, frame: str | bytes, part: str) -> None:
    with dial(live_server) as socket:
        socket.send(frame)
        [(_, problem)] = hear(socket, "error")
        assert part in problem["detail"]
        assert {"status", "code", "request_id"} <= set(problem)
        assert ask(socket, **ASKED)[-1][0] == "done"


def test_a_frame_that_is_too_large_closes_the_socket(live_server: LiveServer) -> None:
    with dial(live_server) as socket:
        socket.send(json.dumps({"message": "x" * 2_000_000}))
        with pytest.raises(ConnectionClosed) as closed:
            hear(socket, "error")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_one_question_at_a_time_and_it_can_be_cancelled(live_server: LiveServer) -> None:
    talker = Talker(pause_s=0.001)
    with speaking(live_server, talker), dial(live_server) as socket:
        socket.send(json.dumps({"cancel": True}))  # nothing to cancel: nothing happens
        socket.send(json.dumps(ASKED))
        hear(socket, "token")
        socket.send(json.dumps(ASKED))
        assert hear(socket, "error")[-1][1]["code"] == "busy"
        asked = now()
        socket.send(json.dumps({"cancel": True}))
        assert hear(socket, "error")[-1][1]["code"] == "cancelled"
        assert talker.wait("stopped") - asked < 1
    with dial(live_server) as socket:
        assert ask(socket, **ASKED)[-1][0] == "done"


@pytest.mark.parametrize("resumable", [True, False])
def test_an_answer_cancelled_at_once_reports_it(live_server: LiveServer, resumable: bool) -> None:
    for _ in range(5):
        with dial(live_server) as socket:
            socket.send(json.dumps({**ASKED, "resumable": resumable}))
            socket.send(json.dumps({"cancel": True}))
            assert hear(socket, "error")[-1][1]["code"] == "cancelled"


@pytest.mark.parametrize("pause_s", [0.001, 60])
def test_a_socket_that_closes_stops_the_model_within_a_second(live_server: LiveServer, pause_s: float) -> None:
    talker = Talker(pause_s=pause_s)
    with speaking(live_server, talker):
        with dial(live_server) as socket:
            socket.send(json.dumps(ASKED))
            talker.wait("began")
        left = now()
        assert talker.wait("stopped") - left < 1


def test_a_resumable_answer_continues_without_its_socket(live_server: LiveServer, client: httpx2.Client) -> None:
    talker = Talker(pause_s=0.001)
    with speaking(live_server, talker):
        with dial(live_server) as socket:
            socket.send(json.dumps({**ASKED, "resumable": True}))
            frame = json.loads(socket.recv(timeout=60))
            assert (frame["id"], frame["event"]) == (1, "start")
            talker.wait("began")
        assert talker.stopped is None
        stream = frame["data"]["stream_id"]
        assert client.delete(f"/api/v1/chat/streams/{stream}").json()["cancelled"] is True
        talker.wait("stopped")


def refused(live_server: LiveServer, **more: Any) -> tuple[int, dict[str, Any]]:
    with pytest.raises(InvalidStatus) as raised:
        dial(live_server, **more)
    response = raised.value.response
    assert response.headers["content-type"] == "application/problem+json"
    problem = json.loads(response.body or b"")
    assert problem["request_id"] == response.headers["x-request-id"]
    return response.status_code, problem


def test_a_socket_requires_a_valid_key(live_server: LiveServer) -> None:
    assert refused(live_server, key="")[0] == 401
    assert refused(live_server, key="pc_wrong")[0] == 401
    assert refused(live_server, path=f"/api/v1/chat/ws?token={live_server.keys['reader']}")[0] == 401


def test_pages_of_other_hosts_may_not_connect(live_server: LiveServer) -> None:
    status, problem = refused(live_server, Origin="https://evil.example")
    assert (status, problem["code"]) == (403, "wrong_origin")
    assert refused(live_server, Origin="null")[0] == 403
    with dial(live_server, Origin=live_server.url) as socket:
        assert ask(socket, **ASKED)[-1][0] == "done"


def test_other_host_names_are_refused(live_server: LiveServer) -> None:
    port = urlsplit(live_server.url).port
    url = f"ws://evil.example:{port}/api/v1/chat/ws"
    headers = {"Authorization": f"Bearer {live_server.keys['reader']}"}
    with pytest.raises(InvalidStatus) as raised:
        connect(url, address=("127.0.0.1", port), additional_headers=headers, proxy=None)
    assert raised.value.response.status_code == 400


def test_revoking_a_key_closes_its_socket(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authenticate, "RECHECK_INTERVAL_S", 0.05)
    key, key_id = live_server.do(live_server.pincite.services.keys.create("local", "short", "reader", None))
    talker = Talker(pause_s=0.001)
    with speaking(live_server, talker), dial(live_server, key) as socket:
        socket.send(json.dumps(ASKED))
        talker.wait("began")
        live_server.do(live_server.pincite.services.keys.revoke("local", key_id))
        assert hear(socket, "error")[-1][1]["code"] == "unauthorized"
        with pytest.raises(ConnectionClosed) as closed:
            hear(socket, "never")
        talker.wait("stopped")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_a_plain_request_is_refused_with_426(client: httpx2.Client) -> None:
    response = client.get("/api/v1/chat/ws")
    assert_problem(response, 426, "upgrade_required")
    assert response.headers["upgrade"] == "websocket"
