"""Asking: answers with numbered citations, each read at its source; and all that one does with an answer."""

import base64
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from pincite.api.paths import API
from pincite.api.routes.web_ui import release_digest
from tests.api.live_server import completed, upload
from tests.api.models import Talker, speaking
from tests.page.browser import NARROW, PASSWORD, Site, unreadable
from tests.page.speaking import Speaker
from tests.page.views import SAMPLES, ask
from tests.picture_maker import draw, saved

HANDBOOK = """---
title: Handbook
---

# Leave

Up to **five vacation days** carry over into the next year. 🦉 They lapse at the end of March.

# Parking

Cars stand behind the house.
"""
PRICES = "item,price\nlamp,12\ntelescope,4100\nchair,80\n"
NOTES = "The pump hums at night.\nThe pump was replaced in May.\nNobody misses the old one.\n"
MAIL = """From: Ines Albrecht <ines@example.org>
To: Tom Berg <tom@example.org>
Date: Wed, 12 Mar 2025 09:00:00 +0100
Subject: Compensation

Dear Tom,

Ms Dubois gets a voucher of 60 francs as compensation.

Kind regards
Ines Albrecht
"""
CARRY = "How many vacation days carry over?"


@pytest.fixture(scope="module")
def library(site: Site) -> Site:
    """A server with a document of each kind that is shown differently."""
    with site.door.client() as client:
        upload(client, "handbook.md", HANDBOOK, folder="house/rules")
        upload(client, "prices.csv", PRICES, folder="house")
        upload(client, "notes.txt", NOTES, folder="house")
        upload(client, "compensation.eml", MAIL, folder="house")
        upload(
            client, "annual-report-2023.pdf", (SAMPLES / "annual-report-2023.pdf").read_bytes(), folder="observatory"
        )
        assert {one["status"] for one in completed(client, "")} == {"completed"}
    return site


def cite(page: Page) -> None:
    """Open the first citation of the last answer."""
    page.locator(".turn").last.locator(".answer button.cite").first.click()


def test_a_citation_shows_its_passage_and_opens_the_document_at_the_place(library: Site) -> None:
    with library.visit("/ask") as page:
        ask(page, CARRY)
        mark = page.locator(".answer button.cite").first
        assert "five vacation days" in page.locator(".answer").inner_text()
        expect(page.get_by_role("heading", name=CARRY)).to_be_in_viewport()
        mark.hover()
        expect(page.get_by_role("tooltip")).to_contain_text("five vacation days")
        expect(page.get_by_role("tooltip")).to_be_in_viewport(ratio=1)
        page.locator("h2").first.hover()
        expect(page.get_by_role("tooltip")).to_have_count(0)
        mark.focus()
        expect(page.get_by_role("tooltip")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("tooltip")).to_have_count(0)
        mark.click()
        source = page.get_by_role("region", name="Source", exact=True)
        expect(source.locator("mark.passage").first).to_be_in_viewport()
        marked = " ".join(" ".join(source.locator("mark.passage").all_inner_texts()).split())
        assert marked.startswith("Up to five vacation days carry over into the next year.")
        assert "Parking" not in marked
        assert "title: Handbook" not in source.inner_text()  # what stands about the file is not its text
        expect(source).to_contain_text("version 1 of 1")
        page.keyboard.press("Escape")
        expect(source).to_have_count(0)


def test_a_pdf_is_shown_as_its_page_with_the_lines_marked(library: Site) -> None:
    with library.visit("/ask") as page:
        ask(page, "What did the recoating of the main mirror cost?")
        cite(page)
        expect(page.locator("canvas[data-drawn]")).to_be_visible()
        rects = page.locator(".rect")
        expect(rects.first).to_be_in_viewport()
        sheet, first = page.locator(".sheet").bounding_box(), rects.first.bounding_box()
        assert sheet is not None
        assert first is not None
        with library.door.client() as client:
            answer = client.get(f"{API}/sessions/{page.url.rpartition('/')[2]}").json()["turns"][0]["answer"]
            [citation, *_] = answer["citations"]
            size = client.get(f"{API}/documents/{answer['sources'][0]['document_id']}/pages/{citation['page']}").json()
        assert rects.count() == len(citation["rects"])
        left, top, right, _ = citation["rects"][0]
        assert (first["x"] - sheet["x"]) / sheet["width"] == pytest.approx(left / size["width"], abs=0.01)
        assert (first["y"] - sheet["y"]) / sheet["height"] == pytest.approx(top / size["height"], abs=0.01)
        assert first["width"] / sheet["width"] == pytest.approx((right - left) / size["width"], abs=0.01)
        drawn = page.evaluate(
            "() => { const c = document.querySelector('canvas');"
            " return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((part) => part < 100); }"
        )
        assert drawn  # ink, not a blank page
        page.get_by_role("tab", name="Text").click()
        expect(page.locator("mark.passage").first).to_contain_text("recoating")


