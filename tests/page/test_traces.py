"""Traces on the page: found by filters, drawn as a waterfall, asked again with other settings."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.live_server import LiveServer
from tests.page.attacks import NAMES, unharmed
from tests.page.browser import Site, unreadable

FILES = {
    "leave": "# Leave\n\nUnused leave days expire on 31 March. Leave is asked for in the calendar.\n",
    "days": "# Days\n\nThe office closes on Fridays. Days of leave are counted by the payroll.\n",
    "canteen": "# Canteen\n\nThe canteen serves soup on days when the office is open.\n",
}
QUESTION = "When do unused leave days expire?"


@pytest.fixture(scope="module")
def site(browser: Browser, module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with a model that has one answer, which keeps the words of requests; some were made, one of them in vain."""
    settings = {"database.url": module_database_url, "traces.content": True, "llm.provider": "scripted"}
    with LiveServer(tmp_path_factory.mktemp("traces") / "data", **settings) as door:
        door.add("files", **FILES)
        with door.client() as client:
            client.post("/api/v1/query", json={"query": QUESTION}).raise_for_status()
            client.post("/api/v1/query", json={"query": " "})
            for text in NAMES:
                client.post("/api/v1/query", json={"query": text, "system_prompt": text}).raise_for_status()
        yield Site(door, browser)


def open_trace(page: Page, question: str) -> None:
    page.get_by_role("row").filter(has_text=question).get_by_role("link").click()
    expect(page.get_by_role("heading", name=question)).to_be_visible()


def test_traces_are_filtered_and_drawn_as_a_waterfall_that_keys_walk_through(site: Site) -> None:
    with site.visit("/traces") as page:
        page.get_by_label("Status").select_option("failed")
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("tbody tr")).to_contain_text("empty_query")
        page.get_by_label("Status").select_option("")
        page.get_by_label("Kind").select_option("ingest")
        expect(page.locator("tbody tr")).to_have_count(len(FILES))
        for name in FILES:
            expect(page.get_by_role("row").filter(has_text=f"{name}.md")).to_have_count(1)
        page.get_by_label("Kind").select_option("query")
        page.get_by_label("Duration").select_option("5000")
        expect(page.get_by_role("heading", name="No traces")).to_be_visible()
        page.get_by_label("Duration").select_option("")
        page.get_by_label("Time").select_option("hour")
        open_trace(page, QUESTION)
        steps = page.get_by_role("list", name="Steps").get_by_role("button")
        assert steps.count() > 8
        steps.first.focus()
        page.keyboard.press("ArrowDown")
        expect(steps.nth(1)).to_be_focused()
        page.keyboard.press("End")
        expect(steps.last).to_be_focused()
        page.get_by_role("button", name="ranking,").press("Enter")
        page.locator(".passages summary").first.click()
        expect(page.locator(".passages .said")).to_contain_text("Unused leave days expire on 31 March.")
        assert unreadable(page) == []


def test_a_trace_shows_what_the_model_was_shown(site: Site) -> None:
    with site.visit("/traces?kind=query") as page:
        open_trace(page, QUESTION)
        shown = page.locator(".prompt")
        expect(shown).to_have_count(2)
        shown.first.locator("summary").click()
        shown.last.locator("summary").click()
        expect(shown.first).to_contain_text("Unused leave days expire on 31 March.")
        expect(shown.last).to_contain_text(QUESTION)


def test_a_question_is_asked_again_with_other_settings_and_the_difference_told(site: Site) -> None:
    with site.visit("/traces?kind=query", expected=("422",)) as page:
        open_trace(page, QUESTION)
        page.get_by_label("Settings").fill("rag.alpah=1")
        page.get_by_role("button", name="Run the replay").click()
        expect(page.get_by_role("alert")).to_contain_text("rag.alpha")
        page.get_by_label("Settings").fill("rag.alpha")
        page.get_by_role("button", name="Run the replay").click()
        expect(page.get_by_role("alert")).to_contain_text("key=value")
        page.get_by_label("Settings").fill("rag.top_k=1 rag.fusion=rrf")
        page.get_by_role("button", name="Run the replay").click()
        told = page.locator(".replayed")
        expect(told.get_by_role("row", name="rag.top_k")).to_contain_text("1")
        expect(told.locator(".badge", has_text="Removed").first).to_be_visible()
        assert unreadable(page) == []
        told.get_by_role("link", name="Trace of the replay").click()
        expect(page.locator(".trace-head")).to_contain_text("Replay")


def test_the_words_of_others_are_not_shown(site: Site) -> None:
    with site.door.stranger() as stranger:
        asked = stranger.post("/api/v1/query", json={"query": "A secret of somebody else"}).json()
    with site.visit(f"/traces/{asked['metadata']['trace_id']}") as page:
        expect(page.get_by_text("questions and answers of other users")).to_be_visible()
        expect(page.get_by_role("heading", name="Steps")).to_be_visible()
        expect(page.get_by_role("button", name="Run the replay")).to_have_count(0)
        assert "secret of somebody" not in page.content()


def test_no_question_and_no_prompt_runs(site: Site) -> None:
    with site.visit("/traces?kind=query") as page:
        for text in NAMES:
            open_trace(page, text)
            expect(page.locator(".said").filter(has_text=text).first).to_be_visible()
            unharmed(page)
            page.get_by_role("link", name="All traces").click()
            page.get_by_label("Kind").select_option("query")
