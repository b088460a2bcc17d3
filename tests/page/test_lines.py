"""Lines that break: an answer on its way survives a reload, a slow network and a server that is started again."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from pincite.api.paths import API
from tests.api.live_server import LiveServer, completed, upload
from tests.api.models import Talker, speaking
from tests.page.browser import PASSWORD, Site
from tests.page.speaking import Speaker

TEXT = "# Leave\n\nUp to five vacation days carry over into the next year. They lapse at the end of March.\n"
SAID = "Up to five vacation days carry over into the next year. [Source 1] They lapse at the end of March. [Source 1]"
FIRST = 15
"""Words after which the first sentence is out and the second is not."""
CARRY = "How many vacation days carry over?"


@pytest.fixture(scope="module")
def library(site: Site) -> Site:
    """A server with one document."""
    with site.door.client() as client:
        upload(client, "leave.md", TEXT)
        completed(client, "")
    return site


def test_reloading_in_the_middle_of_an_answer_takes_it_up_again(library: Site) -> None:
    speaker = Speaker(SAID, until=FIRST)
    with library.visit("/ask") as page, speaking(library.door, speaker):
        page.locator("[data-ask]").fill(CARRY)
        page.keyboard.press("Enter")
        expect(page.locator(".answer")).to_contain_text("Up to five")
        page.wait_for_url("**/ask/s_*")
        page.reload()
        expect(page.locator(".answer")).to_contain_text("Up to five")
        assert page.locator(".turn").count() == 1
        speaker.go.set()
        expect(page.locator(".turn .trust")).to_be_visible()
        expect(page.locator(".answer")).to_contain_text("end of March.")
        expect(page.locator(".answer button.cite")).to_have_count(2)
        assert speaker.asked == 1
        page.reload()
        expect(page.locator(".turn .trust")).to_be_visible()
        assert page.locator(".turn").count() == 1


def test_going_elsewhere_and_coming_back_finds_the_answer(library: Site) -> None:
    speaker = Speaker(SAID, until=FIRST)
    with library.visit("/ask") as page, speaking(library.door, speaker):
        page.locator("[data-ask]").fill(CARRY)
        page.keyboard.press("Enter")
        page.wait_for_url("**/ask/s_*")
        mine = page.url
        page.get_by_role("link", name="New conversation").click()
        expect(page.locator(".start")).to_be_visible()
        page.go_back()
        page.wait_for_url(mine)
        speaker.go.set()
        expect(page.locator(".turn .trust")).to_be_visible()
        assert speaker.asked == 1


def test_a_slow_network_is_told_and_waited_for(library: Site) -> None:
    speaker = Speaker(SAID, until=0)
    with library.visit("/ask") as page, speaking(library.door, speaker):
        page.clock.install()
        page.locator("[data-ask]").fill(CARRY)
        page.keyboard.press("Enter")
        expect(page.locator(".waiting")).to_contain_text("Reading")
        page.clock.fast_forward(9000)
        expect(page.locator(".waiting")).to_contain_text("longer than usual")
        speaker.go.set()
        page.clock.resume()
        expect(page.locator(".turn .trust")).to_be_visible()


class Fixed(LiveServer):
    """A server at the same address every time."""


@contextmanager
def served(browser: Browser, data: Path, database_url: str, port: int) -> Iterator[LiveServer]:
    """The server, from now on until the block is left."""
    Fixed.port_listened_on = port
    with Fixed(data, **{"database.url": database_url, "cache.enabled": False}) as door:
        yield door


def test_a_server_that_is_started_again_is_told_and_the_question_asked_again(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ExitStack() as first, ExitStack() as page_open:
        door = first.enter_context(served(browser, tmp_path / "data", database_url, port))
        with door.client() as client:
            upload(client, "leave.md", TEXT)
            completed(client, "")
        site = Site(door, browser)
        page = page_open.enter_context(site.visit("/ask", expected=("ERR_", "404")))
        with speaking(door, Talker()):
            page.locator("[data-ask]").fill(CARRY)
            page.keyboard.press("Enter")
            expect(page.locator(".answer")).to_contain_text("word word")
            first.close()
        expect(page.locator(".turn")).to_contain_text("The connection was lost.")
        expect(page.locator(".away")).to_contain_text("cannot be reached")
        with served(browser, tmp_path / "data", database_url, port) as again:
            expect(page.locator(".turn .trust")).to_be_visible()
            expect(page.locator(".answer")).to_contain_text("five vacation days carry over")
            expect(page.locator(".away")).not_to_contain_text("cannot be reached")
            with again.client() as client:
                [session] = client.get(f"{API}/sessions").json()["items"]
                kept = client.get(f"{API}/sessions/{session['id']}").json()["turns"]
            assert [turn["complete"] for turn in kept][-1] is True
            page_open.close()


def test_a_login_that_ends_leads_to_the_log_in_and_nowhere_else(library: Site) -> None:
    with library.door.client() as boss:
        boss.post(f"{API}/users", json={"name": "carl", "role": "reader", "password": PASSWORD}).raise_for_status()
    login, _ = library.door.do(library.door.pincite.services.logins.log_in("carl", PASSWORD, "127.0.0.1"))
    with library.visit("/ask", login=login, expected=("401",)) as page:
        expect(page.locator("[data-ask]")).to_be_visible()
        with library.door.client() as boss:
            boss.patch(f"{API}/users/carl", json={"suspended": True}).raise_for_status()
        with suppress(PlaywrightTimeout):  # the page may have heard of it by itself
            page.locator("[data-ask]").fill(CARRY, timeout=5000)
            page.keyboard.press("Enter")
        page.wait_for_url("**/login?next=*")