def test_a_table_has_its_row_marked_and_plain_text_its_lines(library: Site) -> None:
    with library.visit("/ask") as page:
        ask(page, "What is the price of the telescope?")
        cite(page)
        expect(page.locator("tr.marked")).to_contain_text("4100")
        assert page.locator("tr.marked").count() == 1
        grid = page.locator(".cells")  # as a spreadsheet shows it: the citation names A3:B3
        assert grid.locator("thead th").all_inner_texts() == ["A", "B"]
        assert page.locator("tr.marked").locator("th, td").all_inner_texts() == ["3", "telescope", "4100"]
        page.get_by_role("tab", name="Text").click()
        expect(page.locator(".document tr.marked")).to_contain_text("4100")
        ask(page, "When was the pump replaced?")
        cite(page)
        line = page.locator(".lines li", has=page.locator("mark"))
        expect(line.first).to_have_text("The pump was replaced in May.")
        assert line.first.get_attribute("value") == "2"


def test_the_lines_of_a_mail_stay_lines(library: Site) -> None:
    with library.visit("/ask") as page:
        ask(page, "What compensation does Ms Dubois get?")
        cite(page)
        text = page.locator(".source-view .document")
        expect(text).to_contain_text("Kind regards")
        shown = text.inner_text().split("\n")
        assert "Tom Berg" not in next(line for line in shown if line.startswith("From"))
        assert "Kind regards" in [line.strip() for line in shown]
        assert "Ines Albrecht" in [line.strip() for line in shown]


def test_a_pdf_is_zoomed_and_searched(library: Site) -> None:
    with library.door.client() as client:
        [report] = client.get(f"{API}/documents", params={"q": "annual-report"}).json()["items"]
    with library.visit(f"/documents/{report['id']}") as page:
        expect(page.locator("canvas[data-drawn]")).to_be_visible()
        before = page.locator(".sheet").bounding_box()
        page.get_by_role("button", name="Zoom in").click()
        expect(page.get_by_role("button", name="Fit the width")).to_have_text("125%")
        expect(page.locator("canvas[data-drawn]")).to_be_visible()
        after = page.locator(".sheet").bounding_box()
        assert before is not None
        assert after is not None
        assert after["width"] > before["width"]
        assert unreadable(page) == []
        find = page.get_by_label("Find in this PDF")
        find.fill("RECOATING")
        find.press("Enter")
        expect(page.locator(".rect.found").first).to_be_in_viewport()
        find.fill("no such words anywhere")
        find.press("Enter")
        expect(page.get_by_text("Not found")).to_be_visible()
        expect(page.locator(".rect.found")).to_have_count(0)


