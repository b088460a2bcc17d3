"""Every view of the page, with what is in it: axe looks at each, and so does whoever makes the screenshots."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.api.door import completed, upload
from tests.page.browser import Site

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


def _ask(page: Page) -> None:
    expect(page.locator("[data-ask]")).to_be_visible()


VIEWS = (View("ask", "/ask", _ask),)
