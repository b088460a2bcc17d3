"""Streams of answers: listeners, resuming, abandonment."""

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from pincite.api.streaming import answer_streams
from pincite.api.streaming.answer_streams import Stream, StreamEvent, Streams
from pincite.core.query.answer import Answer
from pincite.core.run import Event, Planned, Started, Token
from pincite.errors import Conflict, Invalid, NotAllowed, NotFound, OverBudget
from pincite.providers.scripted import Options, ScriptedLLM
from tests.api.live_server import LiveServer, assert_problem, events
from tests.api.models import Talker, speaking
from tests.builders import plan
from tests.steady_clock import now

TEXT = "# Leave\n\nFive vacation days carry over to the next year.\n"
ASKED = {"query": "How many vacation days carry over?", "stream": True, "resumable": True}
Listen = Callable[[Event], None]


class Speaker:
    """Says a word whenever it is allowed to."""

    def __init__(self) -> None:
        self.go = asyncio.Semaphore(0)
        self.stopped = asyncio.Event()

    async def ask(self, listen: Listen) -> Answer:
        listen(Started("a_1", "t1"))
        listen(Planned(plan("q")))
        try:
            while True:
                await self.go.acquire()
                listen(Token("word "))
        finally:
            self.stopped.set()


def names(told: list[StreamEvent]) -> list[tuple[int, str]]:
    return [(one.number, one.event) for one in told]


async def hear(stream: Stream, after: int, count: int) -> list[StreamEvent]:
    heard: list[StreamEvent] = []
    async with stream.listening():
        async for told in stream.follow(after, every_s=5):
            assert told is not None
            heard.append(told)
            if len(heard) == count:
                break
    return heard


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 20))


def test_several_listeners_follow_one_stream_from_any_event() -> None:
    async def work() -> None:
        speaker, kept = Speaker(), Streams()
        stream = kept.open("ada", speaker.ask, "r", resumable=True)
        first = asyncio.create_task(hear(stream, 0, 4))
        second = asyncio.create_task(hear(stream, 2, 2))
        speaker.go.release()
        speaker.go.release()
        assert names(await first) == [(1, "start"), (2, "plan"), (3, "token"), (4, "token")]
        assert names(await second) == [(3, "token"), (4, "token")]
        assert names(await hear(kept.get("ada", stream.id or ""), 3, 1)) == [(4, "token")]
        assert '"stream_id":"st_' in (await hear(stream, 0, 1))[0].data
        await kept.close()
        assert speaker.stopped.is_set()

    run(work())


def test_an_abandoned_stream_is_cancelled_after_its_timeout() -> None:
    async def work() -> None:
        speaker, kept = Speaker(), Streams(abandon_timeout_s=0.05)
        stream = kept.open("ada", speaker.ask, "r", resumable=True)
        await hear(stream, 0, 2)
        assert not stream.ended
        await speaker.stopped.wait()
        [last] = await hear(stream, 2, 1)
        assert last.event == "error"
        assert '"code":"abandoned"' in last.data

    run(work())


def test_a_stream_resumed_in_time_continues() -> None:
    async def work() -> None:
        speaker, kept = Speaker(), Streams(abandon_timeout_s=0.1)
        stream = kept.open("ada", speaker.ask, "r", resumable=True)
        await hear(stream, 0, 2)
        listening = asyncio.create_task(hear(stream, 2, 1))
        await asyncio.sleep(0.3)
        assert not stream.ended
        speaker.go.release()
        assert names(await listening) == [(3, "token")]
        await kept.close()

    run(work())


def test_a_stream_that_is_not_resumable_ends_with_its_listener() -> None:
    async def work() -> None:
        speaker = Speaker()
        stream = Streams().open("ada", speaker.ask, "r", resumable=False)
        await hear(stream, 0, 2)
        assert stream.ended
        assert speaker.stopped.is_set()

    run(work())


def test_an_ended_stream_is_retained_for_a_while() -> None:
    async def work() -> None:
        kept = Streams(retention_s=0.05)
        speaker = Speaker()
        stream = kept.open("ada", speaker.ask, "r", resumable=True)
        await hear(stream, 0, 2)
        await stream.cancel()
        assert names(await hear(kept.get("ada", stream.id or ""), 2, 1)) == [(3, "error")]
        while True:
            try:
                kept.get("ada", stream.id or "")
            except NotFound:
                break
            await asyncio.sleep(0.01)

    run(work())


