"""Every view of the page, with what is in it: axe looks at each, and so does whoever makes the screenshots."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.api.door import completed, upload
from tests.page.browser import Site

REMEMBERED = (
    "When does the last cable car leave?",
    "Wie lange reicht der Notvorrat?",
    "What happened to the dome on 18 November?",
    "Who may open the dome in wind?",
)
SAMPLES = Path(__file__).parent.parent.parent / "examples" / "documents"


@dataclass(frozen=True)
class View:
    """What is shown at an address once it was prepared."""

    name: str
    path: str
    prepare: Callable[[Page], None]
    logged_in: bool = True


def furnish(site: Site) -> None:
    """The sample documents, for a page with something on it."""
    with site.door.client() as client:
        for sample in sorted(SAMPLES.iterdir()):
            upload(client, sample.name, sample.read_bytes(), folder="observatory").raise_for_status()
        completed(client, "observatory")


def reminisce(site: Site) -> None:
    """A few conversations, and no others."""
    with site.door.client() as client:
        client.delete("/api/v1/sessions", params={"all": True}).raise_for_status()
        for question in REMEMBERED:
            client.post("/api/v1/chat", json={"message": question}).raise_for_status()


def _begin(page: Page) -> None:
    expect(page.locator("[data-ask]")).to_be_visible()


def ask(page: Page, question: str) -> None:
    """Ask, and wait for the whole answer."""
    before = page.locator(".turn").count()
    page.locator("[data-ask]").fill(question)
    page.keyboard.press("Enter")
    turn = page.locator(".turn").nth(before)
    expect(turn).to_have_attribute("aria-busy", "false")
    expect(turn.locator(".trust")).to_be_visible()


def _answer(page: Page) -> None:
    ask(page, "What did the recoating of the main mirror cost?")


def _page(page: Page) -> None:
    _answer(page)
    page.locator(".answer .cite").first.click()
    expect(page.locator("canvas[data-drawn]")).to_be_visible()
    expect(page.locator(".rect").first).to_be_visible()


def _text(page: Page) -> None:
    ask(page, "How much observing time do visitors get?")
    page.locator(".answer .cite").first.click()
    expect(page.locator("mark.passage").first).to_be_visible()


def _scope(page: Page) -> None:
    page.get_by_role("button", name="All documents").click()
    expect(page.get_by_role("dialog").get_by_label("Folder")).to_be_visible()
    expect(page.locator(".choices label").first).to_be_visible()


VIEWS = (
    View("start", "/ask", _begin),
    View("answer", "/ask", _answer),
    View("source-page", "/ask", _page),
    View("source-text", "/ask", _text),
    View("scope", "/ask", _scope),
)