def test_an_image_is_shown_with_its_passage_marked(library: Site) -> None:
    picture = saved(draw(["The number plate is HH-AB 123"]))
    with library.door.client() as client:
        [notes] = client.get(f"{API}/documents", params={"q": "notes"}).json()["items"]
    version = {"id": notes["version"], "mime": "image/png", "created_at": notes["updated_at"]}
    path = f"**{API}/documents/{notes['id']}"
    with (
        library.context() as context
    ):  # the image is the server's as far as the page can tell: reading images is an extra
        page = context.new_page()
        page.route(f"{path}/versions", lambda route: route.fulfill(json={"items": [version], "next_cursor": None}))
        page.route(f"{path}/file?*", lambda route: route.fulfill(body=picture, content_type="image/png"))
        spot = {"page": 1, "kind": "page", "name": "", "start": 0, "end": 9, "rects": [[10, 20, 60, 40]], "ref": None}
        page.route(f"{path}/places?*", lambda route: route.fulfill(json={"places": [spot]}))
        page.route(f"{path}/pages/1?*", lambda route: route.fulfill(json={"width": 200, "height": 100, "words": []}))
        page.goto("/ask")
        ask(page, "When was the pump replaced?")
        cite(page)
        frame, mark = page.locator(".sheet.picture"), page.locator(".sheet.picture .rect")
        expect(frame.locator("img")).to_have_js_property("complete", True)
        expect(mark).to_be_visible()
        whole, box = frame.bounding_box(), mark.bounding_box()
        assert whole is not None
        assert box is not None
        assert (box["x"] - whole["x"]) / whole["width"] == pytest.approx(0.05, abs=0.01)
        assert box["width"] / whole["width"] == pytest.approx(0.25, abs=0.01)
        page.get_by_role("tab", name="Text").click()
        expect(page.locator("mark.passage").first).to_be_visible()


def test_what_nothing_supports_is_marked_and_said(library: Site) -> None:
    said = "Up to five vacation days carry over into the next year. [Source 1] The moon pays all salaries in cheese."
    with library.visit("/ask") as page, speaking(library.door, Speaker(said)):
        ask(page, "How many vacation days carry over, and who pays?")
        doubtful = page.locator(".answer .unsupported")
        expect(doubtful).to_have_text("The moon pays all salaries in cheese.")
        expect(page.locator(".trust")).to_contain_text("not supported by a source")
        expect(page.locator(".trust .badge")).to_contain_text("confidence")


def test_sources_that_disagree_stand_side_by_side_and_each_opens_at_its_place(library: Site) -> None:
    with library.door.client() as client:
        for year, minutes in ((2021, 30), (2024, 20)):
            text = f"# Rules {year}\n\nAfter a closure the dome is opened again when all values have been good for {minutes} minutes.\n"
            upload(client, f"rules-{year}.md", text, folder="rules")
        completed(client, "rules")
    with library.visit("/ask") as page:
        ask(page, "When is the dome opened again after a closure?")
        sides = page.locator(".conflict .side")
        expect(sides).to_have_count(2)
        both = " ".join(sides.all_inner_texts())
        assert "30 minutes" in both
        assert "20 minutes" in both
        sides.filter(has_text="20 minutes").click()
        expect(page.locator("mark.passage")).to_contain_text("20 minutes")


def test_sources_of_the_same_name_are_told_with_their_folders(library: Site) -> None:
    with library.door.client() as client:
        for folder, code in (("gate-north", "1111"), ("gate-south", "2222")):
            upload(client, "gate.txt", f"The code of the garden gate is {code}.\n", folder=folder)
            completed(client, folder)
    with library.visit("/ask") as page:
        ask(page, "What is the code of the garden gate?")
        shown = " ".join(page.locator(".sources .source").all_inner_texts())
        assert "gate-north" in shown
        assert "gate-south" in shown


def test_a_picture_goes_with_a_question_and_is_told(library: Site) -> None:
    picture = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    with library.visit("/ask") as page:
        take = page.locator("input[type=file]")
        take.set_input_files([{"name": "dot.png", "mimeType": "image/png", "buffer": picture}])
        expect(page.locator(".pictures img")).to_have_count(1)
        take.set_input_files([{"name": "no.png", "mimeType": "image/png", "buffer": b"nothing"}])
        expect(page.get_by_text("no.png is not a readable image")).to_be_visible()
        with page.expect_request("**/api/v1/chat") as sent:
            ask(page, "What is on the picture?")
        assert sent.value.post_data_json["mode"] == "vision"
        assert sent.value.post_data_json["images"][0].startswith("data:image/png;base64,")
        expect(page.locator(".turn")).to_contain_text("with one image")
        expect(page.locator(".pictures")).to_have_count(0)


def test_an_answer_is_stopped_retried_and_its_question_edited(library: Site) -> None:
    with library.visit("/ask") as page, speaking(library.door, Talker()):
        page.locator("[data-ask]").fill("vacation days, please")
        page.keyboard.press("Enter")
        expect(page.locator(".answer")).to_contain_text("word word word")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".turn")).to_contain_text("Stopped.")
        expect(page.locator(".answer")).to_contain_text("word word")


