"""API keys over HTTP: shown once, listed without secrets, revoked at once."""

import httpx2
import pytest

from tests.api.live_server import assert_problem


def test_a_key_is_seen_once(client: httpx2.Client, anyone: httpx2.Client) -> None:
    response = client.post("/api/v1/keys", json={"name": "for the test", "role": "editor", "expires_days": 7})
    assert response.status_code == 201
    made = response.json()
    assert set(made) == {"key", "id", "name", "role", "user"}
    listing = client.get("/api/v1/keys")
    assert made["key"] not in listing.text
    [known] = [key for key in listing.json()["items"] if key["id"] == made["id"]]
    assert set(known) == {"id", "user", "name", "role", "created_at", "expires_at", "revoked_at"}
    assert (known["name"], known["role"], known["revoked_at"]) == ("for the test", "editor", None)
    assert known["expires_at"] > known["created_at"]
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert anyone.post("/api/v1/documents/start", json={"document_ids": []}, headers=headers).status_code == 202
    assert_problem(anyone.get("/api/v1/keys", headers=headers), 403, "not_allowed")


def test_a_key_is_a_readers_by_default(client: httpx2.Client) -> None:
    assert client.post("/api/v1/keys", json={"name": "small"}).json()["role"] == "reader"


def test_a_revoked_key_stays_listed(client: httpx2.Client) -> None:
    made = client.post("/api/v1/keys", json={"name": "gone soon"}).json()
    response = client.delete(f"/api/v1/keys/{made['id']}")
    assert (response.status_code, response.json()) == (200, {"id": made["id"], "revoked": True})
    [known] = [key for key in client.get("/api/v1/keys").json()["items"] if key["id"] == made["id"]]
    assert known["revoked_at"]


def test_a_key_makes_no_other_key(client: httpx2.Client) -> None:
    assert_problem(client.post("/api/v1/me/keys", json={"name": "child"}), 403, "not_allowed")


def test_unknown_keys_cannot_be_revoked(client: httpx2.Client) -> None:
    assert_problem(client.delete("/api/v1/keys/nope"), 404, "not_found")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "n", "role": "owner"},
        {"name": "n", "expires_days": 0},
        {"name": "n", "person": "root"},
        {"name": "a\0b"},
        {"name": "x" * 201},
    ],
)
def test_invalid_keys_are_refused(client: httpx2.Client, body: dict[str, object]) -> None:
    assert_problem(client.post("/api/v1/keys", json=body), 422, "invalid")
