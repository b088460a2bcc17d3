"""Sessions over HTTP: list, search, rename, remove; visible to their owner only."""

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem

PATH = "/api/v1/sessions"


@pytest.fixture
def session(client: httpx2.Client, folder: str) -> str:
    assert client.post("/api/v1/folders", json={"path": folder}).status_code == 201
    answer = client.post("/api/v1/chat", json={"message": f"Where is {folder}?", "folder": folder}).json()
    return str(answer["session_id"])


def test_a_session_is_listed_found_and_shown(client: httpx2.Client, session: str, folder: str) -> None:
    newest = client.get(PATH).json()["items"][0]
    assert (newest["id"], newest["title"], newest["turn_count"]) == (session, f"Where is {folder}?", 1)
    assert "turns" not in newest
    assert [one["id"] for one in client.get(PATH, params={"q": folder.upper()}).json()["items"]] == [session]
    assert client.get(PATH, params={"q": "unheard"}).json() == {"items": [], "next_cursor": None}
    shown = client.get(f"{PATH}/{session}").json()
    assert shown["turns"][0]["complete"] is True
    assert shown["turns"][0]["answer"]["session_id"] in (session, None)


def test_lists_go_on_where_they_stopped(client: httpx2.Client, folder: str) -> None:
    made = [client.post("/api/v1/chat", json={"message": f"{folder} {n}?"}).json()["session_id"] for n in range(3)]
    first = client.get(PATH, params={"q": folder, "limit": 2}).json()
    rest = client.get(PATH, params={"q": folder, "limit": 2, "cursor": first["next_cursor"]}).json()
    assert [one["id"] for one in first["items"] + rest["items"]] == made[::-1]
    assert rest["next_cursor"] is None
    assert client.get(PATH, params={"cursor": "nonsense"}).status_code == 422


def test_a_turn_is_replaced_with_the_later_ones(client: httpx2.Client, folder: str) -> None:
    first = client.post("/api/v1/chat", json={"message": f"Where is {folder}?"}).json()
    session = first["session_id"]
    second = client.post("/api/v1/chat", json={"message": "Who owns it?", "session_id": session}).json()
    client.post("/api/v1/chat", json={"message": "And since when?", "session_id": session}).raise_for_status()
    body = {"message": "Who rents it?", "session_id": session, "replaces": second["metadata"]["trace_id"]}
    client.post("/api/v1/chat", json=body).raise_for_status()
    shown = client.get(f"{PATH}/{session}").json()["turns"]
    assert [turn["question"] for turn in shown] == [f"Where is {folder}?", "Who rents it?"]
    assert_problem(client.post("/api/v1/chat", json=body), 404, "not_found")  # it is gone
    assert len(client.get(f"{PATH}/{session}").json()["turns"]) == 2
    del body["session_id"]
    assert_problem(client.post("/api/v1/chat", json=body), 422, "invalid")


def test_a_session_is_renamed_and_removed(client: httpx2.Client, session: str) -> None:
    assert client.patch(f"{PATH}/{session}", json={"title": "On leave"}).json()["title"] == "On leave"
    assert_problem(client.patch(f"{PATH}/{session}", json={"title": " "}), 422, "invalid")
    assert_problem(client.patch(f"{PATH}/{session}", json={"name": "x"}), 422, "invalid")
    assert client.delete(f"{PATH}/{session}").json() == {"id": session, "removed": True}
    for response in (
        client.get(f"{PATH}/{session}"),
        client.delete(f"{PATH}/{session}"),
        client.patch(f"{PATH}/{session}", json={"title": "x"}),
        client.post("/api/v1/chat", json={"message": "And?", "session_id": session}),
    ):
        assert_problem(response, 404, "not_found")


def test_removing_all_sessions_requires_confirmation(
    live_server: LiveServer, client: httpx2.Client, session: str
) -> None:
    with live_server.stranger() as stranger:
        assert_problem(stranger.delete(PATH), 422, "invalid")
        stranger.post("/api/v1/chat", json={"message": "Mine?"})
        assert stranger.delete(PATH, params={"all": True}).json() == {"removed": 1}
        assert stranger.get(PATH).json()["items"] == []
    assert client.get(f"{PATH}/{session}").status_code == 200


def test_a_session_is_visible_to_its_owner_only(live_server: LiveServer, client: httpx2.Client, session: str) -> None:
    with live_server.stranger() as stranger:
        assert session not in stranger.get(PATH, params={"limit": 200}).text
        assert_problem(stranger.get(f"{PATH}/{session}"), 404, "not_found")
        assert_problem(stranger.patch(f"{PATH}/{session}", json={"title": "x"}), 404, "not_found")
        assert_problem(stranger.delete(f"{PATH}/{session}"), 404, "not_found")
    assert client.get(f"{PATH}/{session}").status_code == 200
