"""One browser for all of them and one server for each file of tests; every page notices errors, breaches of its policy and requests that leave."""

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.api.live_server import LiveServer
from tests.page.browser import Site, chromium, launched
from tests.reading import read_in_this_process


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever starts a browser takes its time."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


class _Shared:
    """A browser for one file after the other, until somebody closes it."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._browser: Browser | None = None

    def browser(self) -> Browser:
        self._browser = self._browser or self._open.enter_context(launched())
        return self._browser

    def close(self) -> None:
        self._browser = None
        self._open.close()


_SHARED = _Shared()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """While the browser is open, no test elsewhere can have a loop of its own in this thread."""
    try:
        return (yield)
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            _SHARED.close()


@pytest.fixture(scope="module")
def browser() -> Browser:
    """One for all files of this folder."""
    return _SHARED.browser()


@pytest.fixture(scope="module")
def site(browser: Browser, module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that answers by itself, without a model."""
    chromium()
    settings = {"database.url": module_database_url, "cache.enabled": False}
    with (
        pytest.MonkeyPatch.context() as patch,
        LiveServer(tmp_path_factory.mktemp("page") / "data", **settings) as door,
    ):
        read_in_this_process(patch)
        yield Site(door, browser)
