"""Entities on the page: turned on, found, read with their sentences, and walked by keyboard."""

import time
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.live_server import LiveServer
from tests.page.browser import COLOURS, NARROW, STILL, WIDE, Site, unreadable

FILES = {
    "song": "# Tidal Song\n\nMira Okafor composed Tidal Song in Lagos. Mira Okafor lives in Lagos.\n\n"
    "The Harbour Orchestra performed Tidal Song in Bremen. Mira Okafor met Jonas Brandt at the Harbour Orchestra.\n",
    "brandt": "# Jonas Brandt\n\nIn 2019 Jonas Brandt founded the Northwind Ensemble in Bremen. "
    "Jonas Brandt leads the Northwind Ensemble.\n",
}
SENTENCE = "Mira Okafor lives in Lagos."


@pytest.fixture(scope="module")
def site(browser: Browser, module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with two documents and no graph yet."""
    settings = {"database.url": module_database_url, "cache.enabled": False}
    with LiveServer(tmp_path_factory.mktemp("entities") / "data", **settings) as door:
        door.add("music", **FILES)
        yield Site(door, browser)


@pytest.fixture(scope="module")
def built(site: Site) -> Site:
    """The same with its graph."""
    with site.visit("/entities") as page:
        page.get_by_role("button", name="Turn on").click()
        expect(page.get_by_role("heading", name="The documents are being read")).to_be_visible()
    with site.door.client() as client:
        _wait_until_built(client)
    return site


def _wait_until_built(client: httpx2.Client) -> None:
    deadline = time.monotonic() + 120
    while len(client.get("/api/v1/graph/entities", params={"q": "northwind"}).json()["items"]) == 0:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    while not client.get("/api/v1/graph/entities", params={"q": "okafor"}).json()["items"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _open(page: Page, name: str) -> None:
    page.get_by_label("Find by name").fill(name)
    page.get_by_role("list", name="Entities").get_by_role("link", name=name).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_the_empty_view_says_how_to_turn_the_graph_on(site: Site) -> None:
    with site.door.stranger() as reader:
        assert reader.get("/api/v1/graph/entities").json() == {"items": [], "build": "off"}
    with site.visit("/entities") as page:
        expect(page.get_by_text("graph.build")).to_be_visible()
        expect(page.get_by_role("button", name="Turn on")).to_be_visible()
        assert unreadable(page) == []


def test_entities_are_found_and_each_fact_opens_its_sentence(built: Site) -> None:
    with built.visit("/entities") as page:
        expect(page.get_by_role("list", name="Entities").get_by_role("link", name="Jonas Brandt").first).to_be_visible()
        page.get_by_label("Find by name").fill("nobody at all")
        expect(page.get_by_role("heading", name="No entity is called “nobody at all”")).to_be_visible()
        _open(page, "Mira Okafor")
        fact = page.locator(".fact-list li").filter(has_text=SENTENCE).first
        fact.get_by_role("button").click()
        expect(page.locator(".source-view mark.passage").first).to_have_text(SENTENCE)
        assert unreadable(page) == []
        page.keyboard.press("Escape")
        expect(page.locator(".source-view")).to_have_count(0)
        expect(fact.get_by_role("button")).to_be_focused()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_nothing_wrong_with_an_entity(built: Site, size: dict[str, int]) -> None:
    with built.visit("/entities", viewport=size) as page:
        expect(page.get_by_role("list", name="Entities")).to_be_visible()
        assert unreadable(page) == []
        _open(page, "Mira Okafor")
        expect(page.get_by_role("img", name="Picture of what is mentioned")).to_be_visible()
        assert unreadable(page) == []
        page.emulate_media(color_scheme="dark")
        assert unreadable(page, *COLOURS) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_the_neighbourhood_is_a_list_of_links_and_a_picture_that_can_be_dragged(built: Site) -> None:
    with built.visit("/entities") as page:
        _open(page, "Mira Okafor")
        picture = page.get_by_role("img", name="Picture of what is mentioned with Mira Okafor")
        node = picture.locator("g.node").filter(has_text="Lagos").first
        node.scroll_into_view_if_needed()
        before = node.locator("circle").bounding_box()
        assert before is not None
        x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 40, y + 30, steps=5)
        page.mouse.up()
        page.evaluate(STILL)
        after = node.locator("circle").bounding_box()
        assert after is not None
        assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((40, 30), abs=3)
        near = page.get_by_role("region", name="Neighbours").get_by_role("link", name="Harbour Orchestra").first
        near.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Harbour Orchestra")
        node = page.get_by_role("img", name="Picture of").locator("g.node").filter(has_text="Bremen").first
        node.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Bremen")


def test_what_a_reader_may_not_read_is_not_there(built: Site) -> None:
    with built.door.client() as client:
        [found] = client.get("/api/v1/graph/entities", params={"q": "okafor"}).json()["items"]
    with built.door.stranger() as reader:
        assert reader.get("/api/v1/graph/entities").json() == {"items": [], "build": "rules"}
        assert reader.get(f"/api/v1/graph/entities/{found['id']}").status_code == 404
    with built.visit("/entities/person-0000000000000001", expected=("404",)) as page:
        expect(page.get_by_role("heading", name="There is no such entity")).to_be_visible()


def test_entities_are_shown_in_german(built: Site) -> None:
    with built.visit("/entities", locale="de-DE") as page:
        page.get_by_label("Nach Namen suchen").fill("Okafor")
        page.get_by_role("link", name="Mira Okafor").first.click()
        expect(page.get_by_role("heading", name="Aussagen")).to_be_visible()
        expect(page.get_by_role("heading", name="Umgebung")).to_be_visible()
