"""Hostile words through every surface of Ask: names, headings, texts, answers, titles, errors; nothing runs, nothing leaves."""

import pytest
from playwright.sync_api import expect

from pincite.api.paths import API
from tests.api.live_server import completed, upload
from tests.api.models import speaking
from tests.page.attacks import ATTACKS, LEAKS, unharmed
from tests.page.browser import PASSWORD, Site
from tests.page.speaking import Speaker

HOSTILE = " ".join(one.replace("\n", " ") for one in (*ATTACKS[:8], *LEAKS[:3]))
NAME = "<img src=x onerror=window.attacked=1>"
QUESTION = "What does the owl eat at night?"


def document(number: int, attack: str) -> str:
    """A document with an attack in every place that is shown."""
    inline = attack.replace("\n", " ")
    title = inline.replace('"', "'").replace("\\", "")
    return f'---\ntitle: "{title}"\n---\n\n# {inline} owl\n\nThe owl number {number} eats mice at night. {inline}\n\n{attack}\n\n- {inline}\n\n| owl | {inline.replace("|", "")} |\n|---|---|\n| mice | {inline.replace("|", "")} |\n'


@pytest.fixture(scope="module")
def hostile(site: Site) -> Site:
    """A server full of hostile names and texts, and an administrator who goes by one."""
    with site.door.client() as client:
        for number, attack in enumerate((*ATTACKS, *LEAKS)):
            upload(
                client,
                f"{number} {NAME}.md".replace("/", "_"),
                document(number, attack),
                folder="a <b>folder</b> " + NAME,
                tags=NAME,
            )
        upload(client, "whole.md", document(99, HOSTILE), folder="whole")
        assert {one["status"] for one in completed(client, "")} == {"completed"}
    return site


def test_answers_sources_and_documents_are_shown_and_do_nothing(hostile: Site) -> None:
    with hostile.visit("/ask") as page:
        page.locator("[data-ask]").fill(f"{QUESTION} {HOSTILE[:300]}")
        page.keyboard.press("Enter")
        expect(page.locator(".turn .trust")).to_be_visible()
        unharmed(page)
        details = page.locator(".sources details summary")
        if details.count():
            details.click()
        for place in range(min(6, page.locator(".source").count())):
            page.locator(".source").nth(place).click()
            expect(page.locator(".source-body .document")).not_to_be_empty()
            unharmed(page)
        page.get_by_role("tab", name="Lines").click()
        expect(page.locator(".lines li").first).to_be_visible()
        page.locator(".answer .cite").first.hover()
        unharmed(page)


def test_what_an_obedient_model_writes_does_nothing(hostile: Site) -> None:
    for said in (f"{HOSTILE} The owl eats mice. [Source 1]", "\n\n".join((*ATTACKS, *LEAKS)) + " [Source 1]"):
        with hostile.visit("/ask") as page, speaking(hostile.door, Speaker(said)):
            page.locator("[data-ask]").fill(QUESTION)
            page.keyboard.press("Enter")
            expect(page.locator(".turn .trust")).to_be_visible()
            unharmed(page)
            for link in page.locator(".answer a[href]").all():
                assert "noopener" in (link.get_attribute("rel") or "")
                assert (link.get_attribute("href") or "").startswith(("http://", "https://", "mailto:"))


def test_titles_names_folders_and_errors_are_words(hostile: Site) -> None:
    with hostile.door.client() as boss:
        boss.post(f"{API}/users", json={"name": f"eve {NAME}", "role": "editor", "password": PASSWORD})
        answer = boss.post(f"{API}/chat", json={"message": f"{NAME} {QUESTION}"}).json()
        boss.patch(f"{API}/sessions/{answer['session_id']}", json={"title": HOSTILE[:200]}).raise_for_status()
    login, _ = hostile.door.do(hostile.door.pincite.services.logins.log_in(f"eve {NAME}", PASSWORD, "127.0.0.1"))
    with hostile.visit(f"/ask/{NAME}", login=login, expected=("404",)) as page:
        expect(page.get_by_text("Conversation not found")).to_be_visible()
        expect(page.get_by_role("button", name="eve")).to_contain_text(NAME)
        unharmed(page)
    with hostile.visit(f"/ask?q={NAME}") as page:
        expect(page.locator("[data-ask]")).to_have_value(NAME)
        expect(page.locator(".past").first).to_contain_text("<script>")
        page.locator(".past").first.hover()
        page.locator(".past button").first.click()
        page.get_by_role("menuitem", name="Delete").click()
        expect(page.get_by_role("dialog")).to_contain_text("<script>")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="All documents").click()
        expect(page.get_by_label("Folder").locator("option", has_text=NAME)).to_have_count(1)
        expect(page.locator(".choices label").first).to_be_visible()
        unharmed(page)


def test_a_file_that_would_run_is_shown_as_text_and_saved_as_a_file(hostile: Site) -> None:
    evil = "<html><body><h1>Stoat</h1><p>The stoat sleeps in a barrel.</p><script>window.attacked=1;alert(1)</script></body></html>"
    with hostile.door.client() as client:
        upload(client, "stoat.html", evil, folder="html")
        [made] = completed(client, "html")
    with hostile.visit("/ask") as page:
        page.locator("[data-ask]").fill("Where does the stoat sleep?")
        page.keyboard.press("Enter")
        expect(page.locator(".turn .trust")).to_be_visible()
        page.locator(".answer button.cite").first.click()
        expect(page.locator("mark.passage").first).to_contain_text("barrel")
        unharmed(page)
        with page.expect_download() as saved:
            page.evaluate("(address) => { location.href = address; }", f"{API}/documents/{made['id']}/file")
        assert saved.value.suggested_filename == "stoat.html"
        unharmed(page)


def test_documents_folders_tags_passages_and_versions_are_shown_and_do_nothing(hostile: Site) -> None:
    with hostile.door.client() as client:
        upload(client, "whole.md", document(98, HOSTILE), folder="whole")
        completed(client, "whole")
    with hostile.visit("/documents") as page:
        expect(page.locator(".document-row").first).to_be_visible()
        unharmed(page)
        rows = page.locator(".shelf > .rows")
        for _ in range(4):
            rows.evaluate("(box) => (box.scrollTop += box.clientHeight)")
            unharmed(page)
        page.goto(f"{hostile.url}/documents?folder=whole")
        page.get_by_role("button", name="Actions for whole.md").click()
        page.get_by_role("menuitem", name="Edit title, folder and tags").click()
        unharmed(page)
        page.keyboard.press("Escape")
        page.locator(".document-row a").click()
        expect(page.locator(".prose.document")).not_to_be_empty()
        unharmed(page)
        page.get_by_role("tab", name="Passages").click()
        page.locator(".passage-label button").first.click()
        expect(page.locator(".embedded")).to_be_visible()
        unharmed(page)
        page.get_by_role("tab", name="Versions").click()
        expect(page.locator(".hunk").first).to_be_visible()
        unharmed(page)
