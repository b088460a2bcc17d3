"""Settings, people, keys, the audit log: managed on the page by administrators, and out of sight for others."""

import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.model_server import model_server
from tests.page.attacks import NAMES, unharmed
from tests.page.browser import PASSWORD, Site, unreadable

REFUSED = ("422",)


def value(site: Site, key: str) -> object:
    with site.door.client() as client:
        return client.get("/api/v1/settings").json()["values"][key]


def test_a_setting_is_refused_with_the_reason_then_changed_and_taken_back(site: Site) -> None:
    with site.visit("/settings", expected=REFUSED) as page:
        page.get_by_label("Find a setting").fill("weight of dense")
        field = page.get_by_label("rag.alpha")
        expect(field).to_have_value("0.5")
        field.fill("7")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".setting.wrong")).to_contain_text("must be a number from 0 to 1 (was 7)")
        assert unreadable(page) == []
        assert value(site, "rag.alpha") == 0.5
        field.fill("0.3")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".setting")).to_contain_text("Changed here")
        assert value(site, "rag.alpha") == 0.3
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("The last change was undone")).to_be_visible()
        expect(field).to_have_value("0.5")
        assert value(site, "rag.alpha") == 0.5
        page.goto(f"{site.url}/settings/history")
        expect(page.locator(".batches li").first).to_contain_text(re.compile(r"Change \d+ undone"))
        expect(page.locator(".batches li").nth(1)).to_contain_text("0.3")


def test_several_settings_are_changed_together_or_not_at_all(site: Site) -> None:
    with site.visit("/settings?q=rag.rrf_k", expected=REFUSED) as page:
        page.get_by_label("rag.rrf_k", exact=True).fill("7")
        page.get_by_label("Find a setting").fill("rag.fusion")
        page.get_by_label("rag.fusion").select_option("rrf")
        page.get_by_label("Find a setting").fill("max_query_chars")
        page.get_by_label("guard.max_query_chars").fill("many")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_contain_text("guard.max_query_chars")
        assert (value(site, "rag.fusion"), value(site, "rag.rrf_k")) != ("rrf", 7)
        page.get_by_label("guard.max_query_chars").fill("4000")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("2 settings changed")).to_be_visible()
        assert (value(site, "rag.fusion"), value(site, "rag.rrf_k")) == ("rrf", 7)
        with site.door.client() as client:
            client.post("/api/v1/settings/undo").raise_for_status()


def test_what_cannot_be_changed_here_says_why(site: Site) -> None:
    with site.visit("/settings?q=llm.api_key") as page:
        row = page.locator(".setting").first
        expect(row).to_contain_text("Not set")
        expect(row).to_contain_text("PINCITE_LLM__API_KEY")
        expect(row.locator("input, select, textarea")).to_have_count(0)


def test_a_profile_tells_what_it_would_change_and_changes_that(site: Site) -> None:
    with site.visit("/settings/profiles") as page:
        page.get_by_role("button", name="Preview changes (vexora)").click()
        row = page.get_by_role("dialog").get_by_role("row", name="rag.alpha")
        expect(row.get_by_role("cell")).to_have_text(["0.5", "0.3"])
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator(".toast")).to_contain_text("Profile vexora")
        assert value(site, "rag.alpha") == 0.3
        page.goto(f"{site.url}/settings/history")
        page.get_by_role("button", name="Undo the last change").click()
        expect(page.get_by_text("The last change was undone")).to_be_visible()
    assert value(site, "rag.alpha") == 0.5


def test_providers_are_tested_and_a_failure_says_what_it_was(site: Site) -> None:
    with site.door.client() as client, site.visit("/settings/providers") as page:
        page.get_by_role("button", name="Test connections").click()
        expect(page.locator(".badge.good")).to_have_count(3)
        client.put("/api/v1/settings", json={"llm.base_url": "http://127.0.0.1:9/v1"}).raise_for_status()
        page.get_by_role("button", name="Test connections").click()
        expect(page.locator(".badge.bad")).to_have_count(1)
        expect(page.locator(".card", has=page.locator(".badge.bad"))).to_contain_text("127.0.0.1:9")
        client.post("/api/v1/settings/undo").raise_for_status()


