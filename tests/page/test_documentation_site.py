"""The search of the documentation's site, opened from its folder."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.test_docs import maker


def test_the_search_finds_a_section_and_opens_it(browser: Browser, tmp_path: Path) -> None:
    maker("make_site").build(tmp_path / "site")
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto((tmp_path / "site" / "index.html").as_uri())
        tab.keyboard.press("/")
        tab.keyboard.type("systemd")
        tab.keyboard.press("ArrowDown")
        expect(tab.locator("#results a").first).to_contain_text("Running as a service › systemd")
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/service.html#systemd")
        tab.fill("#query", "zzzz")
        expect(tab.locator("#results")).to_have_text("Nothing found.")
