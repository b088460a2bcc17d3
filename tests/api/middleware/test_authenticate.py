"""Authentication by key: valid until revoked, accepted in the header only."""

import http.client
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem


@pytest.mark.parametrize("name", ["key", "api_key", "token", "access_token", "TOKEN"])
def test_a_key_in_the_address_is_refused_even_beside_a_good_one(
    live_server: LiveServer, client: httpx2.Client, name: str
) -> None:
    for address in (f"/api/v1/documents?{name}={live_server.keys['reader']}", f"/api/v1/documents?q=x&{name}=1"):
        assert_problem(client.get(address), 401, "unauthorized")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER "])
def test_the_schemes_case_does_not_matter(live_server: LiveServer, anyone: httpx2.Client, scheme: str) -> None:
    headers = {"Authorization": f"{scheme} {live_server.keys['reader']}"}
    assert anyone.get("/api/v1/documents", headers=headers).status_code == 200


@pytest.mark.parametrize("value", ["Bearer", "Basic KEY", "KEY", "Bearer KEY KEY", "Bearer \xff"])
def test_other_forms_are_refused(live_server: LiveServer, anyone: httpx2.Client, value: str) -> None:
    header = value.replace("KEY", live_server.keys["reader"]).encode("latin-1")
    assert_problem(anyone.get("/api/v1/documents", headers={"Authorization": header}), 401, "unauthorized")


def test_two_keys_in_one_request_are_refused(live_server: LiveServer) -> None:
    connection = http.client.HTTPConnection(urlsplit(live_server.url).netloc, timeout=30)
    connection.putrequest("GET", "/api/v1/documents")
    for role in ("reader", "administrator"):
        connection.putheader("Authorization", f"Bearer {live_server.keys[role]}")
    connection.endheaders()
    assert connection.getresponse().status == 401
    connection.close()


def test_a_revoked_key_is_refused_at_once(
    live_server: LiveServer, client: httpx2.Client, anyone: httpx2.Client
) -> None:
    made = client.post("/api/v1/keys", json={"name": "short-lived"}).json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert anyone.get("/api/v1/documents", headers=headers).status_code == 200
    client.delete(f"/api/v1/keys/{made['id']}")
    assert_problem(anyone.get("/api/v1/documents", headers=headers), 401, "unauthorized")