def test_a_stream_is_visible_to_its_owner_only() -> None:
    async def work() -> None:
        kept = Streams()
        stream = kept.open("ada", Speaker().ask, "r", resumable=True)
        with pytest.raises(NotFound) as foreign:
            kept.get("bob", stream.id or "")
        with pytest.raises(NotFound) as missing:
            kept.get("bob", "st_nothing")
        assert str(foreign.value).replace(stream.id or "", "X") == str(missing.value).replace("st_nothing", "X")
        with pytest.raises(NotFound):
            await kept.cancel("bob", stream.id or "")
        assert await kept.cancel("ada", stream.id or "")
        with pytest.raises(NotFound):
            kept.get("ada", stream.id or "")

    run(work())


def test_a_slow_listener_gets_only_the_error_after_losing_access() -> None:
    async def ask(listen: Listen) -> Answer:
        listen(Started("a_1", "t1"))
        listen(Planned(plan("q")))
        listen(Token("secret"))
        raise NotAllowed("no more", code="rights_changed")

    async def work() -> None:
        stream = Stream(ask, request_id="r")
        stream.begin()
        await asyncio.wait({stream._task})  # type: ignore[arg-type]
        [last] = await hear(stream, 0, 5)
        assert (last.number, last.event) == (4, "error")
        assert '"code":"rights_changed"' in last.data

    run(work())


def test_an_error_before_the_first_event_is_raised() -> None:
    async def refuse(_listen: Listen) -> Answer:
        raise Invalid("no")

    async def work() -> None:
        stream = Stream(refuse, request_id="r")
        stream.begin()
        with pytest.raises(Invalid):
            await hear(stream, 0, 1)

    run(work())


@pytest.mark.parametrize("resumable", [True, False])
def test_a_stream_cancelled_before_its_first_step_reports_it_and_is_removed(resumable: bool) -> None:
    async def work() -> None:
        kept = Streams(retention_s=0)
        stream = kept.open("ada", Speaker().ask, "r", resumable=resumable)
        assert await stream.cancel()
        with pytest.raises(Conflict, match="cancelled"):
            await hear(stream, 0, 1)
        await asyncio.sleep(0.01)
        with pytest.raises(NotFound):
            kept.get("ada", stream.id or "")

    run(work())


def test_the_number_of_streams_is_limited_and_ended_ones_are_removed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_streams, "MAX_STREAMS_PER_USER", 2)
    monkeypatch.setattr(answer_streams, "MAX_STREAMS", 3)

    async def work() -> None:
        kept = Streams()
        first, _ = (kept.open("ada", Speaker().ask, "r", resumable=True) for _ in range(2))
        with pytest.raises(OverBudget, match="cancel one"):
            kept.open("ada", Speaker().ask, "r", resumable=True)
        await first.cancel()
        kept.open("ada", Speaker().ask, "r", resumable=True)
        kept.open("bob", Speaker().ask, "r", resumable=True)
        with pytest.raises(OverBudget):
            kept.open("bob", Speaker().ask, "r", resumable=True)
        await kept.close()

    run(work())


def test_an_endless_stream_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_streams, "MAX_STREAM_BYTES", 2000)
    said = 0

    async def endless(listen: Listen) -> Answer:
        listen(Started("a_1", "t1"))
        listen(Planned(plan("q")))
        nonlocal said
        while True:
            listen(Token("ü" * 100))
            said += 1
            await asyncio.sleep(0)

    async def work() -> None:
        stream = Stream(endless, request_id="r")
        stream.begin()
        heard = await hear(stream, 0, 10_000)
        assert heard[-1].event == "error"
        assert '"code":"stream_too_long"' in heard[-1].data
        assert said <= 10  # a letter may have more than one byte

    run(work())


# --- over HTTP ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shelf(live_server: LiveServer) -> str:
    live_server.add("streams", leave=TEXT)
    return "streams"


def begin(client: httpx2.Client, body: dict[str, object], until: str) -> tuple[str, list[str]]:
    """Listen until an event comes, then leave; the stream's id, and the lines heard."""
    lines: list[str] = []
    with client.stream("POST", "/api/v1/query", json=body) as response:
        for line in response.iter_lines():
            lines.append(line)
            if lines[-2:-1] == [f"event: {until}"]:
                break
    return str(events(lines)[0][1]["stream_id"]), lines


