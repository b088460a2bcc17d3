"""A real browser on a real server: what the tests of the page share."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from pincite.api.middleware.authenticate import LOGIN_COOKIE
from tests.api.live_server import LiveServer
from tests.conftest import NO_BROWSER

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PASSWORD = "a password long enough"
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colours: a theme changes nothing else."""
PATIENCE_MS = 60_000
"""How long a test waits for what must come, on a machine with much else to do."""
expect.set_options(timeout=PATIENCE_MS)
WATCH = """
document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`the policy was broken: ${event.violatedDirective} by ${event.blockedURI}`));
"""

STILL = """
async () => {
  await new Promise(requestAnimationFrame);
  await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
}
"""
"""Waits until no colour is on its way to another one."""


@cache
def chromium() -> str:
    """Where Chromium is; the test is left out where there is none."""
    named = os.environ.get("PINCITE_CHROMIUM")
    found = named or next((path for name in NAMES if (path := shutil.which(name))), None)
    if not found:
        pytest.skip(f"{NO_BROWSER}: install it, or say where it is with PINCITE_CHROMIUM")
    return found


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that reaches nothing but this machine."""
    where = chromium()
    arguments = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-gpu"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=where, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Site:
    """A server, with a first administrator unless told otherwise, and pages on it that notice what must not happen."""

    def __init__(self, door: LiveServer, browser: Browser, *, administrator: bool = True) -> None:
        self.door = door
        self.url = door.url
        self._browser = browser
        token = door.do(door.pincite.services.logins.offer_setup())
        assert token is not None
        self.setup, self.login = token, ""
        if administrator:
            self.login, _ = door.do(door.pincite.services.logins.set_up(token, "ada", PASSWORD))

    @contextmanager
    def visit(
        self, path: str = "/", *, login: str | None = "", expected: tuple[str, ...] = (), **options: Any
    ) -> Iterator[Page]:
        """A page of the administrator's, or of whoever's login it is; `expected` are errors that may be told."""
        with self.context(login=login, **options) as context:
            page = context.new_page()
            told = watch(page, self.url)
            page.goto(self.url + path)
            yield page
            found = [text for text in told if not any(word in text for word in expected)]
            assert found == [], "\n".join(found)

    @contextmanager
    def context(self, *, login: str | None = "", **options: Any) -> Iterator[BrowserContext]:
        """A browser window of its own: its cookies, size, language and colours."""
        chosen = {"viewport": WIDE, "locale": "en-GB", "reduced_motion": "reduce", **options}
        context = self._browser.new_context(base_url=self.url, **chosen)
        context.set_default_timeout(PATIENCE_MS)
        try:
            if login is not None:
                context.add_cookies([{"name": LOGIN_COOKIE, "value": login or self.login, "url": self.url}])
            yield context
        finally:
            context.close()


def watch(page: Page, url: str) -> list[str]:
    """What a page does that it must not: errors, breaches of its policy, requests that leave."""
    told: list[str] = []
    page.add_init_script(WATCH)
    page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: told.append(f"uncaught: {error}"))
    page.on("dialog", lambda dialog: (told.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: None if _inside(request.url, url) else told.append(f"outside: {request.url}"))
    return told


def _inside(address: str, url: str) -> bool:
    return address.startswith((url, "data:", "blob:"))


def unreadable(page: Page, *rules: str) -> list[str]:
    """What axe finds wrong with a page as it is now, each with the first element that has it; by all rules or these."""
    page.evaluate(STILL)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    options: dict[str, Any] = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = page.evaluate("(options) => axe.run(document, options)", options)
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"]]
