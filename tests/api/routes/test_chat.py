"""Conversations: stored sessions, messages kept by the client, and invalid bodies."""

import asyncio
import contextlib
import threading
import time

import httpx2
import pytest
from pydantic import ValidationError

from pincite.api.routes.chat import ChatBody
from pincite.core.accounts.access import Scope
from pincite.core.accounts.conversations import Session
from pincite.core.query.question import Exchange, Question, Sampling
from pincite.providers.scripted import Options, ScriptedLLM
from tests.api.live_server import LiveServer, assert_problem, events
from tests.api.models import Talker, speaking
from tests.steady_clock import now

TEXT = "# Leave\n\nFive vacation days carry over to the next year. They lapse at the end of March.\n"
ASKED = "How many vacation days carry over?"


@pytest.fixture(scope="module")
def shelf(live_server: LiveServer) -> str:
    live_server.add("chat", leave=TEXT)
    return "chat"


def chat(client: httpx2.Client, **body: object) -> dict[str, object]:
    response = client.post("/api/v1/chat", json=body)
    assert response.status_code == 200, response.text
    found: dict[str, object] = response.json()
    return found


def sessions(client: httpx2.Client) -> int:
    return len(client.get("/api/v1/sessions", params={"limit": 200}).json()["items"])


def test_a_first_message_begins_a_session_that_the_next_goes_on_with(client: httpx2.Client, shelf: str) -> None:
    first = chat(client, message=ASKED, folder=shelf)
    assert str(first["session_id"]).startswith("s_")
    second = chat(client, message="When do they lapse?", session_id=first["session_id"], folder=shelf)
    assert second["session_id"] == first["session_id"]
    kept = client.get(f"/api/v1/sessions/{first['session_id']}").json()
    assert [turn["question"] for turn in kept["turns"]] == [ASKED, "When do they lapse?"]
    assert [turn["answer"]["id"] for turn in kept["turns"]] == [first["id"], second["id"]]
    assert kept["turns"][0]["answer"]["answer"] == first["answer"] == kept["turns"][0]["text"]
    assert kept["title"] == ASKED


def test_messages_are_a_conversation_that_the_client_keeps(
    live_server: LiveServer, client: httpx2.Client, shelf: str
) -> None:
    seen = []

    class Listening(ScriptedLLM):
        def write(self, prompt):  # type: ignore[no-untyped-def]
            seen.append(prompt)
            return super().write(prompt)

    before = sessions(client)
    with speaking(live_server, Listening(Options())):
        answer = chat(
            client,
            folder=shelf,
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Is there a rule on vacation?"},
                {"role": "assistant", "content": "Yes, there is."},
                {"role": "user", "content": ASKED},
            ],
        )
    assert answer["session_id"] is None
    assert sessions(client) == before
    written = "\n".join(message.content for message in seen[-1].messages)
    assert "Be brief." in written
    assert "Yes, there is." in written


def test_a_stream_starts_with_its_session(client: httpx2.Client, shelf: str) -> None:
    with client.stream("POST", "/api/v1/chat", json={"message": ASKED, "folder": shelf, "stream": True}) as response:
        heard = dict(events(response.iter_lines()))
    assert heard["start"]["session_id"] == heard["answer"]["session_id"]
    assert str(heard["start"]["session_id"]).startswith("s_")


def test_a_resumable_stream_starts_with_its_stream_id(client: httpx2.Client, shelf: str) -> None:
    body = {"message": ASKED, "folder": shelf, "stream": True, "resumable": True}
    with client.stream("POST", "/api/v1/chat", json=body) as response:
        heard = dict(events(response.iter_lines()))
    assert str(heard["start"]["stream_id"]).startswith("st_")
    again = client.get(f"/api/v1/chat/streams/{heard['start']['stream_id']}")
    assert dict(events(again.text.splitlines())) == heard


def test_an_interrupted_answer_is_stored_as_incomplete(
    live_server: LiveServer, client: httpx2.Client, shelf: str
) -> None:
    session = chat(client, message=ASKED, folder=shelf)["session_id"]
    talker = Talker(pause_s=0.001)
    body = {"message": "When do vacation days lapse?", "session_id": session, "folder": shelf, "stream": True}
    with speaking(live_server, talker):
        with client.stream("POST", "/api/v1/chat", json=body) as response:
            for line in response.iter_lines():
                if line == "event: token":
                    break
        talker.wait("stopped")
    while not (turns := client.get(f"/api/v1/sessions/{session}").json()["turns"])[-1]["text"] or len(turns) < 2:
        pass
    assert turns[1]["question"] == "When do vacation days lapse?"
    assert (turns[1]["complete"], turns[1]["answer"]) == (False, None)
    assert turns[1]["text"].startswith("word")


