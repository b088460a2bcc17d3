"""What is taken away from somebody is taken away from what they already hold: streams, sockets, keys, logins."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed

from pincite.api import API
from tests.api.door import Door, assert_problem, completed, events, upload
from tests.api.models import Talker, speaking
from tests.api.test_ws import dial, hear

PROMISED_S = 5.0
"""So long an open stream may go on after its rights are gone; searches and new requests know at once."""
PASSWORD = "a password long enough"
TEXT = "# Leave\n\nFive vacation days carry over to the next year.\n"
ASKED = "How many vacation days carry over?"


@dataclass(frozen=True)
class Guest:
    """Somebody with whom one document is shared, and what they come in with."""

    name: str
    key: str
    document: str
    client: httpx2.Client


@contextmanager
def guest(door: Door, name: str, role: str = "reader") -> Iterator[Guest]:
    """A new person who may read one document of the administrator's."""
    folder = f"standing-{name}"
    with door.client() as boss:
        boss.post(f"{API}/users", json={"name": name, "role": role, "password": PASSWORD})
        key = boss.post(f"{API}/keys", json={"name": name, "user": name, "role": role}).json()["key"]
        upload(boss, "leave.md", TEXT, folder=folder)
        [document] = completed(boss, folder)
        share(boss, document["id"], name)
    with httpx2.Client(base_url=door.url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as client:
        yield Guest(name, key, document["id"], client)


def share(boss: httpx2.Client, document_id: str, *names: str) -> None:
    boss.patch(f"{API}/documents/{document_id}", json={"access": {"users": list(names)}}).raise_for_status()


def suspend(boss: httpx2.Client, name: str) -> None:
    boss.patch(f"{API}/users/{name}", json={"suspended": True}).raise_for_status()


def cut(lines: Iterator[str], take_away: Any) -> tuple[str, float]:
    """Listen until the first word, take something away, and go on to the end: its last event's code, and how long it took."""
    heard: list[str] = []
    for line in lines:
        heard.append(line)
        if heard[-2:-1] == ["event: token"]:
            break
    take_away()
    taken = time.monotonic()
    heard.extend(lines)
    [*_, (name, problem)] = events(heard)
    assert name == "error"
    return str(problem["code"]), time.monotonic() - taken


def test_a_stream_ends_when_its_reader_may_not_read_what_it_cites_and_leaves_nothing_of_it(door: Door) -> None:
    with guest(door, "sally") as sally, door.client() as boss, speaking(door, Talker()):
        body = {"message": ASKED, "stream": True, "folder": "standing-sally"}
        with sally.client.stream("POST", f"{API}/chat", json=body) as response:
            code, after = cut(response.iter_lines(), lambda: share(boss, sally.document))
        assert (code, after < PROMISED_S) == ("rights_changed", True)
        [session] = sally.client.get(f"{API}/sessions").json()["items"]
        [turn] = sally.client.get(f"{API}/sessions/{session['id']}").json()["turns"]
        assert (turn["complete"], turn["answer"]) == (False, None)
        assert "word" not in json.dumps(turn)


def test_an_answer_that_is_wanted_whole_is_refused_when_it_may_not_be_read_any_more(door: Door) -> None:
    talker = Talker()
    with guest(door, "simon") as simon, door.client() as boss, speaking(door, talker):
        told: list[httpx2.Response] = []
        body = {"query": ASKED, "folder": "standing-simon"}
        asking = door.later(lambda: told.append(simon.client.post(f"{API}/query", json=body)))
        talker.wait("began")
        share(boss, simon.document)
        asking.join(20)
        assert_problem(told[0], 403, "rights_changed")


def test_a_resumable_stream_is_not_taken_up_by_whoever_may_not_read_it_any_more(door: Door) -> None:
    with guest(door, "susan") as susan, door.client() as boss:
        body = {"query": ASKED, "stream": True, "resumable": True, "folder": "standing-susan"}
        told = events(susan.client.post(f"{API}/query", json=body).text.splitlines())
        stream_id = told[0][1]["stream_id"]
        assert susan.client.get(f"{API}/chat/streams/{stream_id}").status_code == 200
        share(boss, susan.document)
        assert_problem(susan.client.get(f"{API}/chat/streams/{stream_id}"), 403, "rights_changed")
        share(boss, susan.document, "susan")
        assert susan.client.get(f"{API}/chat/streams/{stream_id}").status_code == 200


def test_a_socket_tells_that_rights_have_changed_and_stays_open(door: Door) -> None:
    with (
        guest(door, "wanda") as wanda,
        door.client() as boss,
        speaking(door, Talker()),
        dial(door, wanda.key) as socket,
    ):
        socket.send(json.dumps({"message": ASKED, "folder": "standing-wanda"}))
        hear(socket, "token")
        share(boss, wanda.document)
        began = time.monotonic()
        (_, problem) = hear(socket, "error")[-1]
        assert (problem["code"], time.monotonic() - began < PROMISED_S) == ("rights_changed", True)
        socket.send(json.dumps({"message": ASKED, "folder": "standing-wanda"}))
        assert hear(socket, "done", "error")[-1][0] == "done"  # nothing is found, which is an answer


@pytest.mark.parametrize("removed", [False, True], ids=["suspended", "removed"])
def test_whoever_is_shut_out_is_out_by_every_way_in(door: Door, removed: bool) -> None:
    name = "rita" if removed else "sven"
    browser = httpx2.Client(base_url=door.url, timeout=30)
    with (
        guest(door, name) as who,
        door.client() as boss,
        speaking(door, Talker()),
        browser,
        dial(door, who.key) as socket,
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

        with browser.stream("POST", f"{API}/query", json=body, headers={"Origin": door.url}) as response:
            code, after = cut(response.iter_lines(), shut_out)
        assert (code, after < PROMISED_S) == ("unauthorized", True)
        with pytest.raises(ConnectionClosed):
            hear(socket, "nothing")
        for client in (who.client, browser):
            assert_problem(client.get(f"{API}/me"), 401, "unauthorized")
            assert_problem(client.get(f"{API}/chat/streams/{stream_id}"), 401, "unauthorized")
        again = browser.post(f"{API}/auth/login", json={"name": name, "password": PASSWORD})
        assert_problem(again, 401, "wrong_login")


def test_whoever_is_no_administrator_any_more_hears_no_more_of_what_they_follow(door: Door) -> None:
    with guest(door, "adam", "administrator") as adam, door.client() as boss:
        with adam.client.stream("GET", f"{API}/jobs/events") as response:
            lines = response.iter_lines()
            next(lines)
            boss.patch(f"{API}/users/adam", json={"role": "reader"}).raise_for_status()
            began = time.monotonic()
            [*_, (name, problem)] = events(list(lines))
        assert (name, problem["code"], time.monotonic() - began < PROMISED_S) == ("error", "unauthorized", True)
        assert_problem(adam.client.get(f"{API}/users"), 403, "not_allowed")
