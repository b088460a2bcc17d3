"""Flows on the page: stored, changed, run and removed."""

import json

import pytest
from playwright.sync_api import expect

from tests.page.browser import Site

LEAVE = "# Leave\n\nUp to five vacation days carry over into the next year.\n"
FLOW = {
    "nodes": [{"id": "docs", "type": "rag", "queries": ["{input}"]}, {"id": "answer", "type": "completion"}],
    "edges": [{"from": "docs", "to": "answer"}],
}


@pytest.fixture(scope="module", autouse=True)
def filled(site: Site) -> None:
    """A document to search."""
    site.door.add("flows", leave=LEAVE)


def test_a_flow_is_made_run_changed_and_removed(site: Site) -> None:
    with site.visit("/flows", expected=("422",)) as page:
        page.get_by_role("button", name="New flow").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("leave")
        dialog.get_by_label("Definition").fill("{")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("alert")).to_contain_text("not valid JSON")
        dialog.get_by_label("Definition").fill(json.dumps({"nodes": []}))
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("alert")).to_contain_text("nodes")
        dialog.get_by_label("Definition").fill(json.dumps(FLOW))
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="leave")).to_be_visible()
        expect(page.locator(".flow-nodes li")).to_have_count(2)
        expect(page.locator(".flow-nodes")).to_contain_text("after docs")
        page.get_by_label("Input").fill("How many vacation days carry over?")
        page.get_by_role("button", name="Run").click()
        expect(page.locator(".answer")).to_contain_text("Up to five vacation days carry over into the next year.")
        expect(page.locator(".steps li")).to_have_count(1)
        page.locator(".answer .cite").first.click()
        expect(page.locator("mark.passage").first).to_be_visible()
        page.get_by_role("button", name="Change the flow").click()
        dialog.get_by_label("Definition").fill(json.dumps({**FLOW, "input": "How many days?"}))
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_label("Version")).to_contain_text("version 2 of 2")
        page.get_by_label("Version").select_option("1")
        expect(page).to_have_url(f"{site.url}/flows/leave?version=1")
        page.get_by_role("link", name="Flows").last.click()
        expect(page.get_by_role("row", name="leave 2 2")).to_be_visible()
        page.get_by_role("link", name="leave").click()
        page.get_by_role("button", name="Delete the flow").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete the flow").click()
        expect(page.get_by_text("No flows are saved")).to_be_visible()


def test_a_flow_is_shown_in_german(site: Site) -> None:
    with site.door.client() as client:
        client.put("/api/v1/flows/urlaub", json=FLOW).raise_for_status()
    with site.visit("/flows/urlaub", locale="de-DE") as page:
        expect(page.get_by_role("button", name="Ausführen")).to_be_visible()
        expect(page.locator(".flow-nodes")).to_contain_text("nach docs")
        expect(page.locator(".flow-nodes")).to_contain_text("schreibt")