def questions_kept(library: Site, page: Page) -> list[str]:
    with library.door.client() as client:
        return [
            turn["question"]
            for turn in client.get(f"{API}{urlsplit(page.url).path.replace('/ask', '/sessions')}").json()["turns"]
        ]


def test_a_question_asked_again_or_edited_replaces_its_turn(library: Site) -> None:
    with library.visit("/ask") as page:
        ask(page, CARRY)
        turns = page.locator(".turn")
        with page.expect_request("**/api/v1/chat") as sent:
            page.get_by_role("button", name="Ask again", exact=True).click()
        assert sent.value.post_data_json["no_cache"] is True
        expect(turns.last.locator(".trust")).to_be_visible()
        expect(turns).to_have_count(1)
        page.get_by_role("button", name="Ask again differently").click()
        with page.expect_request("**/api/v1/chat") as sent:
            page.get_by_role("menuitem", name="Effort: Maximum").click()
        assert sent.value.post_data_json["intelligence_level"] == "maximum"
        expect(turns.last.locator(".trust")).to_be_visible()
        assert questions_kept(library, page) == [CARRY]
        ask(page, "Where do cars stand?")
        expect(turns).to_have_count(2)
        turns.first.get_by_role("button", name="Ask again", exact=True).click()
        expect(page.get_by_role("dialog")).to_contain_text("The later question and its answer are removed.")
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        expect(turns).to_have_count(2)
        turns.first.hover()
        turns.first.get_by_role("button", name="Edit and ask again").click()
        expect(page.locator("[data-ask]")).to_have_value(CARRY)
        expect(page.locator("[data-ask]")).to_be_focused()
        expect(page.locator(".editing")).to_contain_text("later question")
        page.locator("[data-ask]").fill("When was the pump replaced?")
        page.keyboard.press("Enter")
        expect(turns).to_have_count(1)
        expect(turns.last.locator(".trust")).to_be_visible()
        expect(page.locator(".editing")).to_have_count(0)
        assert questions_kept(library, page) == ["When was the pump replaced?"]
        page.reload()
        expect(turns).to_have_count(1)
        expect(turns).to_contain_text("May")


RENUMBERED = """async (base) => {
  const { renumbered } = await import(`${base}/ask/numbers.js`);
  const citations = [[3, 9], [5, 2], [3, 1], [null, 5]].map(([source, start]) => ({ source, start }));
  const made = renumbered({ citations, sources: [1, 3, 5].map((number) => ({ number, was: number })) });
  return [made.citations.map((one) => one.source), made.sources.map((one) => [one.number, one.was])];
}"""


def test_sources_are_numbered_from_one_in_the_order_of_their_citation(library: Site) -> None:
    with library.visit("/ask") as page:
        cited, sources = page.evaluate(RENUMBERED, f"/assets/{release_digest()}")
        assert cited == [1, 2, 1, None]
        assert sources == [[1, 3], [2, 5], [3, 1]]
        ask(page, "When was the pump replaced?")
        shown = page.locator(".sources .cite").all_text_contents()
        assert shown == [str(number + 1) for number in range(len(shown))]
        assert page.locator(".answer .cite").first.inner_text() == "1"


def test_an_answer_leads_to_its_trace(library: Site) -> None:
    with library.visit("/ask") as page:
        ask(page, CARRY)
        page.get_by_role("link", name="Show how it was found").click()
        expect(page.get_by_role("heading", name="Steps")).to_be_visible()


