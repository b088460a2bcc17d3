"""Every view of the page, with what is in it: axe looks at each, and so does whoever makes the screenshots."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx2
from playwright.sync_api import Page, expect

from tests.api.live_server import completed, upload
from tests.page.browser import Site

REMEMBERED = (
    "When does the last cable car leave?",
    "Wie lange reicht der Notvorrat?",
    "What happened to the dome on 18 November?",
    "Who may open the dome in wind?",
)
TIMETABLE = "cable-car-timetable.md"  # has an earlier version
FLOW = {
    "nodes": [
        {"id": "docs", "type": "rag", "queries": ["{input}", "rules for the dome"], "folder": "observatory"},
        {"id": "answer", "type": "completion", "system_prompt": "Answer in one sentence."},
    ],
    "edges": [{"from": "docs", "to": "answer"}],
}
SAMPLES = Path(__file__).parent.parent.parent / "examples" / "documents"


@dataclass(frozen=True)
class View:
    """What is shown at an address once it was prepared."""

    name: str
    path: str
    prepare: Callable[[Page], None]
    logged_in: bool = True


def furnish(site: Site) -> None:
    """The sample documents, for a page with something on it."""
    earlier = (SAMPLES / TIMETABLE).read_text(encoding="utf-8").replace("08:10", "08:25").replace("twelve", "ten")
    with site.door.client() as client:
        upload(client, TIMETABLE, earlier, folder="observatory").raise_for_status()
        completed(client, "observatory")
        for sample in sorted(SAMPLES.iterdir()):
            upload(client, sample.name, sample.read_bytes(), folder="observatory").raise_for_status()
        completed(client, "observatory", within_s=300)


def reminisce(site: Site) -> None:
    """A few conversations, and no others."""
    with site.door.client() as client:
        client.delete("/api/v1/sessions", params={"all": True}).raise_for_status()
        for question in REMEMBERED:
            client.post("/api/v1/chat", json={"message": question}).raise_for_status()


def _begin(page: Page) -> None:
    expect(page.locator("[data-ask]")).to_be_visible()


def ask(page: Page, question: str) -> None:
    """Ask, and wait for the whole answer."""
    before = page.locator(".turn").count()
    page.locator("[data-ask]").fill(question)
    page.keyboard.press("Enter")
    turn = page.locator(".turn").nth(before)
    expect(turn).to_have_attribute("aria-busy", "false")
    expect(turn.locator(".trust")).to_be_visible()


def _answer(page: Page) -> None:
    ask(page, "What did the recoating of the main mirror cost?")


def _passage(page: Page) -> None:
    _answer(page)
    page.locator(".answer .cite").first.hover()
    expect(page.get_by_role("tooltip")).to_be_in_viewport(ratio=1)


def _page(page: Page) -> None:
    _answer(page)
    page.locator(".answer .cite").first.click()
    expect(page.locator("canvas[data-drawn]")).to_be_visible()
    expect(page.locator(".rect").first).to_be_visible()


def _text(page: Page) -> None:
    ask(page, "How many nights a year are director's time?")
    page.locator(".answer .cite").first.click()
    expect(page.locator("mark.passage").first).to_be_visible()


def measure(site: Site, questions: int = 24) -> None:
    """Words kept in traces, a changed setting, people and a group, and a set of questions that was run twice."""
    with site.door.client() as client:
        client.put("/api/v1/settings", json={"traces.content": True, "rag.top_k": 8}).raise_for_status()
        client.post("/api/v1/users", json={"name": "Ilse Vantobel", "role": "editor"}).raise_for_status()
        client.post("/api/v1/users", json={"name": "Nadja Pfistri"}).raise_for_status()
        client.post("/api/v1/groups", json={"name": "Night staff", "members": ["Ilse Vantobel"]}).raise_for_status()
        client.post("/api/v1/query", json={"query": "Who may close the dome in a storm?"}).raise_for_status()
        for text in ("Who may close the dome?", "Who may close the dome in a storm?"):
            client.put("/api/v1/flows/storm", json={**FLOW, "input": text}).raise_for_status()
        source = {"name": "Handbook", "kind": "webdav", "url": "https://cloud.example.org/dav/"}
        client.post("/api/v1/sources", json=source).raise_for_status()
        run_set(client, renew=True, questions=questions)
        run_set(client, settings={"rag.alpha": 0.0})


def run_set(client: httpx2.Client, **wish: object) -> str:
    """Ask a set of questions, and wait until that is done."""
    begun = client.post("/api/v1/evaluations", json=wish).raise_for_status().json()["evaluation"]["id"]
    deadline = time.monotonic() + 60
    while client.get(f"/api/v1/evaluations/{begun}").json()["status"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return str(begun)


def _setting(page: Page) -> None:
    page.get_by_label("rag.alpha").fill("0.7")
    expect(page.get_by_role("button", name="Save")).to_be_visible()


def _table(page: Page) -> None:
    expect(page.locator("main table tbody tr").first).to_be_visible()


def _history(page: Page) -> None:
    expect(page.locator(".batches li").first).to_be_visible()


def _profile(page: Page) -> None:
    page.get_by_role("button", name="Preview changes (vexora)").click()
    expect(page.get_by_role("dialog").locator("tbody tr").first).to_be_visible()


def _providers(page: Page) -> None:
    page.get_by_role("button", name="Test connections").click()
    expect(page.locator(".badge.good").first).to_be_visible()


def _groups(page: Page) -> None:
    expect(page.get_by_role("heading", name="Night staff")).to_be_visible()


def _audit(page: Page) -> None:
    page.get_by_role("button", name="Verify").click()
    expect(page.locator(".verify .notice.good")).to_be_visible()
    _table(page)


def _health(page: Page) -> None:
    expect(page.get_by_role("heading", name="Index", exact=True)).to_be_visible()
    expect(page.get_by_text("In use", exact=True)).to_be_visible()


def _trace(page: Page) -> None:
    page.get_by_role("row", name="Who may close the dome in a storm?").get_by_role("link").first.click()
    page.get_by_role("button", name="ranking,").click()
    page.locator(".passages summary").first.click()
    expect(page.locator(".passages .said")).to_be_visible()


def _flow(page: Page) -> None:
    page.get_by_label("Input").fill("Who may close the dome in a storm?")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".trust")).to_be_visible()


def _bench(page: Page) -> None:
    expect(page.locator(".column:nth-of-type(2) .result").first).to_be_visible()
    page.get_by_role("button", name="Mark result 1 as relevant").first.click()
    expect(page.locator(".result.marked").first).to_be_visible()
    page.locator(".score > summary").first.click()


def _evaluation(page: Page) -> None:
    _table(page)
    expect(page.locator("canvas").first).to_be_visible()


def _run(page: Page) -> None:
    page.get_by_role("table").first.get_by_role("link").first.click()
    expect(page.locator("canvas")).to_have_count(3)
    expect(page.get_by_role("heading", name="Questions, worst first")).to_be_visible()


def _conflict(page: Page) -> None:
    ask(page, "When may the dome be opened again after a closure?")
    expect(page.locator(".conflict .side")).to_have_count(2)


def _scope(page: Page) -> None:
    page.get_by_role("button", name="All documents").click()
    expect(page.get_by_role("dialog").get_by_label("Folder")).to_be_visible()
    expect(page.locator(".choices label").first).to_be_visible()


def _documents(page: Page) -> None:
    expect(page.locator(".document-row").first).to_be_visible()


def open_document(page: Page, title: str, view: str = "Document") -> None:
    """Go to a document, and to one of its views."""
    page.get_by_role("link", name=title, exact=True).first.click()
    page.get_by_role("tab", name=view).click()


def _document(page: Page) -> None:
    open_document(page, "Cable Car, Timetable and Rules")
    expect(page.locator(".prose.document table").first).to_be_visible()


def _passages(page: Page) -> None:
    open_document(page, "Cable Car, Timetable and Rules", "Passages")
    page.get_by_label("Find a passage of this document by a question").fill("How many people fit into a cabin?")
    page.get_by_role("button", name="Find", exact=True).click()
    page.locator(".finds button").first.click()
    expect(page.locator(".embedded")).to_be_visible()


def _versions(page: Page) -> None:
    open_document(page, "Cable Car, Timetable and Rules", "Versions")
    expect(page.locator(".hunk").first).to_be_visible()


def _rights(page: Page) -> None:
    page.get_by_role("button", name="Actions for station-handbook.md").click()
    page.get_by_role("menuitem", name="Permissions").click()
    expect(page.get_by_role("dialog").get_by_label("Users")).to_be_visible()


def _entities(page: Page) -> None:
    expect(page.get_by_role("button", name="Turn on")).to_be_visible()


def _form(page: Page) -> None:
    expect(page.get_by_label("Password")).to_be_visible()


def _welcome(page: Page) -> None:
    expect(page.get_by_role("button", name="Sample documents")).to_be_visible()


VIEWS = (
    View("start", "/ask", _begin),
    View("answer", "/ask", _answer),
    View("passage", "/ask", _passage),
    View("source-page", "/ask", _page),
    View("source-text", "/ask", _text),
    View("conflict", "/ask", _conflict),
    View("scope", "/ask", _scope),
    View("documents", "/documents?folder=observatory", _documents),
    View("document", "/documents?folder=observatory", _document),
    View("passages", "/documents?folder=observatory", _passages),
    View("versions", "/documents?folder=observatory", _versions),
    View("entities", "/entities", _entities),
    View("rights", "/documents?folder=observatory", _rights),
    View("setup", "/setup#token", _form, logged_in=False),
    View("welcome", "/setup", _welcome),
    View("login", "/login", _form, logged_in=False),
    View("settings", "/settings/values?q=rag.a", _setting),
    View("settings-history", "/settings/history", _history),
    View("settings-profiles", "/settings/profiles", _profile),
    View("settings-providers", "/settings/providers", _providers),
    View("settings-people", "/settings/people", _groups),
    View("settings-keys", "/settings/keys", _table),
    View("settings-audit", "/settings/audit", _audit),
    View("settings-health", "/settings/health", _health),
    View("traces", "/traces", _table),
    View("trace", "/traces?kind=query", _trace),
    View("flows", "/flows", _table),
    View("flow", "/flows/storm", _flow),
    View("sources", "/sources", _table),
    View("bench", "/bench?q=Who+may+close+the+dome+in+a+storm", _bench),
    View("evaluation", "/evaluation", _evaluation),
    View("evaluation-run", "/evaluation", _run),
)
