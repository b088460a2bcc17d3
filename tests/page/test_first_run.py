"""The first run: from the link the server printed to a cited answer; and coming in again, out, and by another password."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from pincite.api.paths import API
from tests.api.live_server import LiveServer
from tests.page.browser import PASSWORD, Site, chromium, unreadable


@pytest.fixture(scope="module")
def fresh(browser: Browser, module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server nobody has set up yet."""
    chromium()
    with LiveServer(tmp_path_factory.mktemp("fresh") / "data", **{"database.url": module_database_url}) as door:
        yield Site(door, browser, administrator=False)


def log_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_the_link_leads_to_a_cited_answer_without_reading_anything(fresh: Site) -> None:
    with fresh.visit("/", login=None) as page:
        expect(page.get_by_text("No user exists yet")).to_be_visible()
    with fresh.visit(f"/setup#{fresh.setup}", login=None, expected=("422",)) as page:
        page.get_by_label("User name").fill("ada")
        page.get_by_label("Password").fill("short")
        page.get_by_role("button", name="Create").click()
        expect(page.get_by_role("button", name="Sample documents")).to_have_count(0)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Create").click()
        assert fresh.setup not in page.url or page.wait_for_url("**/setup") is None
        page.get_by_role("button", name="Sample documents").click()
        question = page.locator(".tries button").first
        expect(question).to_contain_text("recoating of the main mirror")
        assert unreadable(page) == []
        question.click()
        expect(page.locator(".turn .trust")).to_be_visible()
        expect(page.locator(".answer button.cite").first).to_be_visible()
        page.locator(".answer button.cite").first.click()
        expect(page.locator(".source-view")).to_be_visible()


def test_the_link_counts_once_and_a_cut_one_says_so(fresh: Site) -> None:
    with fresh.visit(f"/setup#{fresh.setup}", login=None, expected=("409",)) as page:
        page.get_by_label("User name").fill("eve")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Create").click()
        expect(page.get_by_role("alert")).to_contain_text("is no longer valid")
    with fresh.visit("/setup", login=None) as page:
        expect(page.get_by_role("heading", name="This link is incomplete")).to_be_visible()


def test_one_logs_in_goes_where_one_wanted_changes_the_password_and_leaves(fresh: Site) -> None:
    changed = "another password, also long"
    with fresh.visit("/documents?folder=demo", login=None, expected=("401", "422")) as page:
        log_in(page, "ada", "not the password")
        expect(page.get_by_role("alert")).to_contain_text("the name or the password is wrong")
        log_in(page, "ada", PASSWORD)
        page.wait_for_url("**/documents?folder=demo")
        page.get_by_role("button", name="ada").click()
        page.get_by_role("menuitem", name="Your account").click()
        page.get_by_role("button", name="Change password").click()
        page.get_by_label("Current password").fill("not the password")
        page.get_by_label("New password").fill(changed)
        page.get_by_role("dialog").get_by_role("button", name="Change password").click()
        expect(page.get_by_text("the old password is wrong")).to_be_visible()
        assert unreadable(page) == []
        page.get_by_label("Current password").fill(PASSWORD)
        page.get_by_role("dialog").get_by_role("button", name="Change password").click()
        page.wait_for_url("**/login?next=*")
        log_in(page, "ada", changed)
        page.wait_for_url("**/account")
        page.get_by_role("button", name="ada").click()
        page.get_by_role("menuitem", name="Log out").click()
        page.wait_for_url("**/login*")
    with fresh.visit("/login?next=//outside.invalid/x", login=None) as page:
        log_in(page, "ada", changed)
        page.wait_for_url(f"{fresh.url}/ask")


def test_where_there_is_a_provider_one_can_log_in_through_it(fresh: Site) -> None:
    with fresh.context(login=None) as context:
        page = context.new_page()
        page.route(f"**{API}/auth/ways", lambda route: route.fulfill(json={"oidc": True, "setup": False, "user": None}))
        page.goto("/login")
        link = page.get_by_role("link", name="Log in with your organisation")
        expect(link).to_have_attribute("href", f"{API}/auth/oidc/login")
        assert unreadable(page) == []
