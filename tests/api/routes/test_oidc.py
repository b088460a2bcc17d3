"""Login through a provider, from the redirect to the cookie."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem
from tests.oidc_provider import CLIENT, OTHER_KEY, SECRET, OidcProvider, provider, signed

API = "/api/v1"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def there() -> Iterator[OidcProvider]:
    with provider() as found:
        yield found


@pytest.fixture(scope="module")
def live_server(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory, there: OidcProvider
) -> Iterator[LiveServer]:
    """A server that knows a provider."""
    oidc = {
        "oidc.issuer": there.url,
        "oidc.client_id": CLIENT,
        "oidc.client_secret": SECRET,
        "oidc.groups_claim": "groups",
    }
    data = tmp_path_factory.mktemp("oidc") / "data"
    with LiveServer(data, **{"database.url": module_database_url, **oidc}) as live_server:
        with live_server.client() as boss:
            for name in ("staff", "admins", "others"):
                boss.post(f"{API}/groups", json={"name": name})
        yield live_server


@pytest.fixture
def browser(live_server: LiveServer, there: OidcProvider) -> Iterator[httpx2.Client]:
    there.sign = None
    with httpx2.Client(base_url=live_server.url, timeout=30) as client:
        yield client


def there_and_back(browser: httpx2.Client, there: OidcProvider, **claims: object) -> httpx2.Response:
    """Follow the redirects as a browser does; the answer to coming back."""
    there.claims = {"preferred_username": "anna", "sub": "s-anna", **claims}
    assert browser.get(f"{API}/auth/ways").json()["oidc"] is True
    sent = browser.get(f"{API}/auth/oidc/login")
    assert sent.status_code == 303, sent.text
    with httpx2.Client(timeout=30) as outside:
        returned = outside.get(sent.headers["location"]).headers["location"]
    return browser.get(returned)


def add(live_server: LiveServer, name: str, **more: object) -> None:
    with live_server.client() as boss:
        assert boss.post(f"{API}/users", json={"name": name, **more}).status_code == 201


def me(browser: httpx2.Client) -> dict[str, object]:
    found: dict[str, object] = browser.get(f"{API}/me").json()
    return found


def newest(live_server: LiveServer) -> dict[str, object]:
    with live_server.client() as boss:
        [event] = boss.get(f"{API}/audit", params={"event": "login", "limit": 1}).json()["items"]
    return dict(event)


def test_a_user_who_exists_is_logged_in_and_put_into_their_groups(
    live_server: LiveServer, browser: httpx2.Client, there: OidcProvider
) -> None:
    add(live_server, "anna", role="editor")
    back = there_and_back(browser, there, groups=["Staff", "unknown here"])
    assert (back.status_code, back.headers["location"]) == (303, "/")
    cookie = next(value for value in back.headers.get_list("set-cookie") if value.startswith("pincite_login="))
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "pincite_oidc" not in browser.cookies
    assert me(browser) == {"id": "anna", "name": "anna", "role": "editor", "groups": ["staff"]}
    assert (newest(live_server)["person"], newest(live_server)["details"]) == ("anna", {"by": there.url})
    there_and_back(browser, there, groups=["others"])
    assert me(browser)["groups"] == ["others"]


def test_after_the_first_login_the_providers_id_identifies_the_user(
    live_server: LiveServer, browser: httpx2.Client, there: OidcProvider
) -> None:
    add(live_server, "berta")
    assert there_and_back(browser, there, sub="s-berta", preferred_username="Berta").status_code == 303
    assert there_and_back(browser, there, sub="s-berta", preferred_username="renamed").status_code == 303
    assert me(browser)["id"] == "berta"
    taken = there_and_back(browser, there, sub="s-impostor", preferred_username="berta")
    assert_problem(taken, 401, "oidc_refused")


def test_users_with_a_password_and_the_owner_cannot_be_taken_over(
    live_server: LiveServer, browser: httpx2.Client, there: OidcProvider
) -> None:
    add(live_server, "chief", role="administrator", password=PASSWORD)
    for name in ("chief", "local", "nobody here", "", "a,b"):
        back = there_and_back(browser, there, sub=f"s-{name}", preferred_username=name)
        assert_problem(back, 401, "oidc_refused")
        assert "pincite_login" not in browser.cookies
    assert (newest(live_server)["person"], newest(live_server)["outcome"]) == (None, "failed")


def test_suspended_and_removed_users_cannot_log_in(
    live_server: LiveServer, browser: httpx2.Client, there: OidcProvider
) -> None:
    add(live_server, "dora")
    assert there_and_back(browser, there, sub="s-dora", preferred_username="dora").status_code == 303
    with live_server.client() as boss:
        boss.patch(f"{API}/users/dora", json={"suspended": True})
        assert browser.get(f"{API}/me").status_code == 401
        refused = there_and_back(browser, there, sub="s-dora", preferred_username="dora")
        assert_problem(refused, 401, "oidc_refused")
        boss.patch(f"{API}/users/dora", json={"suspended": False})
        assert there_and_back(browser, there, sub="s-dora", preferred_username="dora").status_code == 303
        boss.delete(f"{API}/users/dora")
    assert_problem(there_and_back(browser, there, sub="s-dora", preferred_username="dora"), 401, "oidc_refused")


def test_a_callback_from_another_browser_or_state_is_refused(
    live_server: LiveServer, browser: httpx2.Client, there: OidcProvider
) -> None:
    add(live_server, "emil")
    there.claims = {"preferred_username": "emil", "sub": "s-emil"}
    sent = browser.get(f"{API}/auth/oidc/login")
    cookie = sent.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert f"Path={API}/auth/oidc" in cookie
    returned = httpx2.get(sent.headers["location"]).headers["location"]
    with httpx2.Client(base_url=live_server.url) as victim:
        assert_problem(victim.get(returned), 401, "oidc_refused")
        victim.get(f"{API}/auth/oidc/login")  # even in the middle of a login of their own
        assert_problem(victim.get(returned), 401, "oidc_refused")
    assert_problem(browser.get(returned.replace("state=", "state=x")), 401, "oidc_refused")
    assert_problem(browser.get(f"{API}/auth/oidc/callback"), 401, "oidc_refused")
    elsewhere = returned.partition("&iss=")[0] + "&iss=https%3A%2F%2Fevil.example"
    assert_problem(browser.get(elsewhere), 401, "oidc_refused")
    assert browser.get(returned).status_code == 303
    browser.get(f"{API}/auth/oidc/login")
    assert_problem(browser.get(returned), 401, "oidc_refused")  # once


def test_a_forged_token_logs_nobody_in(live_server: LiveServer, browser: httpx2.Client, there: OidcProvider) -> None:
    add(live_server, "fritz")
    there.sign = lambda claims: signed(claims, OTHER_KEY)
    refused = there_and_back(browser, there, sub="s-fritz", preferred_username="fritz")
    assert_problem(refused, 401, "oidc_refused")
    assert SECRET not in refused.text
    assert "pincite_login" not in browser.cookies


def test_without_a_provider_login_is_not_found(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> None:
    data = tmp_path_factory.mktemp("none") / "data"
    with LiveServer(data, **{"database.url": database_url}) as plain, plain.client(None) as anyone:
        assert_problem(anyone.get(f"{API}/auth/oidc/login"), 404, "not_found")
        assert_problem(anyone.get(f"{API}/auth/oidc/callback"), 404, "not_found")


def test_unknown_users_are_added_if_configured(
    tmp_path_factory: pytest.TempPathFactory, database_url: str, there: OidcProvider
) -> None:
    there.sign = None
    settings = {
        "database.url": database_url,
        "oidc.issuer": there.url,
        "oidc.client_id": CLIENT,
        "oidc.client_secret": SECRET,
        "oidc.create_users": True,
        "oidc.create_role": "editor",
    }
    with LiveServer(tmp_path_factory.mktemp("open") / "data", **settings) as open_door:
        with httpx2.Client(base_url=open_door.url) as browser:
            assert there_and_back(browser, there, sub="s-new", preferred_username="newcomer").status_code == 303
            assert me(browser) == {"id": "newcomer", "name": "newcomer", "role": "editor", "groups": []}
            again = there_and_back(browser, there, sub="s-twin", preferred_username="newcomer")
            assert_problem(again, 401, "oidc_refused")
            assert_problem(there_and_back(browser, there, sub="s-l", preferred_username="local"), 401, "oidc_refused")
        with open_door.client() as boss:
            settings_shown = boss.get(f"{API}/settings").text
            assert SECRET not in settings_shown