def test_a_conversation_and_an_answer_are_downloaded_with_their_citations(library: Site) -> None:
    with library.visit("/ask") as page:
        ask(page, CARRY)
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download with evidence").click()
        assert saved.value.suggested_filename == "How many vacation days carry over.html"
        answer = Path(saved.value.path()).read_text(encoding="utf-8")
        assert "<script" not in answer
        assert not re.search(r"(?:src|<link)[= ]", answer)  # nothing is loaded from elsewhere
        with page.expect_download() as saved:
            past = page.locator(".past").first
            past.hover()
            past.get_by_role("button", name=re.compile("^Actions for")).click()
            page.get_by_role("menuitem", name="Download as Markdown").click()
        text = Path(saved.value.path()).read_text(encoding="utf-8")
        assert text.startswith(f"# {CARRY}\n")
        [link] = set(re.findall(r"\[\\\[1\\\]\]\(([^)]+)\)", text))
        assert "> Up to **five vacation days** carry over" in text
        page.goto(link)  # the passage in its document
        expect(page.locator("p", has=page.locator("mark.passage"))).to_contain_text("five vacation days")
        page.goto("about:blank")
        page.set_content(answer)
        expect(page.locator("h1")).to_have_text(CARRY)
        assert page.locator("a.cite").first.get_attribute("href") == "#source-1"
        expect(page.locator("#source-1 blockquote").first).to_contain_text("five vacation days carry over")
        assert unreadable(page) == []


def test_questions_to_begin_with_come_from_the_users_own_documents(library: Site) -> None:
    with library.visit("/ask") as page:
        first = page.get_by_role("region", name="Questions that your documents answer").get_by_role("button").first
        asked = first.locator("strong").inner_text()
        first.click()
        expect(page.locator(".turn .trust")).to_be_visible()
        expect(page.get_by_role("heading", name=asked)).to_be_visible()


def test_one_asks_about_a_document_a_folder_and_tags(library: Site) -> None:
    with library.door.client() as client:
        [notes] = client.get(f"{API}/documents", params={"q": "notes"}).json()["items"]
        client.patch(f"{API}/documents/{notes['id']}", json={"tags": ["technique"]}).raise_for_status()
    with library.visit(f"/documents/{notes['id']}") as page:
        page.get_by_role("button", name="Ask about this document").click()
        expect(page.locator(".scope")).to_contain_text("notes")
        with page.expect_request("**/api/v1/chat") as sent:
            ask(page, "When was the pump replaced?")
        assert sent.value.post_data_json["document_ids"] == [notes["id"]]
        page.goto(f"{library.url}/documents?folder=house%2Frules")
        page.get_by_role("button", name="Ask about this folder").click()
        with page.expect_request("**/api/v1/chat") as sent:
            ask(page, CARRY)
        assert sent.value.post_data_json["folder"] == "house/rules"
        page.locator(".scope").get_by_role("button").first.click()
        page.get_by_role("dialog").get_by_role("button", name="Search all documents").click()
        page.get_by_role("button", name="technique").click()
        assert unreadable(page) == []
        page.get_by_role("button", name="Done").click()
        expect(page.get_by_role("dialog")).to_have_count(0)  # it takes the focus back to what opened it
        with page.expect_request("**/api/v1/chat") as sent:
            ask(page, "When was the pump replaced?")
        assert sent.value.post_data_json["tags"] == ["technique"]


