"""Revoked access ends open streams, sockets, keys and logins."""

import json

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed

from pincite.api.paths import API
from pincite.api.streaming import revalidate
from tests.api.guests import PASSWORD, cut, guest, share, suspend
from tests.api.live_server import LiveServer, assert_problem, completed, events, upload
from tests.api.models import Talker, speaking
from tests.api.routes.test_websocket import dial, hear
from tests.steady_clock import now

PROMISED_S = 5.0
"""So long an open stream may go on after its rights are gone; searches and new requests know at once."""
ASKED = "How many vacation days carry over?"


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rights are looked at more often than usual; that the usual is often enough, the first test shows."""
    monkeypatch.setattr(revalidate, "RECHECK_INTERVAL_S", 0.2)


def test_a_stream_ends_when_its_reader_may_not_read_what_it_cites_and_leaves_nothing_of_it(
    live_server: LiveServer,
) -> None:
    with guest(live_server, "sally") as sally, live_server.client() as boss, speaking(live_server, Talker()):
        body = {"message": ASKED, "stream": True, "folder": "standing-sally"}
        with sally.client.stream("POST", f"{API}/chat", json=body) as response:
            code, after = cut(response.iter_lines(), lambda: share(boss, sally.document))
        assert (code, after < PROMISED_S) == ("rights_changed", True)
        [session] = sally.client.get(f"{API}/sessions").json()["items"]
        [turn] = sally.client.get(f"{API}/sessions/{session['id']}").json()["turns"]
        assert (turn["complete"], turn["answer"]) == (False, None)
        assert "word" not in json.dumps(turn)


@pytest.mark.usefixtures("watched")
def test_an_unstreamed_answer_is_refused_after_losing_access(live_server: LiveServer) -> None:
    talker = Talker()
    with guest(live_server, "simon") as simon, live_server.client() as boss, speaking(live_server, talker):
        told: list[httpx2.Response] = []
        body = {"query": ASKED, "folder": "standing-simon"}
        asking = live_server.later(lambda: told.append(simon.client.post(f"{API}/query", json=body)))
        talker.wait("began")
        share(boss, simon.document)
        asking.join(20)
        assert_problem(told[0], 403, "rights_changed")


def test_a_stream_cannot_be_resumed_after_losing_access(live_server: LiveServer) -> None:
    with guest(live_server, "susan") as susan, live_server.client() as boss:
        body = {"query": ASKED, "stream": True, "resumable": True, "folder": "standing-susan"}
        told = events(susan.client.post(f"{API}/query", json=body).text.splitlines())
        stream_id = told[0][1]["stream_id"]
        assert susan.client.get(f"{API}/chat/streams/{stream_id}").status_code == 200
        share(boss, susan.document)
        assert_problem(susan.client.get(f"{API}/chat/streams/{stream_id}"), 403, "rights_changed")
        share(boss, susan.document, "susan")
        assert susan.client.get(f"{API}/chat/streams/{stream_id}").status_code == 200


@pytest.mark.usefixtures("watched")
def test_a_socket_reports_changed_permissions_and_stays_open(live_server: LiveServer) -> None:
    with (
        guest(live_server, "wanda") as wanda,
        live_server.client() as boss,
        speaking(live_server, Talker()),
        dial(live_server, wanda.key) as socket,
    ):
        socket.send(json.dumps({"message": ASKED, "folder": "standing-wanda"}))
        hear(socket, "token")
        share(boss, wanda.document)
        began = now()
        (_, problem) = hear(socket, "error")[-1]
        assert (problem["code"], now() - began < PROMISED_S) == ("rights_changed", True)
        socket.send(json.dumps({"message": ASKED, "folder": "standing-wanda"}))
        assert hear(socket, "done", "error")[-1][1]["code"] == "not_found"  # no document of that folder may be read


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("removed", [False, True], ids=["suspended", "removed"])
def test_a_suspended_user_is_refused_on_every_route(live_server: LiveServer, removed: bool) -> None:
    name = "rita" if removed else "sven"
    browser = httpx2.Client(base_url=live_server.url, timeout=30)
    with (
        guest(live_server, name) as who,
        live_server.client() as boss,
        speaking(live_server, Talker()),
        browser,
        dial(live_server, who.key) as socket,
    ):
        browser.post(f"{API}/auth/login", json={"name": name, "password": PASSWORD}).raise_for_status()
        body = {"query": ASKED, "stream": True, "folder": f"standing-{name}"}
        resumable = {**body, "resumable": True}
        with who.client.stream("POST", f"{API}/query", json=resumable) as response:
            first = next(line for line in response.iter_lines() if line.startswith("data: "))
        stream_id = json.loads(first.removeprefix("data: "))["stream_id"]

        def shut_out() -> None:
            if removed:
                boss.delete(f"{API}/users/{name}").raise_for_status()
            else:
                suspend(boss, name)

        with browser.stream("POST", f"{API}/query", json=body, headers={"Origin": live_server.url}) as response:
            code, after = cut(response.iter_lines(), shut_out)
        assert (code, after < PROMISED_S) == ("unauthorized", True)
        with pytest.raises(ConnectionClosed):
            hear(socket, "nothing")
        for client in (who.client, browser):
            assert_problem(client.get(f"{API}/me"), 401, "unauthorized")
            assert_problem(client.get(f"{API}/chat/streams/{stream_id}"), 401, "unauthorized")
        again = browser.post(f"{API}/auth/login", json={"name": name, "password": PASSWORD})
        assert_problem(again, 401, "wrong_login")


def test_a_demoted_administrator_gets_no_more_events(live_server: LiveServer) -> None:
    with guest(live_server, "adam", "administrator") as adam, live_server.client() as boss:
        with adam.client.stream("GET", f"{API}/jobs/events") as response:
            lines = response.iter_lines()
            next(lines)
            boss.patch(f"{API}/users/adam", json={"role": "reader"}).raise_for_status()
            began = now()
            [*_, (name, problem)] = events(list(lines))
        assert (name, problem["code"], now() - began < PROMISED_S) == ("error", "unauthorized", True)
        assert_problem(adam.client.get(f"{API}/users"), 403, "not_allowed")


def test_permission_changes_apply_to_the_next_request_during_indexing(
    live_server: LiveServer,
) -> None:
    with guest(live_server, "greta") as greta, live_server.client() as boss:
        address = f"{API}/documents/{greta.document}"
        boss.post(f"{API}/groups", json={"name": "grebes"}).raise_for_status()
        boss.post(f"{API}/folders", json={"path": "greta-open", "access": {"users": ["greta"]}}).raise_for_status()
        member = f"{API}/groups/grebes/members/greta"

        def group_reads() -> None:
            boss.patch(address, json={"access": {"groups": ["grebes"]}}).raise_for_status()

        def file_in(folder: str) -> None:
            boss.patch(address, json={"folder": folder, "access": None}).raise_for_status()

        share(boss, greta.document)
        changes = (
            (lambda: share(boss, greta.document, "greta"), True),
            (lambda: share(boss, greta.document), False),
            (group_reads, False),
            (lambda: boss.put(member).raise_for_status(), True),
            (lambda: boss.delete(member).raise_for_status(), False),
            (lambda: file_in("greta-open"), True),
            (lambda: file_in("standing-greta"), False),
        )
        for number, (change, readable) in enumerate(changes * 3):
            upload(boss, f"{number}.md", f"# Vacation {number}\n\nVacation days carry over.\n", folder="greta-busy")
            change()
            found = greta.client.post(f"{API}/search", json={"query": ASKED}).json()["results"]
            assert {hit["metadata"]["document_id"] for hit in found} == ({greta.document} if readable else set())
            assert greta.client.get(f"{address}/file").status_code == (200 if readable else 404)
            assert len(greta.client.get(f"{API}/documents").json()["items"]) == readable
        assert {document["status"] for document in completed(boss, "greta-busy")} == {"completed"}