def test_a_question_that_cannot_be_asked_leaves_no_session(client: httpx2.Client) -> None:
    before = sessions(client)
    assert_problem(client.post("/api/v1/chat", json={"message": " "}), 422, "empty_query")
    assert_problem(client.post("/api/v1/chat", json={"message": " ", "stream": True}), 422, "empty_query")
    assert sessions(client) == before


@pytest.mark.parametrize("where", ["scope", "recent"])
def test_a_disconnect_before_the_first_turn_leaves_no_session(
    live_server: LiveServer, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    reached = threading.Event()
    sessions_, create = live_server.pincite.services.sessions, live_server.pincite.services.sessions.create
    made: list[str] = []

    async def forever(*_: object, **__: object) -> object:
        reached.set()
        return await asyncio.Event().wait()

    async def created(scope: Scope) -> Session:
        made.append((session := await create(scope)).id)
        monkeypatch.setattr(
            *((live_server.pincite.services.library, "scope_now") if where == "scope" else (sessions_, "recent")),
            forever,
        )
        return session

    monkeypatch.setattr(sessions_, "create", created)
    with contextlib.suppress(httpx2.TimeoutException):
        client.post("/api/v1/chat", json={"message": ASKED}, timeout=1)
    assert reached.wait(10)
    monkeypatch.undo()
    deadline = time.monotonic() + 10
    while client.get(f"/api/v1/sessions/{made[0]}").status_code != 404:
        assert time.monotonic() < deadline


def test_any_earlier_messages_are_accepted_quickly(client: httpx2.Client, shelf: str) -> None:
    for before in (
        [("user", "Who wrote it?"), ("assistant", "A-" * 12_000)],
        [("user", ""), ("assistant", " ")],
        [("user", " "), ("user", "Sure! " * 10_000)],
    ):
        for asked in ("What did he do?", "And the canteen?", "And in summer?"):
            said = [*before, ("user", asked)]
            started = now()
            chat(client, folder=shelf, messages=[{"role": role, "content": text} for role, text in said])
            assert now() - started < 3


def test_a_session_of_another_user_is_not_found(live_server: LiveServer, client: httpx2.Client, shelf: str) -> None:
    session = chat(client, message=ASKED, folder=shelf)["session_id"]
    with live_server.stranger() as stranger:
        for stream in (False, True):
            body = {"message": "What was said?", "session_id": session, "stream": stream}
            assert_problem(stranger.post("/api/v1/chat", json=body), 404, "not_found")
    assert_problem(client.post("/api/v1/chat", json={"message": ASKED, "session_id": "s_none"}), 404, "not_found")
    assert len(client.get(f"/api/v1/sessions/{session}").json()["turns"]) == 1


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({}, "either 'message' or 'messages'"),
        ({"message": "q", "messages": [{"role": "user", "content": "q"}]}, "either 'message' or 'messages'"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "assistant", "content": "a"}]}, "must have the role user"),
        ({"messages": [{"role": "user", "content": "q"}], "session_id": "s"}, "send 'message' with a session"),
        ({"messages": [{"role": "robot", "content": "q"}]}, "role"),
        ({"messages": [{"role": "user", "content": "q", "name": "x"}]}, "name"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "content"),
        ({"message": "q", "mode": "robot"}, "mode"),
        ({"message": "q", "images": ["data:"] * 9}, "images"),
        ({"message": "q", "sesion_id": "s"}, "did you mean 'session_id'"),
        ({"message": "q", "session_id": "a\0b"}, "session_id"),
        (
            {"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "q"}], "system_prompt": "b"},
            "once",
        ),
    ],
)
def test_invalid_conversations_are_refused(body: dict[str, object], part: str) -> None:
    with pytest.raises(ValidationError) as raised:
        ChatBody.model_validate(body)
    first = raised.value.errors()[0]
    assert part in f"{first['loc']}: {first['msg']}"


def test_messages_become_turns() -> None:
    said = [
        ("assistant", "Hello!"),
        ("user", "one"),
        ("user", "two"),
        ("user", " "),
        ("assistant", ""),
        ("assistant", "2a"),
        ("assistant", "2b"),
        ("system", "S"),
        ("user", "three"),
    ]
    body = ChatBody.model_validate({"messages": [{"role": role, "content": text} for role, text in said], "top_k": 3})
    assert body.question() == Question(
        "three",
        top_k=3,
        sampling=Sampling(system_prompt="S"),
        conversation=(Exchange("one", "one", ""), Exchange("two", "two", "2a\n\n2b")),
    )
