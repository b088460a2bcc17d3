"""Login and logout: the first administrator, throttling, cookies and cross-site requests."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem

API = "/api/v1"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def fresh(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server nobody has set up yet."""
    with LiveServer(tmp_path_factory.mktemp("fresh") / "data", **{"database.url": module_database_url}) as live_server:
        yield live_server


def browser(live_server: LiveServer, **more: Any) -> httpx2.Client:
    """A client that keeps cookies and says, as a browser does, whose page it is on."""
    return httpx2.Client(base_url=live_server.url, headers={"Origin": live_server.url, **more}, timeout=30)


def test_the_setup_link_creates_one_administrator_under_concurrency(fresh: LiveServer) -> None:
    token = fresh.do(fresh.pincite.services.logins.offer_setup())
    assert token
    assert len(token) > 40

    def attempt(number: int) -> httpx2.Response:
        with browser(fresh) as client:
            body = {"token": token, "name": f"chief {number}", "password": PASSWORD}
            return client.post(f"{API}/auth/setup", json=body)

    with browser(fresh) as client:
        assert client.get(f"{API}/auth/ways").json() == {"oidc": False, "setup": True, "user": None}
        wrong = client.post(f"{API}/auth/setup", json={"token": "guessed", "name": "x", "password": PASSWORD})
        assert_problem(wrong, 409, "setup_done")
        weak = client.post(f"{API}/auth/setup", json={"token": token, "name": "x", "password": "short"})
        assert_problem(weak, 422, "weak_password")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(attempt, range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    assert fresh.do(fresh.pincite.services.logins.offer_setup()) is None
    with browser(fresh) as client:
        assert client.get(f"{API}/auth/ways").json() == {"oidc": False, "setup": False, "user": None}
    [made] = [answer for answer in answers if answer.status_code == 200]
    cookie = made.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert made.json() == {"id": "local", "role": "administrator"}


@pytest.fixture
def alice(fresh: LiveServer) -> str:
    with fresh.client() as boss:
        boss.post(f"{API}/users", json={"name": "alice", "role": "editor", "password": PASSWORD})
        boss.patch(f"{API}/users/alice", json={"suspended": False, "password": PASSWORD})
    return "alice"


@contextmanager
def logged_in(live_server: LiveServer, name: str = "alice") -> Iterator[httpx2.Client]:
    with browser(live_server) as client:
        assert client.post(f"{API}/auth/login", json={"name": name, "password": PASSWORD}).status_code == 200
        yield client


def test_a_login_is_valid_until_logout(fresh: LiveServer, alice: str) -> None:
    with logged_in(fresh) as client, logged_in(fresh) as elsewhere:
        assert client.get(f"{API}/me").json() == {"id": alice, "name": alice, "role": "editor", "groups": []}
        assert client.get(f"{API}/users").status_code == 403
        held = client.cookies["pincite_login"]
        assert client.post(f"{API}/auth/logout").json() == {"logged_out": True}
        client.cookies.set("pincite_login", held)
        assert_problem(client.get(f"{API}/me"), 401, "unauthorized")
        assert elsewhere.get(f"{API}/me").status_code == 200


def test_a_new_password_and_a_suspension_end_every_login(fresh: LiveServer, alice: str) -> None:
    with logged_in(fresh) as client, fresh.client() as boss:
        wrong = client.post(f"{API}/me/password", json={"old_password": "no", "new_password": PASSWORD + "!"})
        assert_problem(wrong, 422, "wrong_password")
        body = {"old_password": PASSWORD, "new_password": PASSWORD + "!"}
        assert client.post(f"{API}/me/password", json=body).json() == {"changed": True}
        assert client.get(f"{API}/me").status_code == 401
        boss.patch(f"{API}/users/{alice}", json={"password": PASSWORD})
        client.post(f"{API}/auth/login", json={"name": alice, "password": PASSWORD})
        assert client.get(f"{API}/me").status_code == 200
        boss.patch(f"{API}/users/{alice}", json={"suspended": True})
        assert client.get(f"{API}/me").status_code == 401
        assert client.post(f"{API}/auth/login", json={"name": alice, "password": PASSWORD}).status_code == 401
        boss.patch(f"{API}/users/{alice}", json={"suspended": False})


def test_a_wrong_name_and_a_wrong_password_get_the_same_response(fresh: LiveServer, alice: str) -> None:
    with browser(fresh) as client:
        answers = [
            client.post(f"{API}/auth/login", json={"name": name, "password": "wrong password"})
            for name in (alice, "nobody at all")
        ]
    for answer in answers:
        assert_problem(answer, 401, "wrong_login")
    assert answers[0].json()["detail"] == answers[1].json()["detail"]
    assert "set-cookie" not in answers[0].headers


def test_too_many_attempts_are_throttled_without_revealing_anything(fresh: LiveServer) -> None:
    with browser(fresh) as client:
        for name in ("victim one", "victim one"):
            codes = []
            for _ in range(6):
                said = client.post(f"{API}/auth/login", json={"name": name, "password": "wrong password"})
                codes.append(said.status_code)
            assert codes[-1] == 429
        assert client.post(f"{API}/auth/login", json={"name": "VICTIM ONE", "password": "x"}).status_code == 429


@pytest.mark.parametrize("origin", ["https://evil.example", "", "null"])
def test_a_page_of_another_site_changes_nothing_with_a_login(fresh: LiveServer, alice: str, origin: str) -> None:
    with logged_in(fresh) as client:
        headers = {"Origin": origin}
        refused = client.post(f"{API}/documents/start", json={"document_ids": []}, headers=headers)
        assert_problem(refused, 403, "wrong_origin")
        assert client.post(f"{API}/documents/start", json={"document_ids": []}).status_code == 202


def test_login_tokens_are_not_stored_in_the_database(fresh: LiveServer, alice: str) -> None:
    with logged_in(fresh) as client:
        held = client.cookies["pincite_login"]

    async def kept() -> str:
        async with fresh.pincite.services.database.administrator() as admin:
            found = [
                await (await admin.execute(f"select * from pincite.{t}")).fetchall()
                for t in ("login", "password", "setup")
            ]
        return repr(found)

    everything = fresh.do(kept())
    assert held not in everything
    assert PASSWORD not in everything


def test_there_is_no_sign_up(fresh: LiveServer, tmp_path: Path) -> None:
    with browser(fresh) as client:
        assert client.post(f"{API}/users", json={"name": "me", "password": PASSWORD}).status_code == 401
        assert client.post(f"{API}/auth/signup", json={"name": "me"}).status_code == 401
