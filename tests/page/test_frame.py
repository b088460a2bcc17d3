"""The frame: what is loaded, how it looks to those who read it otherwise, keys, languages, and what it says when it fails."""

import pytest
from playwright.sync_api import expect

from pincite.api.routes import web_ui as served
from tests.page.browser import NARROW, WIDE, Site, unreadable

FIRST_LOAD = 150_000
CHANGED_BEFORE_EFFECTS = """async (base) => {
  const { state } = await import(`${base}/common/state.js`);
  const { html } = await import(`${base}/common/html.js`);
  const { render } = await import('preact');
  const shared = state('old');
  const box = document.createElement('div');
  render(html`<${() => html`<p>${shared.use()}</p>`} />`, box);
  shared.set('new');  // drawn, but its effects have not run yet
  for (let tries = 0; tries < 100 && box.textContent !== 'new'; tries += 1) await new Promise((done) => setTimeout(done, 20));
  return box.textContent;
}"""


def test_the_first_load_is_small(site: Site) -> None:
    with site.visit("/ask") as page:
        expect(page.locator("[data-ask]")).to_be_visible()
        page.wait_for_load_state("networkidle")
        sizes = page.evaluate(
            "() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
            ".filter((entry) => !entry.name.includes('/api/')).map((entry) => [entry.name, entry.encodedBodySize])"
        )
        assert len(sizes) > 10
        assert all(size > 0 for _, size in sizes), sizes
        assert sum(size for _, size in sizes) < FIRST_LOAD
        assert not any("pdf" in name for name, _ in sizes)


def test_a_second_visit_loads_nothing_again(site: Site) -> None:
    with site.visit("/ask") as page:
        page.wait_for_load_state("networkidle")
        page.reload()
        page.wait_for_load_state("networkidle")
        loaded = page.evaluate(
            "() => performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/assets/')"
            " && entry.transferSize > 0).map((entry) => entry.name)"
        )
        assert loaded == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_nothing_wrong_with_the_frame(site: Site, scheme: str, size: dict[str, int]) -> None:
    with site.visit("/ask", color_scheme=scheme, viewport=size) as page:
        expect(page.locator("[data-ask]")).to_be_visible()
        assert unreadable(page) == []
        page.keyboard.press("Escape")  # leaves the field
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        assert unreadable(page) == []


def test_keys_lead_everywhere(site: Site) -> None:
    with site.visit("/share/") as page:
        page.locator("main").wait_for()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.keyboard.press("/")
        expect(page.locator("[data-ask]")).to_be_focused()
        assert page.url == f"{site.url}/ask"


def test_a_closed_dialog_leaves_the_focus_where_it_has_moved(site: Site) -> None:
    with site.visit("/ask") as page:
        expect(page.locator("[data-ask]")).to_be_visible()
        page.get_by_role("button", name="Appearance and language").focus()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.evaluate(
            """() => {
                document.querySelector("dialog button.icon-button").click();
                new MutationObserver((_, seen) => {
                    if (document.querySelector("dialog")) return;
                    seen.disconnect();
                    document.querySelector("[data-ask]").focus();
                }).observe(document.body, { childList: true, subtree: true });
            }"""
        )
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("[data-ask]")).to_be_focused()
        page.wait_for_timeout(200)
        expect(page.locator("[data-ask]")).to_be_focused()


def test_the_look_and_the_language_are_chosen_and_kept(site: Site) -> None:
    with site.visit("/ask") as page:
        page.get_by_role("button", name="Appearance and language").click()
        page.get_by_role("menuitemradio", name="Dark").click()
        assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
        page.get_by_role("button", name="Appearance and language").click()
        page.get_by_role("menuitemradio", name="Deutsch").click()
        expect(page.get_by_role("link", name="Fragen")).to_be_visible()
        assert page.evaluate("[document.documentElement.lang, document.documentElement.dataset.theme]") == [
            "de",
            "dark",
        ]


def test_whoever_is_not_logged_in_is_sent_to_log_in(site: Site) -> None:
    with site.visit("/ask?q=1", login=None) as page:  # without an error in the console
        page.wait_for_url("**/login?next=%2Fask%3Fq%3D1")
        assert page.url == f"{site.url}/login?next=%2Fask%3Fq%3D1"


def test_an_unknown_address_shows_a_page(site: Site) -> None:
    with site.visit("/no/such/page", expected=("404",)) as page:
        expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
        assert unreadable(page) == []
        page.get_by_role("link", name="Ask a question").click()
        expect(page.locator("[data-ask]")).to_be_visible()


def test_a_notice_does_not_cover_the_question_field(site: Site) -> None:
    for size in (WIDE, NARROW):
        with site.visit("/ask", viewport=size) as page:
            expect(page.locator("[data-ask]")).to_be_visible()
            page.evaluate(
                "async (base) => (await import(`${base}/parts/toast.js`)).toast('A notice')",
                f"/assets/{served.release_digest()}",
            )
            toast, field = page.locator(".toast").bounding_box(), page.locator(".composer-box").bounding_box()
            assert toast is not None
            assert field is not None
            assert toast["y"] + toast["height"] <= field["y"]


def test_state_that_changes_before_a_component_listens_is_drawn(site: Site) -> None:
    with site.visit("/ask") as page:
        assert page.evaluate(CHANGED_BEFORE_EFFECTS, f"/assets/{served.release_digest()}") == "new"