def test_a_stream_is_resumed_after_the_last_event(live_server: LiveServer, client: httpx2.Client, shelf: str) -> None:
    answers = ("Five vacation days carry over. [Source 1] They lapse in March. [Source 1]",)
    with speaking(live_server, ScriptedLLM(Options(answers=answers, delay_s=0.05))):
        stream_id, lines = begin(client, {**ASKED, "folder": shelf}, "token")
        last = [line for line in lines if line.startswith("id: ")][-1].removeprefix("id: ")
        with client.stream("GET", f"/api/v1/chat/streams/{stream_id}", headers={"Last-Event-ID": last}) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            rest = list(response.iter_lines())
    heard = events([*lines, *rest])
    numbers = [int(line.removeprefix("id: ")) for line in [*lines, *rest] if line.startswith("id: ")]
    assert numbers == list(range(1, len(heard) + 1))
    assert [name for name, _ in heard][-2:] == ["answer", "done"]
    assert dict(heard)["answer"]["stream_id"] == stream_id
    assert "".join(str(data["text"]) for name, data in heard if name == "token") == dict(heard)["answer"]["answer"]

    again = client.get(f"/api/v1/chat/streams/{stream_id}")
    assert events(again.text.splitlines()) == heard
    done = client.get(f"/api/v1/chat/streams/{stream_id}", headers={"Last-Event-ID": str(numbers[-1])})
    assert done.status_code == 204
    for wrong in ("x", "-1", str(numbers[-1] + 1), "9" * 20, "²"):
        response = client.get(f"/api/v1/chat/streams/{stream_id}", headers={"Last-Event-ID": wrong.encode()})
        assert_problem(response, 422, "invalid")


def test_cancelling_stops_the_model_within_a_second(live_server: LiveServer, client: httpx2.Client, shelf: str) -> None:
    talker = Talker(pause_s=0.001)
    with speaking(live_server, talker):
        stream_id, _ = begin(client, {**ASKED, "folder": shelf}, "token")
        assert talker.stopped is None
        asked = now()
        assert client.delete(f"/api/v1/chat/streams/{stream_id}").json() == {"id": stream_id, "cancelled": True}
        assert talker.wait("stopped") - asked < 1
    assert_problem(client.get(f"/api/v1/chat/streams/{stream_id}"), 404, "not_found")
    assert_problem(client.delete(f"/api/v1/chat/streams/{stream_id}"), 404, "not_found")


def test_somebody_elses_stream_is_missing(live_server: LiveServer, client: httpx2.Client, shelf: str) -> None:
    talker = Talker(pause_s=0.001)
    with speaking(live_server, talker), live_server.stranger() as stranger:
        stream_id, _ = begin(client, {**ASKED, "folder": shelf}, "token")
        assert_problem(stranger.get(f"/api/v1/chat/streams/{stream_id}"), 404, "not_found")
        assert_problem(stranger.delete(f"/api/v1/chat/streams/{stream_id}"), 404, "not_found")
        assert talker.stopped is None
        client.delete(f"/api/v1/chat/streams/{stream_id}")


def test_a_stream_that_failed_before_its_first_event_reports_the_error_later(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_streams, "secrets", SimpleNamespace(token_urlsafe=lambda _: "known"))
    assert_problem(client.post("/api/v1/query", json={**ASKED, "query": " "}), 422, "empty_query")
    for headers in ({}, {"Last-Event-ID": "0"}):
        assert_problem(client.get("/api/v1/chat/streams/st_known", headers=headers), 422, "empty_query")


def test_only_a_stream_can_be_resumable(client: httpx2.Client) -> None:
    problem = assert_problem(client.post("/api/v1/query", json={**ASKED, "stream": False}), 422, "invalid")
    assert "stream: true" in problem["detail"]


def test_a_disconnect_at_the_moment_of_an_event_counts() -> None:
    async def go() -> None:
        speaker = Speaker()
        stream = Stream(speaker.ask, request_id="r")
        stream.begin()

        async def listen() -> None:
            async with stream.listening():
                async for _ in stream.follow(2, every_s=60):
                    pass

        listening = asyncio.create_task(listen())
        await asyncio.sleep(0.05)
        stream._on_event(Token("word "))  # both before the listener has a turn
        listening.cancel()
        await asyncio.wait({listening}, timeout=30)
        assert listening.cancelled()
        assert speaker.stopped.is_set()

    asyncio.run(go())
