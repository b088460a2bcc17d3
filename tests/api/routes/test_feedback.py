"""Feedback over HTTP: rate, replace, list, refuse."""

import httpx2

from pincite.api.paths import API
from tests.api.live_server import LiveServer, assert_problem


def test_a_rating_appears_in_the_session(live_server: LiveServer, client: httpx2.Client, folder: str) -> None:
    live_server.add(folder, leave="# Leave\n\nFive vacation days carry over.\n")
    asked = {"message": "How many vacation days carry over?", "folder": folder}
    answer = client.post(f"{API}/chat", json=asked).json()
    said = client.post(f"{API}/feedback", json={"answer_id": answer["id"], "rating": "down", "comment": " wrong "})
    assert said.status_code == 201
    assert (said.json()["rating"], said.json()["comment"]) == ("down", "wrong")
    assert said.json()["trace_id"] == answer["metadata"]["trace_id"]
    [turn] = client.get(f"{API}/sessions/{answer['session_id']}").json()["turns"]
    assert turn["rating"] == "down"
    newest = client.get(f"{API}/feedback", params={"limit": 1}).json()["items"][0]
    assert newest == said.json()


def test_an_unknown_answer_or_rating_is_refused(client: httpx2.Client) -> None:
    missing = {"answer_id": "a_nothing", "rating": "up"}
    assert_problem(client.post(f"{API}/feedback", json=missing), 404, "not_found")
    for wrong in ({"rating": "sideways"}, {"rating": "up", "comment": "x" * 2001}, {}):
        assert client.post(f"{API}/feedback", json={"answer_id": "a_x", **wrong}).status_code == 422
    assert client.get(f"{API}/feedback", params={"cursor": "forged"}).status_code == 422