def test_an_answer_is_copied_with_its_references_rated_and_shared(library: Site) -> None:
    with library.visit("/ask", permissions=["clipboard-read", "clipboard-write"]) as page:
        ask(page, CARRY)
        page.get_by_role("button", name="Copy with references").click()
        expect(page.get_by_text("Copied.")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(CARRY)
        assert "[1] Handbook" in copied
        assert "five vacation days" in copied
        page.get_by_role("button", name="Helpful", exact=True).click()
        expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_attribute("aria-pressed", "true")
        page.reload()
        expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Share by link").click()
        link = page.get_by_role("dialog").get_by_label("Link").input_value()
    with library.door.client() as boss:
        boss.post(f"{API}/users", json={"name": "bob", "role": "reader", "password": PASSWORD}).raise_for_status()
    login, _ = library.door.do(library.door.pincite.services.logins.log_in("bob", PASSWORD, "127.0.0.1"))
    with library.visit(link.removeprefix(library.url), login=login) as page:
        expect(page.get_by_role("heading", name=CARRY)).to_be_visible()
        expect(page.locator(".answer")).to_contain_text("vacation days")
        assert page.locator(".answer button.cite").count() == 0  # bob may not read the handbook
    with library.visit("/share#sh_nothing", expected=("404",)) as page:
        expect(page.get_by_text("Answer not found")).to_be_visible()


def test_conversations_are_found_renamed_and_removed(library: Site) -> None:
    with library.door.client() as client:
        client.delete(f"{API}/sessions", params={"all": True})
        for message in ("Where do cars stand?", "When was the pump replaced?"):
            client.post(f"{API}/chat", json={"message": message}).raise_for_status()
    with library.visit("/ask") as page:
        past = page.locator(".past")
        expect(past).to_have_count(2)
        page.get_by_label("Search conversations").fill("behind the house")
        expect(past).to_have_count(1)
        past.get_by_role("link").click()
        expect(page.locator(".turn")).to_contain_text("Where do cars stand?")
        past.hover()
        past.get_by_role("button", name=re.compile("^Actions for")).click()
        page.get_by_role("menuitem", name="Rename").click()
        page.get_by_role("dialog").get_by_label("Name").fill("Parking")
        page.keyboard.press("Enter")
        expect(past.get_by_role("link", name="Parking")).to_be_visible()
        past.get_by_role("button", name=re.compile("^Actions for")).click()
        page.get_by_role("menuitem", name="Delete").click()
        page.get_by_role("button", name="Delete permanently").click()
        expect(past).to_have_count(0)
        page.get_by_label("Search conversations").fill("")
        expect(past).to_have_count(1)
        assert page.url == f"{library.url}/ask"


def test_a_question_is_asked_of_what_was_chosen(library: Site) -> None:
    with library.visit("/ask") as page:
        page.get_by_role("button", name="All documents").click()
        page.get_by_label("Folder").select_option("observatory")
        page.get_by_role("button", name="Done").click()
        with page.expect_request("**/api/v1/chat") as sent:
            ask(page, CARRY)
        assert sent.value.post_data_json["folder"] == "observatory"
        assert "five vacation days" not in page.locator(".answer").inner_text()
        page.get_by_role("button", name="observatory").click()
        page.get_by_role("dialog").get_by_role("button", name="Search all documents").click()
        page.get_by_label("Search by name").fill("notes")
        page.get_by_role("checkbox", name="notes").check()
        page.get_by_label("As of").fill("2020-01-31")
        page.get_by_role("button", name="Done").click()
        with page.expect_request("**/api/v1/chat") as sent:
            ask(page, "When was the pump replaced?")
        assert len(sent.value.post_data_json["document_ids"]) == 1
        assert sent.value.post_data_json["as_of"] == "2020-01-31"


def test_on_a_small_screen_the_source_covers_the_answer_and_goes_again(library: Site) -> None:
    with library.visit("/ask", viewport=NARROW, has_touch=True) as page:
        ask(page, CARRY)
        cite(page)
        source = page.get_by_role("region", name="Source", exact=True)
        box = source.bounding_box()
        assert box is not None
        assert box["width"] == NARROW["width"]
        source.get_by_role("button", name="Close").click()
        expect(page.locator(".answer")).to_be_visible()


def test_documents_are_searched_as_the_chosen_mode_says(library: Site) -> None:
    sent: list[dict[str, Any]] = []
    with library.visit("/ask") as page:
        page.on(
            "request", lambda request: sent.append(request.post_data_json) if request.url.endswith("/chat") else None
        )
        page.get_by_role("button", name="All documents").click()
        page.get_by_label("When documents are searched").select_option("manual")
        page.get_by_role("button", name="Done").click()
        switch = page.get_by_role("checkbox", name="Documents", exact=True)
        expect(switch).not_to_be_checked()
        ask(page, CARRY)
        expect(page.locator(".turn").last.locator("button.cite")).to_have_count(0)
        switch.check()
        ask(page, CARRY)
        expect(page.locator(".turn").last.locator("button.cite").first).to_be_visible()
        page.get_by_role("button", name="by switch").click()
        page.get_by_label("When documents are searched").select_option("automatic")
        page.get_by_role("button", name="Done").click()
        expect(switch).to_have_count(0)
        ask(page, "Thank you!")
    modes = [{"mode": "manual", "enabled": False}, {"mode": "manual", "enabled": True}, {"mode": "automatic"}]
    assert [one["rag"] for one in sent] == modes