def test_the_language_model_is_set_in_a_form_and_its_key_never_shown(site: Site) -> None:
    with site.visit("/settings/providers") as page, model_server("yes") as server:
        form = page.locator(".model-form")
        form.get_by_label("Provider").select_option(label="OpenAI or a compatible server")
        form.get_by_label("Address").fill(f"{server.url}/v1")
        form.get_by_label("Model").fill("m")
        form.get_by_label("Key", exact=True).fill("sk-typed-here")
        assert unreadable(page) == []
        form.get_by_role("button", name="Save and test").click()
        expect(form.get_by_label("Key", exact=True)).to_have_attribute("placeholder", "A key is stored")
        expect(form).to_contain_text(re.compile(r"The model \S+ works"))
        assert server.requests[-1][2]["authorization"] == "Bearer sk-typed-here"
        assert value(site, "llm.provider") == "openai_compatible"
        page.reload()
        expect(form.get_by_label("Address")).to_have_value(f"{server.url}/v1")
        assert "sk-typed-here" not in page.content()
        form.get_by_label("Remove the stored key").check()
        form.get_by_label("Provider").select_option("extractive")
        form.get_by_role("button", name="Save and test").click()
        expect(form).to_contain_text("Saved: answers quote sentences")
        assert value(site, "llm.provider") == ""


def test_a_user_is_added_let_in_and_given_a_key_that_is_shown_once(site: Site) -> None:
    with site.visit("/settings/people", expected=("409",)) as page:
        page.get_by_role("button", name="Add a user").click()
        page.get_by_label("Name").fill("Ben Reader")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("dialog").get_by_role("button", name="Add a user").click()
        expect(page.get_by_role("rowheader", name="Ben Reader")).to_be_visible()
        page.get_by_label("Role of Ben Reader").select_option("editor")
        page.get_by_role("button", name="Add a group").click()
        page.get_by_label("Name").fill("Readers")
        page.get_by_role("dialog").get_by_role("button", name="Add a group").click()
        page.get_by_label("Add a user to Readers").select_option(label="Ben Reader")
        expect(page.get_by_role("row", name="Ben Reader")).to_contain_text("Readers")
        page.get_by_role("button", name="Actions for Ben Reader").click()
        page.get_by_role("menuitem", name="Usage and limits").click()
        expect(page.get_by_role("dialog")).to_contain_text("Tokens today")
        assert unreadable(page) == []
        page.keyboard.press("Escape")
        page.goto(f"{site.url}/settings/keys")
        key = make_key(page, "for a script", "Ben Reader")
        with httpx2.Client(base_url=site.url, headers={"Authorization": f"Bearer {key}"}) as client:
            assert client.get("/api/v1/me").json()["name"] == "Ben Reader"
            expect(page.get_by_role("rowheader", name="for a script")).to_be_visible()
            assert key not in page.content()
            page.get_by_role("button", name="Revoke (for a script)").click()
            page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
            expect(page.get_by_role("row", name="for a script")).to_contain_text("Revoked")
            assert client.get("/api/v1/me").status_code == 401


def make_key(page: Page, name: str, user: str) -> str:
    page.get_by_role("button", name="Create a key").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("User").select_option(label=user)
    page.get_by_role("dialog").get_by_role("button", name="Create a key").click()
    field = page.get_by_role("textbox", name="Key")
    expect(field).to_be_visible()
    assert unreadable(page) == []
    key = field.input_value()
    page.get_by_role("button", name="I have saved the key").click()
    expect(field).to_have_count(0)
    return key


def test_the_audit_log_is_verified_and_filtered(site: Site) -> None:
    with site.visit("/settings/audit", expected=REFUSED) as page:
        page.get_by_role("button", name="Verify").click()
        verdict = page.locator(".verify .notice.good")
        expect(verdict).to_contain_text("events verified")
        head = verdict.locator(".mono").inner_text()
        page.get_by_label("Head hash of an earlier verification").fill(head)
        page.get_by_role("button", name="Verify").click()
        expect(verdict).to_be_visible()
        page.get_by_label("Head hash of an earlier verification").fill(f"{head.split(':')[0]}:{'0' * 64}")
        page.get_by_role("button", name="Verify").click()
        expect(page.locator(".verify .notice.bad")).to_be_visible()
        page.get_by_label("Event").fill("setup")
        page.keyboard.press("Tab")
        expect(page.locator("table.events tbody tr")).to_have_count(1)


