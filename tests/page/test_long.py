"""Long things stay smooth: a conversation of 500 questions, a long list of conversations, a document of a megabyte."""

from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import expect

from pincite.core.accounts.conversations import KeptTurn
from tests.api.live_server import completed, upload
from tests.builders import answer, source
from tests.page.browser import Site
from tests.page.views import ask

TURNS, SESSIONS = 500, 150
BLOCKED_MS = 300
"""No piece of work may keep the page from answering for longer; a task of 50 ms is what browsers call long."""
WATCH = "window.longest = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration); }).observe({ type: 'longtask' });"


@pytest.fixture(scope="module")
def session_id(site: Site) -> str:
    """A conversation of 500 questions, and many others."""
    said = "Up to **five** days carry over. [Source 1]\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"

    async def talk() -> str:
        pincite = site.door.pincite
        scope = await pincite.services.library.scope("local")
        for number in range(SESSIONS):
            session = await pincite.services.sessions.create(scope)
            await pincite.services.sessions.save_turn(scope, session.id, turn(f"conversation {number}", said))
        session = await pincite.services.sessions.create(scope)
        for number in range(TURNS):
            await pincite.services.sessions.save_turn(scope, session.id, turn(f"question {number}", said))
        return session.id

    return site.door.do(talk())


def turn(question: str, said: str) -> KeptTurn:
    made: Any = replace(answer(said, (source(1, "doc1", "five days"),)), id=f"a_{question}")
    return KeptTurn(question, question, said, made, True, "t", ())


def test_a_conversation_of_500_questions_stays_smooth(site: Site, session_id: str) -> None:
    with site.visit("/ask") as page:
        expect(page.locator(".past").first).to_be_visible()
        page.evaluate(WATCH)
        page.locator(".past a", has_text="question 0").first.click()
        expect(page.get_by_role("heading", name=f"question {TURNS - 1}", exact=True)).to_be_in_viewport()
        assert page.locator(".turn").count() < 60
        thread = page.locator(".thread")
        for _ in range(6):
            thread.evaluate("(box) => (box.scrollTop = 0)")
            page.wait_for_timeout(60)
        assert 100 < page.locator(".turn").count() < TURNS
        typed = page.locator("[data-ask]")
        typed.press_sequentially("and one more thing")
        expect(typed).to_have_value("and one more thing")
        assert page.url.endswith(session_id)
        longest = page.evaluate("window.longest")
        assert page.locator(".past").count() < 80  # of all
        page.locator(".rows").evaluate("(box) => (box.scrollTop = box.scrollHeight)")
        expect(page.locator(".past").last).to_be_visible()
    assert longest < 20 * BLOCKED_MS  # a bound that fails when all is drawn at once, on a machine with much else to do


def test_of_a_long_document_only_what_is_around_the_passage_is_drawn(site: Site) -> None:
    filler = "\n\n".join(
        f"Paragraph {number} says nothing of note, and says it at some length." for number in range(5_000)
    )
    text = (
        filler[: len(filler) // 2].rpartition("\n\n")[0]
        + "\n\nThe zebra sleeps in the attic.\n\n"
        + filler[len(filler) // 2 :]
    )
    with site.door.client() as client:
        upload(client, "long.md", text, folder="long")
        completed(client, "long")
    with site.visit("/ask") as page:
        ask(page, "Where does the zebra sleep?")
        page.locator(".answer button.cite").first.click()
        expect(page.locator("mark.passage")).to_have_text("The zebra sleeps in the attic.")
        expect(page.locator("mark.passage")).to_be_in_viewport()
        assert page.locator(".document p").count() < 1500
        page.get_by_role("button", name="Show more above").click()
        expect(page.locator("mark.passage")).to_be_in_viewport()
