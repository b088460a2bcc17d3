"""CORS: other origins need to be allowed and never use cookies."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from pincite.config.sources import load_settings
from pincite.errors import SettingsError
from tests.api.live_server import LiveServer, assert_problem

API = "/api/v1"
FRIEND = "https://intranet.example"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def named(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server that names one other site."""
    settings = {"database.url": module_database_url, "server.allowed_origins": [FRIEND]}
    with LiveServer(tmp_path_factory.mktemp("origins") / "data", **settings) as live_server:
        with live_server.client() as boss:
            boss.post(f"{API}/users", json={"name": "anna", "password": PASSWORD})
        yield live_server


PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
OTHERS = [
    "https://evil.example",
    "https://intranet.example.evil.example",
    "http://intranet.example",
    "null",
    "https://intranet.example:444",
]


def test_a_named_page_may_call_by_key_and_never_by_cookie(named: LiveServer) -> None:
    with named.client(None) as anyone:
        asked = anyone.options(f"{API}/search", headers={"Origin": FRIEND, **PREFLIGHT})
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == FRIEND
    assert "Authorization" in asked.headers["access-control-allow-headers"]
    with named.client() as client:
        for path in ("/documents", "/documents/nope"):
            answer = client.get(f"{API}{path}", headers={"Origin": FRIEND})
            assert answer.headers["access-control-allow-origin"] == FRIEND
            assert answer.headers["vary"] == "Origin"
            assert "access-control-allow-credentials" not in answer.headers
    assert "access-control-allow-credentials" not in asked.headers


@pytest.mark.parametrize("origin", OTHERS)
def test_other_origins_get_no_cors_headers(named: LiveServer, origin: str) -> None:
    with named.client() as client:
        for answer in (
            client.get(f"{API}/documents", headers={"Origin": origin}),
            client.options(f"{API}/documents", headers={"Origin": origin, **PREFLIGHT}),
        ):
            assert not [name for name in answer.headers if name.startswith("access-control")]


def test_by_default_no_origin_gets_cors_headers(client: httpx2.Client) -> None:
    for origin in (FRIEND, "null", "*"):
        answer = client.get(f"{API}/documents", headers={"Origin": origin})
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("wrong", ["*", "https://*.example", "intranet.example", "https://a.example/x", "file://x", ""])
def test_a_wildcard_origin_is_refused(wrong: str) -> None:
    with pytest.raises(SettingsError, match="must hold origins such as"):
        load_settings({"server.allowed_origins": [wrong]}, env={})


@contextmanager
def logged_in(live_server: LiveServer) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=live_server.url, headers={"Origin": live_server.url}, timeout=30) as client:
        assert client.post(f"{API}/auth/login", json={"name": "anna", "password": PASSWORD}).status_code == 200
        yield client


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": FRIEND},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": ""},
    ],
)
def test_a_cookie_changes_something_only_from_this_servers_own_page(named: LiveServer, headers: dict[str, str]) -> None:
    with logged_in(named) as client:
        for method, path in (("POST", "/search"), ("DELETE", "/sessions/x"), ("PATCH", "/documents/x")):
            refused = client.request(method, f"{API}{path}", json={"query": "x"}, headers=headers)
            assert_problem(refused, 403, "wrong_origin")
        own = {"Sec-Fetch-Site": "same-origin"}
        assert client.post(f"{API}/search", json={"query": "x"}, headers=own).status_code == 200


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_a_page_elsewhere_cannot_log_somebody_in_as_its_own_user(named: LiveServer, headers: dict[str, str]) -> None:
    with named.client(None) as anyone:
        body = {"name": "anna", "password": PASSWORD}
        refused = anyone.post(f"{API}/auth/login", json=body, headers=headers)
        assert_problem(refused, 403, "wrong_origin")
        assert "set-cookie" not in refused.headers
        assert anyone.post(f"{API}/auth/login", json=body).status_code == 200  # no browser, no page


def test_a_websocket_with_a_cookie_is_for_own_pages_too(named: LiveServer) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    with logged_in(named) as client:
        refused = client.get(f"{API}/chat/ws", headers={**upgrade, "Origin": "https://evil.example"})
        assert_problem(refused, 403, "wrong_origin")


def test_a_key_in_the_address_is_refused_beside_a_cookie_too(named: LiveServer) -> None:
    with logged_in(named) as client:
        assert client.get(f"{API}/me").status_code == 200
        assert_problem(client.get(f"{API}/me", params={"token": "x"}), 401, "unauthorized")
