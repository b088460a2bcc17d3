"""Documents: added by choosing and dropping, watched, put in order, shared, removed; and ten thousand of them."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from pincite.api.paths import API
from tests.api.live_server import completed, upload
from tests.page.browser import PASSWORD, Site, unreadable

CATS = "# Cats\n\nCats purr when they are content.\n"
DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  for (const kind of ["dragenter", "drop"])
    document.querySelector(".shelf").dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""
WALK = """async (base) => {
  const { gathered } = await import(`${base}/documents/gather.js`);
  const file = (name) => ({ isFile: true, name, file: (resolve) => resolve(new File(["x"], name)) });
  const directory = (name, some, more = []) => ({ isDirectory: true, name, createReader: () => {
    const parts = [some, more, []];
    return { readEntries: (resolve) => resolve(parts.shift()) };
  } });
  const entry = directory("top", [file("a.md"), file(".DS_Store")], [directory("inner", [file("b.md")]), directory(".git", [file("c.md")])]);
  return (await gathered([entry], "here")).map(({ file, folder }) => `${folder}/${file.name}`);
}"""
DOCUMENT: dict[str, Any] = {
    "author": None,
    "description": None,
    "status": "completed",
    "progress": 1,
    "stage": None,
    "error": None,
    "version": "v",
    "versions": 1,
    "mime": "text/markdown",
    "bytes": 2048,
    "checksum": "c",
    "folder": "",
    "tags": ["t"],
    "source_uri": None,
    "source_urls": [],
    "chunks": 1,
    "stale": False,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "access": {"owner": "local", "users": [], "groups": [], "everyone": False, "roles": []},
}


def file(name: str, text: str | bytes) -> dict[str, Any]:
    """A file as a chooser hands it over."""
    return {"name": name, "mimeType": "", "buffer": text.encode() if isinstance(text, str) else text}


def row(page: Page, name: str) -> Any:
    return page.locator(".document-row", has_text=name)


def choose(page: Page, name: str, what: str) -> None:
    """Choose something to be done with a document."""
    page.get_by_role("button", name=f"Actions for {name}", exact=True).click()
    page.get_by_role("menuitem", name=what).click()


def test_files_are_chosen_and_can_be_read_soon_after(site: Site) -> None:
    with site.visit("/documents") as page:
        expect(page.get_by_role("heading", name="No documents here yet")).to_be_visible()
        expect(page.get_by_text("0 documents")).to_be_visible()
        assert unreadable(page) == []
        page.locator("[data-files]").set_input_files([file("cats.md", CATS), file("dogs.txt", "Dogs bark.\n")])
        expect(row(page, "cats.md")).to_contain_text("Ready")
        expect(row(page, "dogs.txt")).to_contain_text("Ready")
        expect(page.locator(".activity")).to_contain_text("2 of 2 files uploaded")
        page.locator("[data-files]").set_input_files([file("cats.md", CATS)])
        expect(page.locator(".activity")).to_contain_text("1 already present")
        page.get_by_role("button", name="Close", exact=True).click()
        expect(page.locator(".activity")).to_have_count(0)


def test_a_folder_is_added_with_all_that_is_in_it(site: Site, tmp_path: Path) -> None:
    (tmp_path / "house" / "rules").mkdir(parents=True)
    (tmp_path / "house" / "a.md").write_text("# A\n")
    (tmp_path / "house" / "rules" / "b.md").write_text("# B\n")
    (tmp_path / "house" / ".hidden").write_text("no")
    with site.visit("/documents") as page:
        page.locator("[data-directory]").set_input_files(tmp_path / "house")
        expect(page.locator(".activity")).to_contain_text("2 of 2 files uploaded")
        page.get_by_role("link", name=re.compile("^house")).click()
        page.get_by_role("button", name="Folders in house").click()
        page.get_by_role("link", name=re.compile("^rules")).click()
        expect(row(page, "b.md")).to_contain_text("Ready")
        assert "folder=house%2Frules" in page.url


def test_files_are_dropped_and_dropped_folders_walked_through(site: Site) -> None:
    with site.visit("/documents?folder=dropped") as page:
        expect(page.get_by_role("heading", name="dropped")).to_be_visible()
        page.evaluate(DROP, [["owl.md", "# Owl\n"]])
        expect(row(page, "owl.md")).to_contain_text("Ready")
        base = page.locator('script[type="module"]').get_attribute("src")
        assert base is not None
        found = page.evaluate(WALK, base.removesuffix("/app.js"))
        assert found == ["here/top/a.md", "here/top/inner/b.md"]


ELSEWHERE = """([selector, name]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([`The lease ${name} begins in June.`], name, { type: "text/plain" }));
  return ["dragenter", "dragover", "drop"].map((kind) => {
    const event = new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.querySelector(selector).dispatchEvent(event);
    return event.defaultPrevented;
  });
}"""


@pytest.mark.parametrize(
    ("room", "selector"), [("/ask", ".composer"), ("/ask", "nav"), ("/ask", "body"), ("/settings", "main")]
)
def test_a_file_dropped_anywhere_is_added(site: Site, room: str, selector: str) -> None:
    name = f"lease {room[1:]} {selector.strip('.')}.txt"
    with site.visit(room) as page:
        expect(page.locator(selector).first).to_be_visible()
        assert page.evaluate(ELSEWHERE, [selector, name])[1:] == [True, True]
        expect(page.get_by_text("One file is being added.")).to_be_visible()
        page.get_by_role("button", name="Show documents").click()
        expect(row(page, name)).to_contain_text("Ready")


def test_a_file_that_a_reader_drops_is_not_added_and_does_not_leave_the_page(site: Site) -> None:
    with site.door.client() as client:
        client.post(f"{API}/users", json={"name": "lovelace", "role": "reader", "password": PASSWORD})
    login, _ = site.door.do(site.door.pincite.services.logins.log_in("lovelace", PASSWORD, "127.0.0.1"))
    with site.visit("/ask", login=login) as page:
        expect(page.locator(".composer")).to_be_visible()
        assert page.evaluate(ELSEWHERE, ["body", "no.txt"])[1:] == [True, True]
        expect(page.get_by_text("Your role cannot add documents")).to_be_visible()
        expect(page.locator(".drop-veil")).to_have_count(0)


def test_what_cannot_be_taken_in_says_why_and_what_to_do(site: Site, tmp_path: Path) -> None:
    large = tmp_path / "large.md"
    large.write_bytes(b"x" * 10_600_000)
    with site.visit("/documents?folder=refused", expected=("413", "415", "422")) as page:
        page.locator("[data-files]").set_input_files([file("old.doc", "x"), file("empty.md", "")])
        failures = page.locator(".failures li")
        expect(failures).to_have_count(2)
        expect(failures.filter(has_text="old.doc")).to_contain_text("save it as")
        expect(failures.filter(has_text="empty.md")).to_contain_text("is empty")
        assert unreadable(page) == []
        page.get_by_role("button", name="Close", exact=True).click()
        page.locator("[data-files]").set_input_files([large])
        expect(failures.filter(has_text="large.md")).to_contain_text("MB")
        page.locator("[data-files]").set_input_files([file("broken.pdf", b"%PDF-1.7\nnothing of the kind")])
        expect(row(page, "broken.pdf")).to_contain_text("Failed")
        expect(row(page, "broken.pdf").locator(".problem")).not_to_be_empty()


def test_what_is_under_way_is_shown_by_stage_with_rate_and_time(site: Site) -> None:
    job = {
        "id": 7,
        "document_id": "d",
        "name": "long.pdf",
        "folder": "",
        "version": "v",
        "state": "running",
        "stage": "parsing, page 3 of 12",
        "progress": 0.4,
        "priority": 0,
        "attempts": 1,
        "error": None,
    }
    summary = {
        "running": 1,
        "waiting": 30,
        "held": 0,
        "stalled": 2,
        "documents_per_s": 0.2,
        "passages_per_s": 4.0,
        "remaining_s": 155.0,
    }
    told = f"id: 1\nevent: snapshot\ndata: {json.dumps({'items': [job], 'next_cursor': None, 'summary': summary})}\n\n"
    cancelled: list[str] = []

    def cancel(route: Route) -> None:
        cancelled.append(route.request.url)
        route.fulfill(json={"id": 7, "cancelled": True})

    with site.context() as context:
        page = context.new_page()
        page.route(f"**{API}/jobs/events", lambda route: route.fulfill(body=told, content_type="text/event-stream"))
        page.route(f"**{API}/jobs?*", lambda route: route.fulfill(json={"items": [], "summary": summary}))
        page.route(f"**{API}/jobs/7", cancel)
        page.goto("/documents")
        activity = page.locator(".activity")
        expect(activity).to_contain_text("1 document is being processed · 30 waiting · 12 per minute · about 3 min")
        expect(activity).to_contain_text("Parsing, page 3 of 12")
        expect(activity).to_contain_text("2 documents wait for an unavailable service")
        bar = activity.get_by_role("progressbar", name="Progress of long.pdf")
        expect(bar).to_have_attribute("aria-valuenow", "40")
        assert unreadable(page) == []
        activity.get_by_role("button", name="Cancel processing of long.pdf").click()
        expect(page.get_by_text("Processing of long.pdf was cancelled.")).to_be_visible()
        assert len(cancelled) == 1


@pytest.fixture
def kept(site: Site, request: pytest.FixtureRequest) -> str:
    """A folder with two documents in it."""
    folder = f"kept {request.node.name[5:25]}"
    with site.door.client() as client:
        upload(client, "cats.md", CATS, folder=folder)
        upload(client, "dogs.md", "# Dogs\n\nDogs bark.\n", folder=folder)
        completed(client, folder)
    return folder


def test_documents_are_found_named_tagged_and_filed(site: Site, kept: str) -> None:
    with site.visit(f"/documents?folder={kept}") as page:
        expect(page.locator(".document-row")).to_have_count(2)
        page.get_by_label("Search names and titles").fill("cat")
        expect(page.locator(".document-row")).to_have_count(1)
        choose(page, "cats.md", "Edit title, folder and tags")
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Title").fill("All about cats")
        dialog.get_by_label("Tags").fill("pets, purring")
        assert unreadable(page) == []
        dialog.get_by_role("button", name="Save").click()
        expect(row(page, "All about cats")).to_contain_text("purring")
        page.get_by_role("button", name="Only documents tagged pets").click()
        page.get_by_label("Search names and titles").fill("")
        expect(page.locator(".document-row")).to_have_count(1)
        page.get_by_role("button", name="Remove the filter pets").click()
        expect(page.locator(".document-row")).to_have_count(2)
        page.get_by_label("Status").select_option("error")
        expect(page.get_by_role("heading", name="No matching document")).to_be_visible()
        page.get_by_role("button", name="Show all").click()
        choose(page, "dogs.md", "Edit title, folder and tags")
        dialog.get_by_label("Folder").fill("elsewhere/dogs")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        page.goto("/documents?folder=elsewhere")
        expect(row(page, "dogs.md")).to_contain_text("dogs / dogs.md")


def test_documents_are_sorted_by_their_column_heads(site: Site) -> None:
    with site.door.client() as client:
        for name, text in (
            ("b.md", "# Zebras\n\nStripes.\n"),
            ("a.md", f"# Ants\n\n{'Many. ' * 300}\n"),
            ("c.md", "# Moles\n"),
        ):
            upload(client, name, text, folder="sorted")
        completed(client, "sorted")

    def shown(page: Page, *titles: str) -> None:
        expect(page.locator(".document-name > a")).to_have_text(list(titles))

    with site.visit("/documents?folder=sorted") as page:
        shown(page, "Ants", "Zebras", "Moles")
        page.get_by_role("button", name="Sort by Title, ascending").click()
        shown(page, "Ants", "Moles", "Zebras")
        page.get_by_role("button", name="Sort by Title, descending").click()
        shown(page, "Zebras", "Moles", "Ants")
        page.get_by_role("button", name="Sort by Size, descending").click()
        shown(page, "Ants", "Zebras", "Moles")
        assert "sort=size" in page.url
        assert unreadable(page) == []


def test_several_documents_are_tagged_moved_and_removed_together(site: Site, kept: str) -> None:
    with site.visit(f"/documents?folder={kept}") as page:
        page.get_by_label("Select all documents").check()
        bulk = page.get_by_role("region", name="Selected documents")
        expect(bulk).to_contain_text("2 selected")
        assert unreadable(page) == []
        bulk.get_by_role("button", name="Add tags").click()
        page.get_by_role("dialog").get_by_label("Tags").fill("pets, old")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_role("button", name="Only documents tagged pets")).to_have_count(2)
        expect(bulk).to_have_count(0)
        page.get_by_label("Select cats.md").check()
        bulk.get_by_role("button", name="Move").click()
        page.get_by_role("dialog").get_by_label("Folder").fill(f"{kept}/moved")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(row(page, "Cats")).to_contain_text("moved / cats.md")
        page.get_by_label("Select all documents").check()
        bulk.get_by_role("button", name="Delete").click()
        expect(page.get_by_role("dialog")).to_contain_text("2 documents and all their versions")
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_role("heading", name="No documents here yet")).to_be_visible()


def test_a_folder_is_made_told_what_holds_moved_and_removed(site: Site) -> None:
    with site.visit("/documents", expected=("409",)) as page:
        more = page.get_by_role("button", name="More actions")
        dialog = page.get_by_role("dialog")
        for _ in range(2):
            more.click()
            page.get_by_role("menuitem", name="New folder").click()
            dialog.get_by_label("Path").fill("made")
            dialog.get_by_label("Label").fill("Made up")
            dialog.get_by_role("button", name="New folder").click()
            if _ == 0:
                expect(page.get_by_role("heading", name="made")).to_be_visible()
        expect(dialog.get_by_role("alert")).to_be_visible()
        page.keyboard.press("Escape")
        more.click()
        page.get_by_role("menuitem", name="Edit this folder").click()
        expect(dialog.get_by_label("Label")).to_have_value("Made up")
        dialog.get_by_label("Path").fill("moved/here")
        dialog.get_by_label("Instructions").fill("Answer in rhymes.")
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="here")).to_be_visible()
        more.click()
        page.get_by_role("menuitem", name="Delete this folder").click()
        dialog.get_by_role("button", name="Delete").click()
        expect(dialog.get_by_role("heading", name="Deletion receipt")).to_be_visible()


def test_a_document_is_shared_with_people_and_taken_back(site: Site, kept: str) -> None:
    with site.door.client() as client:
        client.post(f"{API}/users", json={"name": "grace", "role": "reader"})
        client.post(f"{API}/groups", json={"name": "crew"})
        [cats, _] = client.get(f"{API}/documents", params={"folder": kept}).json()["items"]

        def access() -> dict[str, Any]:
            found: dict[str, Any] = client.get(f"{API}/documents/{cats['id']}").json()["access"]
            return found

        with site.visit(f"/documents?folder={kept}", expected=("422",)) as page:
            choose(page, "cats.md", "Permissions")
            dialog = page.get_by_role("dialog")
            for label, name in (("Users", "grace"), ("Groups", "crew"), ("Users", "nobody")):
                dialog.get_by_label(label).fill(name)
                dialog.get_by_label(label).press("Enter")
            dialog.get_by_role("button", name="Save").click()
            expect(dialog.get_by_role("alert")).to_contain_text("there is no user 'nobody'")
            assert unreadable(page) == []
            dialog.get_by_role("button", name="Remove nobody").click()
            dialog.get_by_role("button", name="Save").click()
            expect(dialog).to_have_count(0)
            assert access()["users"] == ["grace"]
            assert len(access()["groups"]) == 1
            choose(page, "cats.md", "Permissions")
            dialog.get_by_role("button", name="Inherited from its folder").click()
            expect(dialog).to_have_count(0)
            assert access() == {"owner": "local", "users": [], "groups": [], "everyone": False, "roles": []}


def test_who_may_only_read_finds_nothing_to_change(site: Site, kept: str) -> None:
    with site.door.client() as client:
        client.post(f"{API}/users", json={"name": "hopper", "role": "reader", "password": "a password long enough"})
        client.patch(f"{API}/folders", json={"path": kept, "access": {"everyone": True}}).raise_for_status()
    login, _ = site.door.do(site.door.pincite.services.logins.log_in("hopper", "a password long enough", "127.0.0.1"))
    with site.visit("/documents", login=login) as page:
        expect(page.locator(".document-row")).to_have_count(2)
        expect(page.get_by_role("button", name="Add files")).to_have_count(0)
        page.get_by_role("button", name="Actions for cats.md").click()
        expect(page.get_by_role("menuitem")).to_have_text(["Ask about this document", "Download"])


def test_a_document_is_removed_and_the_receipt_says_what_went(site: Site, kept: str) -> None:
    with site.visit(f"/documents?folder={kept}") as page:
        choose(page, "dogs.md", "Delete")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Dogs and all its versions will be deleted.")
        dialog.get_by_role("button", name="Delete").click()
        expect(dialog.get_by_role("status")).to_contain_text("no data is left")
        expect(dialog.locator(".figures div", has_text="Passages")).to_contain_text("1")
        assert unreadable(page) == []
        dialog.get_by_role("button", name="Close").last.click()
        expect(page.locator(".document-row")).to_have_count(1)


def test_ten_thousand_documents_are_scrolled_through_with_few_of_them_drawn(site: Site) -> None:
    names = [f"document {number:05}" for number in range(10_000)]

    def page_of(route: Route) -> None:
        asked = parse_qs(urlsplit(route.request.url).query)
        if "stale" in asked:
            return route.fulfill(json={"items": [], "next_cursor": None})
        first, limit = int(asked.get("cursor", ["0"])[0]), int(asked["limit"][0])
        items = [
            {**DOCUMENT, "id": f"id{n}", "name": f"{n}.md", "title": names[n]}
            for n in range(first, min(first + limit, 10_000))
        ]
        after = first + limit
        return route.fulfill(json={"items": items, "next_cursor": str(after) if after < 10_000 else None})

    with site.context() as context:
        page = context.new_page()
        page.route(f"**{API}/documents?*", page_of)
        page.goto("/documents")
        expect(row(page, "document 00000")).to_be_visible()
        rows = page.locator(".shelf > .rows")
        drawn = rows.evaluate(
            """async (box) => {
              let most = 0;
              for (let still = 0; still < 20; ) {
                const before = box.scrollHeight;
                box.scrollTop = box.scrollHeight;
                await new Promise(requestAnimationFrame);
                await new Promise((resolve) => setTimeout(resolve, 10));
                most = Math.max(most, box.querySelectorAll(".row").length);
                still = box.scrollHeight === before && box.scrollHeight > 599_000 ? still + 1 : 0;
              }
              return most;
            }"""
        )
        assert 0 < drawn < 80
        expect(row(page, "document 09999")).to_be_visible()
        rows.evaluate("(box) => (box.scrollTop = 5000 * 60)")
        expect(row(page, "document 05000")).to_be_visible()
        last = page.locator(".document-row").filter(visible=True)
        lowest = rows.evaluate(
            "(box) => [...box.querySelectorAll('.document-row')].findLast((row) => row.getBoundingClientRect().bottom <= innerHeight).querySelector('.document-name > a').textContent"
        )
        last.filter(has_text=lowest[:14]).get_by_role("button", name="Actions for").click()
        shown = page.get_by_role("menu").bounding_box()
        assert shown is not None
        assert shown["y"] + shown["height"] <= 900
        page.keyboard.press("Escape")
        assert page.evaluate("document.querySelectorAll('*').length") < 2500
        expect(page.get_by_text("10,000 documents")).to_be_visible()


def test_what_was_indexed_in_another_way_is_said_and_renewed(site: Site) -> None:
    with site.door.client() as client:
        client.put(f"{API}/settings", json={"chunking.size": 100}).raise_for_status()
        try:
            with site.visit("/documents") as page:
                page.get_by_role("link", name="Show them").click()
                expect(page.locator(".document-row").first).to_contain_text("Outdated index")
                assert unreadable(page) == []
                page.get_by_role("button", name="Reindex them").click()
                expect(page.get_by_text(re.compile(r"\d+ documents? (is|are) being reindexed"))).to_be_visible()
        finally:
            client.put(f"{API}/settings", json={"chunking.size": None})
