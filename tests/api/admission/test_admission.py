"""Quotas and admission control over HTTP."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from pincite.api.app import make_app
from tests.api.live_server import LiveServer, assert_problem, upload
from tests.api.models import Talker, speaking

API = "/api/v1"


@pytest.fixture(scope="module")
def strict(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server whose limits are soon reached; each test has people of its own."""
    limits = {"limits.at_once": 1, "limits.waiting": 3, "limits.waiting_per_user": 2, "limits.anonymous_per_minute": 30}
    data = tmp_path_factory.mktemp("strict") / "data"
    with LiveServer(data, **{"database.url": module_database_url}, **limits) as live_server:
        yield live_server


def person(live_server: LiveServer, name: str, role: str = "editor", **limits: int) -> httpx2.Client:
    """Somebody with limits of their own."""
    with live_server.client() as administrator:
        assert administrator.post(f"{API}/users", json={"name": name, "role": role}).status_code == 201
        given = administrator.patch(f"{API}/users/{name}", json={"limits": limits})
        assert given.status_code == 200, given.text
        key = administrator.post(f"{API}/keys", json={"name": "k", "user": name, "role": role}).json()["key"]
    return httpx2.Client(base_url=live_server.url, headers={"Authorization": f"Bearer {key}"}, timeout=30)


def at_once(count: int, call: Any) -> list[httpx2.Response]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))


def early_in_a_minute() -> None:
    """A budget that begins anew in the middle of a test would count twice."""
    if time.time() % 60 > 50:
        time.sleep(60 - time.time() % 60)


def test_requests_a_minute_are_limited_for_each_user(strict: LiveServer) -> None:
    early_in_a_minute()
    with person(strict, "rita", requests_per_minute=5) as rita, person(strict, "otto") as otto:
        answers = at_once(50, lambda _: rita.get(f"{API}/me"))
        assert [one.status_code for one in answers].count(200) == 5
        problem = assert_problem(rita.get(f"{API}/documents"), 429, "too_many_requests")
        assert "5 requests this minute" in problem["detail"]
        assert 1 <= int(rita.get(f"{API}/me").headers["retry-after"]) <= 60
        assert otto.get(f"{API}/me").status_code == 200


def test_requests_without_a_valid_key_are_limited_by_address(database_url: str, data: Path) -> None:
    early_in_a_minute()
    limits = {"database.url": database_url, "limits.anonymous_per_minute": 5}
    with LiveServer(data, **limits) as live_server, live_server.client(None) as anyone, live_server.client() as known:
        wrong = {"Authorization": "Bearer pc_wrong"}
        statuses = [anyone.get(f"{API}/me", headers=wrong).status_code for _ in range(7)]
        assert statuses == [401] * 5 + [429] * 2
        assert_problem(anyone.get(f"{API}/me"), 429, "too_many_anonymous")
        assert_problem(anyone.post(f"{API}/auth/login", json={}), 429, "too_many_anonymous")
        assert anyone.get(f"{API}/health/live").status_code == 200
        assert known.get(f"{API}/me").status_code == 200  # from the same address


def test_questions_a_minute_are_limited_and_searches_go_on(strict: LiveServer) -> None:
    early_in_a_minute()
    with person(strict, "quinn", questions_per_minute=2) as quinn:
        for _ in range(2):
            assert quinn.post(f"{API}/query", json={"query": "vacation days"}).status_code == 200
        assert_problem(quinn.post(f"{API}/chat", json={"message": "vacation days"}), 429, "too_many_questions")
        streamed = quinn.post(f"{API}/query", json={"query": "vacation days", "stream": True})
        assert_problem(streamed, 429, "too_many_questions")
        assert quinn.post(f"{API}/search", json={"query": "vacation days"}).status_code == 200


def test_of_fifty_concurrent_streams_only_the_limit_starts(database_url: str, data: Path) -> None:
    limits = {"limits.streams": 3, "limits.waiting": 100}
    with LiveServer(data, **{"database.url": database_url}, **limits) as live_server:
        live_server.add("f", leave="# Leave\n\nFive vacation days carry over.\n")
        talker, leave, begun = Talker(), threading.Event(), threading.Semaphore(0)
        asked = {"query": "vacation days", "stream": True, "folder": "f"}

        def stream(_: int) -> int:
            with live_server.client() as client, client.stream("POST", f"{API}/query", json=asked) as response:
                lines = response.iter_lines()  # held on to: it closes the response when it goes
                if response.status_code == 200:
                    next(lines)
                begun.release()
                leave.wait(90)
                return response.status_code

        with speaking(live_server, talker), ThreadPoolExecutor(50) as pool:
            streams = [pool.submit(stream, n) for n in range(50)]
            for _ in streams:
                assert begun.acquire(timeout=60)
            with live_server.client() as client:
                used = client.get(f"{API}/me/usage").json()["usage"]["streams"]
            leave.set()
            statuses = [one.result(90) for one in streams]
            assert (statuses.count(200), statuses.count(429), used) == (3, 47, 3)
            with live_server.client() as client:
                deadline = time.monotonic() + 60
                while client.get(f"{API}/me/usage").json()["usage"]["streams"] and time.monotonic() < deadline:
                    time.sleep(0.05)
                assert client.get(f"{API}/me/usage").json()["usage"]["streams"] == 0