@pytest.fixture(scope="module")
def reader(site: Site) -> Iterator[str]:
    """The login of somebody who may only read."""
    with site.door.client() as client:
        client.post("/api/v1/users", json={"name": "Rea", "role": "reader", "password": PASSWORD}).raise_for_status()
        login, _ = site.door.do(site.door.pincite.services.logins.log_in("Rea", PASSWORD, "127.0.0.1"))
        yield login


def test_a_reader_sees_no_administrators_rooms(site: Site, reader: str) -> None:
    with site.visit("/traces", login=reader) as page:
        rooms = page.get_by_role("navigation")
        expect(rooms.get_by_role("link", name="Traces")).to_be_visible()
        expect(rooms.get_by_role("link", name="Search bench")).to_be_visible()
        for name in ("Settings", "Evaluation"):
            expect(rooms.get_by_role("link", name=name)).to_have_count(0)
        for path in ("/settings", "/settings/keys", "/evaluation"):
            page.goto(site.url + path)
            expect(page.get_by_role("heading", name="Your role has no access")).to_be_visible()
        page.goto(f"{site.url}/bench?q=anything")
        expect(page.locator(".column").first).to_contain_text("No passages found")
        expect(page.get_by_role("button", name="Mark result")).to_have_count(0)


def test_a_reader_makes_a_key_of_their_own_and_no_other(site: Site, reader: str) -> None:
    with site.visit("/ask", login=reader) as page:
        page.get_by_role("button", name="Rea", exact=True).click()
        page.get_by_role("menuitem", name="Your account").click()
        expect(page.get_by_role("heading", name="Your keys")).to_be_visible()
        assert unreadable(page) == []
        page.get_by_role("button", name="Create a key").click()
        expect(page.get_by_label("Role").locator("option")).to_have_text(["Reader"])
        page.get_by_label("Name").fill("my editor")
        page.get_by_role("dialog").get_by_role("button", name="Create a key").click()
        key = page.get_by_role("textbox", name="Key").input_value()
        page.get_by_role("button", name="I have saved the key").click()
        expect(page.get_by_role("rowheader")).to_have_text(["my editor"])
        with httpx2.Client(base_url=site.url, headers={"Authorization": f"Bearer {key}"}) as client:
            assert (client.get("/api/v1/me").json()["name"], client.get("/api/v1/me").json()["role"]) == (
                "Rea",
                "reader",
            )
            page.get_by_role("button", name="Revoke (my editor)").click()
            page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
            expect(page.get_by_role("row", name="my editor")).to_contain_text("Revoked")
            assert client.get("/api/v1/me").status_code == 401
        refused = page.request.post(f"{site.url}/api/v1/me/keys", data={"name": "more", "role": "editor"})
        assert refused.status == 403


def test_no_name_and_no_value_runs(site: Site) -> None:
    with site.door.client() as client:
        for number, text in enumerate(NAMES):
            for noun in ("users", "groups", "keys"):
                client.post(f"/api/v1/{noun}", json={"name": text}).raise_for_status()
            values = {"category_labels": {f"f{number}": text}, "llm.model": text}
            client.put("/api/v1/settings", json=values).raise_for_status()
    with site.visit("/settings?q=category_labels", expected=REFUSED) as page:
        expect(page.get_by_label("category_labels")).to_have_value(re.compile("attacked"))
        page.get_by_label("category_labels").fill(NAMES[0])
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_be_visible()
        unharmed(page)
        for part in ("history", "people", "keys", "audit", "providers"):
            page.goto(f"{site.url}/settings/{part}")
            expect(page.get_by_role("tabpanel")).to_contain_text("attacked")
            unharmed(page)
    with site.door.client() as client:
        for _ in NAMES:
            client.post("/api/v1/settings/undo").raise_for_status()
