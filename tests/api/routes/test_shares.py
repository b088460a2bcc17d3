"""Share links over HTTP: one answer, with sources the reader may read."""

import json
import logging
import secrets
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from pincite.api.paths import API
from pincite.core.accounts.conversations import SHARE_LINK_PREFIX
from pincite.store.conversations.answer_json import GAP, WITHHELD
from tests.api.guests import Guest, guest, share, suspend
from tests.api.live_server import LiveServer, assert_problem

ASKED = "How many vacation days carry over?"
SAID = "Five vacation days carry over"


@pytest.fixture
def sharer(live_server: LiveServer) -> Iterator[Guest]:
    """Somebody who reads one document of the administrator's and has asked about it."""
    with guest(live_server, f"sharer-{secrets.token_hex(4)}", "editor") as who:
        yield who


@pytest.fixture
def other(live_server: LiveServer) -> Iterator[Guest]:
    """Somebody else, who reads another document."""
    with guest(live_server, f"other-{secrets.token_hex(4)}") as who:
        yield who


def ask(who: Guest, **more: Any) -> dict[str, Any]:
    body = {"message": ASKED, "folder": f"standing-{who.name}", **more}
    answer: dict[str, Any] = who.client.post(f"{API}/chat", json=body).json()
    assert SAID in answer["answer"]
    return answer