def test_open_event_streams_per_user_are_limited(database_url: str, data: Path) -> None:
    few = {"database.url": database_url, "limits.streams": 2}
    with LiveServer(data, **few) as live_server, live_server.client() as client, contextlib.ExitStack() as stack:
        stack.enter_context(socket_of(live_server))
        with client.stream("GET", f"{API}/jobs/events") as events:
            lines = events.iter_lines()
            assert next(lines) == "event: snapshot"
            assert_problem(client.get(f"{API}/jobs/events"), 429, "too_many_streams")
            with pytest.raises(InvalidStatus, match="429"):
                stack.enter_context(socket_of(live_server))
        deadline = time.monotonic() + 10
        while True:  # who has left is not counted any more, once that is noticed
            with contextlib.suppress(InvalidStatus):
                stack.enter_context(socket_of(live_server))
                break
            assert time.monotonic() < deadline
            time.sleep(0.05)


def socket_of(live_server: LiveServer) -> ClientConnection:
    headers = {"Authorization": f"Bearer {live_server.keys['reader']}"}
    return connect(f"{live_server.url.replace('http', 'ws')}{API}/chat/ws", additional_headers=headers)


def test_of_fifty_concurrent_uploads_exactly_the_quota_is_accepted(live_server: LiveServer) -> None:
    with person(live_server, "uma", documents=4) as uma:
        answers = at_once(50, lambda n: upload(uma, f"{n}.md", f"# {n}\n\nText number {n}.\n"))
        assert [one.status_code for one in answers].count(202) == 4
        refused = [one for one in answers if one.status_code != 202]
        assert "4 is the limit" in assert_problem(refused[0], 409, "quota_documents")["detail"]
        assert {one.status_code for one in refused} == {409}
        assert len(uma.get(f"{API}/documents").json()["items"]) == 4
        usage = uma.get(f"{API}/me/usage").json()
        assert (usage["usage"]["documents"], usage["limits"]["documents"]) == (4, 4)
        assert usage["own"] == ["documents"]


def test_tokens_a_day_are_limited(strict: LiveServer) -> None:
    with person(strict, "tom", tokens_per_day=1500) as tom:
        strict.add("tokens", leave="# Leave\n\nFive vacation days carry over.\n")
        assert tom.post(f"{API}/query", json={"query": "vacation days"}).status_code == 200  # no model wrote it
        assert tom.get(f"{API}/me/usage").json()["usage"]["tokens_today"] == 0
        asked = {"query": "vacation days", "max_tokens": 2000}
        problem = assert_problem(tom.post(f"{API}/query", json=asked), 429, "quota_tokens")
        assert "0 of 1,500 tokens" in problem["detail"]


def test_requests_above_the_queue_limit_are_refused_at_once(strict: LiveServer) -> None:
    keys = {name: person(strict, name).headers["authorization"] for name in ("wanda", "will")}

    async def crowd() -> None:
        app = make_app(strict.pincite)
        turns = app.state.admission.search_queue  # its place is taken by hand: how fast a search is does not matter
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:

            async def search(who: str | None) -> httpx2.Response:
                headers = {"Authorization": keys[who]} if who else {}
                return await client.post(f"{API}/search", json={"query": "days"}, headers=headers)

            async with turns.slot("somebody"):
                waiting = [asyncio.create_task(search("wanda")) for _ in range(2)]
                await until(lambda: turns._waiting_count() == 2)
                refused = await search("wanda")
                assert_problem(refused, 429, "too_many_waiting")
                assert refused.headers["retry-after"] == "1"
                waiting.append(asyncio.create_task(search("will")))
                await until(lambda: turns.full)
                overloaded = await search(None)  # before anything is spent on who it is
                assert_problem(overloaded, 503, "overloaded")
                assert overloaded.headers["retry-after"] == "1"
                assert (await client.get(f"{API}/me", headers={"Authorization": keys["will"]})).status_code == 200
            assert [one.status_code for one in await asyncio.gather(*waiting)] == [200, 200, 200]
            assert (await search("will")).status_code == 200

    strict.do(crowd())


def test_a_writing_model_holds_no_slot(strict: LiveServer) -> None:
    strict.add("writing", leave="# Leave\n\nFive vacation days carry over.\n")

    async def ask() -> None:
        app = make_app(strict.pincite)
        client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost", timeout=30)
        client.headers["Authorization"] = f"Bearer {strict.keys['reader']}"
        asked = {"query": "vacation days", "folder": "writing"}
        async with client:
            talking = asyncio.create_task(client.post(f"{API}/query", json=asked))
            await until(lambda: talker.began is not None)
            assert not app.state.admission.question_queue._running
            talking.cancel()

    talker = Talker()
    with speaking(strict, talker):
        strict.do(ask())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def test_invalid_limits_are_refused(strict: LiveServer) -> None:
    with strict.client() as administrator, person(strict, "lou") as lou:
        for limits in ({"nosuch": 1}, {"streams": -1}, {"streams": "many"}):
            assert administrator.patch(f"{API}/users/lou", json={"limits": limits}).status_code == 422
        assert lou.patch(f"{API}/users/lou", json={"limits": {"streams": 0}}).status_code == 403
        administrator.patch(f"{API}/users/lou", json={"limits": {"streams": 5}})
        assert administrator.get(f"{API}/users/lou/usage").json()["limits"]["streams"] == 5
        administrator.patch(f"{API}/users/lou", json={"limits": {"streams": None}})
        assert administrator.get(f"{API}/users/lou/usage").json()["limits"]["streams"] == 64
