"""One browser for all of them and one server for each file of tests; every page notices errors, breaches of its policy and requests that leave."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.api.door import Door
from tests.page.browser import Site, chromium, launched


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever starts a browser takes its time."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")
            item.add_marker(pytest.mark.timeout(300))  # a server, a browser and what is in it come first


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Not for longer than this folder: while it is open, no other test can have a loop of its own in this thread."""
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def site(browser: Browser, module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that answers by itself, without a model."""
    chromium()
    settings = {"database.url": module_database_url, "cache.enabled": False}
    with Door(tmp_path_factory.mktemp("page") / "data", **settings) as door:
        yield Site(door, browser)