def link(who: Guest, answer: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = who.client.post(f"{API}/shares", json={"answer_id": answer["id"], **more})
    assert made.status_code == 201, made.text
    shared: dict[str, Any] = made.json()
    return shared


def opened(who: Guest, shared: dict[str, Any]) -> dict[str, Any]:
    response = who.client.get(f"{API}/shares/{shared['id']}")
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


def test_a_link_shows_the_answer_and_its_sources_only_to_whoever_may_read_them(
    live_server: LiveServer, sharer: Guest, other: Guest
) -> None:
    answer = ask(sharer)
    ask(sharer, session_id=answer["session_id"], message="And how many vacation days carry over then?")
    shared = link(sharer, answer)
    told = opened(other, shared)
    assert (told["answer"], told["question"], told["shared_by"]) == (answer["answer"], ASKED, sharer.name)
    [source] = told["sources"]
    assert (source["number"], source["document_id"], source["title"], source["snippet"]) == (1, "", "", "")
    assert {citation["quote"] for citation in told["citations"]} == {""}
    assert WITHHELD in told["warnings"]
    assert (told["session_id"], told["metadata"]["trace_id"], told["related_documents"]) == (None, "", [])
    for hidden in (sharer.document, answer["session_id"], "leave.md", "And how many"):
        assert hidden not in json.dumps(told)
    with live_server.client() as boss:
        share(boss, sharer.document, sharer.name, other.name)
    told = opened(other, shared)
    assert told["sources"] == answer["sources"]
    assert told["citations"] == answer["citations"]
    assert WITHHELD not in told["warnings"]


def told_to_the_log(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("pincite"))


def test_a_link_is_256_random_bits_of_its_own_kept_as_a_hash_and_in_no_log(
    live_server: LiveServer, sharer: Guest, other: Guest, caplog: pytest.LogCaptureFixture
) -> None:
    answer = ask(sharer)
    with caplog.at_level(logging.INFO):
        links = [link(sharer, answer)["id"] for _ in range(50)]
        opened(other, {"id": links[0]})
        give_up = time.monotonic() + 10
        while f"{API}/shares/sh_-" not in (logged := told_to_the_log(caplog)):  # written once the answer is out
            assert time.monotonic() < give_up
            time.sleep(0.01)
    assert len({one.removeprefix(SHARE_LINK_PREFIX) for one in links}) == 50
    assert all(
        one.startswith(SHARE_LINK_PREFIX) and len(one) == len(SHARE_LINK_PREFIX) + 43 for one in links
    )  # 32 bytes in base64
    assert not any(one in logged for one in links)
    listed = sharer.client.get(f"{API}/shares").text
    assert not any(one in listed for one in links)
    for one in links[:3]:
        for headers in ({"Authorization": f"Bearer {one}"}, {"Cookie": f"pincite_login={one}"}):
            assert httpx2.get(f"{live_server.url}{API}/me", headers=headers).status_code == 401
    assert_problem(other.client.get(f"{API}/shares/{other.key}"), 404, "not_found")


def test_a_share_link_requires_authentication(live_server: LiveServer, sharer: Guest, other: Guest) -> None:
    shared = link(sharer, ask(sharer))
    assert_problem(httpx2.get(f"{live_server.url}{API}/shares/{shared['id']}"), 401, "unauthorized")
    with live_server.client() as boss:
        suspend(boss, other.name)
    assert_problem(other.client.get(f"{API}/shares/{shared['id']}"), 401, "unauthorized")


def test_a_link_ends_with_its_removal_and_with_its_owner(live_server: LiveServer, sharer: Guest, other: Guest) -> None:
    answer = ask(sharer)
    first, second, third = (link(sharer, answer) for _ in range(3))
    never = assert_problem(other.client.get(f"{API}/shares/{SHARE_LINK_PREFIX}{'x' * 43}"), 404, "not_found")["detail"]
    assert_problem(other.client.delete(f"{API}/shares/{first['id']}"), 404, "not_found")
    assert sharer.client.delete(f"{API}/shares/{first['id']}").json() == {
        "reference": first["reference"],
        "removed": True,
    }
    assert assert_problem(other.client.get(f"{API}/shares/{first['id']}"), 404, "not_found")["detail"] == never
    with live_server.client() as boss:
        assert boss.delete(f"{API}/shares/{second['reference']}").status_code == 200  # an administrator may
        assert_problem(boss.get(f"{API}/shares/{third['reference']}"), 404, "not_found")  # and may not look
        assert [one["reference"] for one in sharer.client.get(f"{API}/shares").json()["items"]] == [third["reference"]]
        assert sharer.client.get(f"{API}/shares/{third['reference']}").json()["answer"] == answer["answer"]
        suspend(boss, sharer.name)
        assert assert_problem(other.client.get(f"{API}/shares/{third['id']}"), 404, "not_found")["detail"] == never
        boss.patch(f"{API}/users/{sharer.name}", json={"suspended": False}).raise_for_status()
    assert opened(other, third)["answer"] == answer["answer"]
    sharer.client.delete(f"{API}/sessions/{answer['session_id']}").raise_for_status()
    assert assert_problem(other.client.get(f"{API}/shares/{third['id']}"), 404, "not_found")["detail"] == never


def test_a_share_link_hides_removed_and_unreadable_sources(
    live_server: LiveServer, sharer: Guest, other: Guest
) -> None:
    shared = link(sharer, ask(sharer))
    with live_server.client() as boss:
        share(boss, sharer.document, other.name)
        assert SAID not in json.dumps(opened(other, shared))
        share(boss, sharer.document, other.name, sharer.name)
        assert SAID in json.dumps(opened(other, shared))
        boss.delete(f"{API}/documents/{sharer.document}").raise_for_status()
    told = opened(other, shared)
    assert GAP in told["answer"]
    assert SAID not in json.dumps(told)


def test_only_own_answers_can_be_shared_for_limited_time(sharer: Guest, other: Guest) -> None:
    answer = ask(sharer)
    foreign = other.client.post(f"{API}/shares", json={"answer_id": answer["id"]})
    missing = other.client.post(f"{API}/shares", json={"answer_id": "a_none"})
    assert_problem(foreign, 404, "not_found")
    assert foreign.json()["detail"].replace(answer["id"], "a_none") == missing.json()["detail"]
    assert_problem(
        sharer.client.post(f"{API}/shares", json={"answer_id": answer["id"], "expires_days": 31}), 422, "invalid"
    )
    assert link(sharer, answer, expires_days=1)["expires_at"] < link(sharer, answer)["expires_at"]
