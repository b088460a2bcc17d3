"""One document: itself, its passages drawn on it, its versions compared; removed, and gone."""

import pytest
from playwright.sync_api import expect

from tests.api.live_server import completed, upload
from tests.page.browser import NARROW, Site, unreadable
from tests.page.views import SAMPLES

EARLIER = "---\ntitle: Owls\n---\n# Owls\n\nOwls eat mice.\n\n## Night\n\nThey hunt at dusk.\n"
LATER = "---\ntitle: Owls\n---\n# Owls\n\nOwls eat mice. 🦉\n\n## Night\n\nThey hunt at night, and rest by day.\n\n| owl | prey |\n|---|---|\n| barn owl | vole |\n"


@pytest.fixture(scope="module")
def owls(site: Site) -> str:
    """The address of a document with two versions."""
    with site.door.client() as client:
        for text in (EARLIER, LATER):
            upload(client, "owls.md", text, folder="birds")
            [document] = completed(client, "birds")
    return f"/documents/{document['id']}"


def test_a_document_is_shown_as_it_reads_and_line_by_line(site: Site, owls: str) -> None:
    with site.visit(owls) as page:
        expect(page.get_by_role("heading", name="Owls", level=1)).to_be_visible()
        expect(page.locator(".prose.document table")).to_contain_text("barn owl")
        expect(page.locator(".prose.document")).not_to_contain_text("title:")
        page.get_by_role("button", name="Lines").click()
        expect(page.locator(".lines li").nth(3)).to_have_text("# Owls")
        with page.expect_download() as started:
            page.get_by_role("link", name="Download the file").click()
        assert started.value.suggested_filename == "owls.md"


def test_a_pdf_is_shown_page_by_page(site: Site) -> None:
    with site.door.client() as client:
        upload(client, "report.pdf", (SAMPLES / "annual-report-2023.pdf").read_bytes(), folder="reports")
        [document] = completed(client, "reports")
    with site.visit(f"/documents/{document['id']}") as page:
        expect(page.locator("canvas[data-drawn]")).to_be_visible()
        page.get_by_role("button", name="Text").click()
        expect(page.locator(".prose.document")).to_contain_text("Silberjoch")


def test_passages_are_drawn_with_their_levels_and_found_by_a_question(site: Site, owls: str) -> None:
    with site.visit(f"{owls}?view=passages") as page:
        expect(page.locator(".levels")).to_contain_text("2 sections")
        labels = page.locator(".passage-label")
        expect(labels).to_have_count(2)
        expect(labels.nth(1)).to_contain_text("table")
        assert page.locator(".section-label").all_inner_texts() == ["Owls", "Owls › Night"]
        assert page.locator(".brackets .bar-1").count() >= 2
        page.get_by_label("Find a passage of this document by a question").fill("When do they hunt?")
        page.get_by_role("button", name="Find", exact=True).click()
        expect(page.locator(".finds li").first).to_contain_text("They hunt at night")
        page.locator(".finds button").first.click()
        view = page.locator(".passage-view")
        expect(view).to_contain_text("Rank 1 of 2")
        expect(view.locator("table")).to_contain_text("Lexical search")
        expect(view.locator(".embedded")).to_contain_text("Owls > Night")
        expect(view.locator(".embedded")).to_contain_text("They hunt at night")
        assert unreadable(page) == []
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")  # the first leaves the field
        expect(view).to_have_count(0)


def test_versions_are_compared_side_by_side_or_in_one_column(site: Site, owls: str) -> None:
    with site.visit(f"{owls}?view=versions") as page:
        expect(page.locator(".versions li").first).to_contain_text("in use")
        hunk = page.locator(".hunk")
        expect(hunk.locator("td.removed").first).to_contain_text("Owls eat mice.")
        expect(hunk.locator("td.added").first).to_contain_text("Owls eat mice. 🦉")
        assert hunk.locator("tr").first.locator("td").count() == 4
        page.get_by_role("button", name="In one column").click()
        assert hunk.locator("tr").first.locator("td").count() == 3
        page.set_viewport_size(NARROW)
        assert unreadable(page) == []
        page.locator(".pair select").first.select_option(index=0)
        expect(page.get_by_text("The text is identical.")).to_be_visible()


def test_a_document_that_is_removed_shows_its_receipt_and_then_is_not_there(site: Site) -> None:
    with site.door.client() as client:
        upload(client, "gone.md", "# Gone\n", folder="soon")
        [document] = completed(client, "soon")
    address = f"/documents/{document['id']}"
    with site.visit(address, expected=("404",)) as page:
        page.get_by_role("button", name="Actions for gone.md").click()
        page.get_by_role("menuitem", name="Delete").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Delete").click()
        expect(dialog).to_contain_text("no data is left")
        dialog.get_by_role("button", name="Close").last.click()
        page.wait_for_url("**/documents?folder=soon")
        page.goto(site.url + address)
        expect(page.get_by_role("heading", name="Document not found")).to_be_visible()
        assert unreadable(page) == []
