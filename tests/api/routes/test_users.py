"""Users, groups and sharing over HTTP."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem, completed, upload

API = "/api/v1"


@pytest.fixture
def bob(live_server: LiveServer, client: httpx2.Client) -> Iterator[tuple[str, httpx2.Client]]:
    """An editor nobody has shared anything with."""
    name = f"bob {secrets.token_hex(4)}"
    client.post(f"{API}/users", json={"name": name, "role": "editor"})
    key = client.post(f"{API}/keys", json={"name": "k", "user": name, "role": "editor"}).json()["key"]
    with httpx2.Client(base_url=live_server.url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as own:
        yield name, own


def test_a_user_is_added_changed_and_removed(client: httpx2.Client) -> None:
    name = f"Anna {secrets.token_hex(4)}"
    made = client.post(f"{API}/users", json={"name": name, "role": "editor"})
    assert made.status_code == 201
    user = made.json()
    assert set(user) == {"id", "name", "role", "groups", "suspended", "documents", "created_at"}
    assert (user["id"], user["role"], user["suspended"], user["documents"]) == (name, "editor", False, 0)
    assert_problem(client.post(f"{API}/users", json={"name": name.upper()}), 409, "conflict")
    changed = client.patch(f"{API}/users/{name}", json={"role": "reader", "suspended": True}).json()
    assert (changed["role"], changed["suspended"]) == ("reader", True)
    assert name in {one["name"] for one in client.get(f"{API}/users").json()["items"]}
    assert client.delete(f"{API}/users/{name}").json() == {"id": name, "removed": True}
    assert_problem(client.get(f"{API}/users/{name}"), 404, "not_found")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "a:b"},
        {"name": "n", "role": "owner"},
        {"name": "n", "role": "metrics"},
        {"name": "n", "is_admin": True},
        {"name": "n", "password": "short"},
        {"name": "a\0b"},
    ],
)
def test_invalid_users_are_refused(client: httpx2.Client, body: dict[str, object]) -> None:
    assert client.post(f"{API}/users", json=body).status_code == 422
    assert_problem(client.get(f"{API}/users/n"), 404, "not_found")


def test_a_group_has_members(client: httpx2.Client, bob: tuple[str, httpx2.Client]) -> None:
    name, own = bob
    group = f"staff {secrets.token_hex(4)}"
    made = client.post(f"{API}/groups", json={"name": group}).json()
    assert (made["name"], made["members"]) == (group, [])
    assert client.put(f"{API}/groups/{group}/members/{name}").json()["members"] == [name]
    assert own.get(f"{API}/me").json() == {"id": name, "name": name, "role": "editor", "groups": [group]}
    assert client.get(f"{API}/groups/{made['id']}").json()["members"] == [name]
    assert client.delete(f"{API}/groups/{group}/members/{name}").json()["members"] == []
    assert_problem(client.put(f"{API}/groups/{group}/members/nobody"), 404, "not_found")
    assert_problem(client.post(f"{API}/groups", json={"name": group}), 409, "conflict")
    assert client.delete(f"{API}/groups/{group}").json()["removed"] is True
    assert_problem(client.get(f"{API}/groups/{group}"), 404, "not_found")


def test_a_document_is_shared_and_unshared(client: httpx2.Client, bob: tuple[str, httpx2.Client], folder: str) -> None:
    name, own = bob
    upload(client, "a.md", "# Heron\n\nThe heron waits.\n", folder=folder)
    [document] = completed(client, folder)
    address = f"{API}/documents/{document['id']}"
    assert document["access"] == {"owner": "local", "users": [], "groups": [], "everyone": False, "roles": []}
    shared = client.patch(address, json={"access": {"users": [name]}}).json()
    assert shared["access"]["users"] == [name]
    assert own.get(address).json()["title"] == "Heron"
    answer = own.post(f"{API}/query", json={"query": "What does the heron do?"}).json()
    assert {source["document_id"] for source in answer["sources"]} == {document["id"]}
    assert_problem(own.delete(address), 403, "not_allowed")
    assert_problem(client.patch(address, json={"access": {"users": ["nobody here"]}}), 422, "no_user")
    assert_problem(client.patch(address, json={"access": {"owner": name}}), 422, "invalid")
    client.patch(address, json={"access": {}})
    assert_problem(own.get(address), 404, "not_found")
    assert own.post(f"{API}/search", json={"query": "heron"}).json()["results"] == []


def test_sessions_hide_quotes_after_losing_access(
    client: httpx2.Client, bob: tuple[str, httpx2.Client], folder: str
) -> None:
    name, own = bob
    upload(client, "a.md", "# Otter\n\nThe otter sleeps under the zanzibar bridge.\n", folder=folder)
    [document] = completed(client, folder)
    address = f"{API}/documents/{document['id']}"
    client.patch(address, json={"access": {"users": [name]}})
    answer = own.post(f"{API}/chat", json={"message": "Where does the otter sleep?"}).json()
    session = f"{API}/sessions/{answer['session_id']}"
    assert "zanzibar" in own.get(session).text
    client.patch(address, json={"access": None})
    assert "zanzibar" not in own.get(session).text
    assert own.get(session).json()["turns"][0]["removed"] is True
    again = own.post(f"{API}/chat", json={"message": "And under which bridge?", "session_id": answer["session_id"]})
    assert "zanzibar" not in again.text
    client.patch(address, json={"access": {"users": [name]}})
    assert "zanzibar" in own.get(session).text


def test_a_shared_folder_includes_later_documents(
    client: httpx2.Client, bob: tuple[str, httpx2.Client], folder: str
) -> None:
    name, own = bob
    made = client.post(f"{API}/folders", json={"path": folder, "access": {"users": [name]}}).json()
    assert made["access"] == {"owner": "local", "users": [name], "groups": [], "everyone": False, "roles": []}
    upload(client, "a.md", "# A", folder=f"{folder}/below")
    upload(client, "b.md", "# B", folder=folder, access=json.dumps({"users": []}))
    completed(client, folder)
    assert [one["name"] for one in own.get(f"{API}/documents").json()["items"]] == ["a.md"]
    client.patch(f"{API}/folders", json={"path": folder, "access": None})
    assert own.get(f"{API}/documents").json()["items"] == []


def test_everybody_has_a_library_of_their_own(
    client: httpx2.Client, bob: tuple[str, httpx2.Client], folder: str
) -> None:
    _, own = bob
    text = "# Same\n\nThe same words.\n"
    assert upload(client, "same.md", text, folder=folder).status_code == 202
    theirs = upload(own, "same.md", text, folder=folder)
    assert theirs.status_code == 202  # nothing tells that somebody else has it
    assert "same_content" not in theirs.json()
    mine: list[dict[str, Any]] = completed(client, folder)
    [other] = completed(own, folder)
    assert [one["id"] for one in mine] != [other["id"]]
    assert other["access"]["owner"] == other["access"]["owner"].strip() != "local"
