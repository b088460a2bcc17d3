"""Sources on the page: added, synchronised, shown with their last error, removed."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.page.browser import Site
from tests.remote_servers import PASSWORD, USER, webdav_server


def test_a_source_is_added_synchronised_and_removed(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_SECRET_DAV", PASSWORD)
    (tmp_path / "gate.md").write_text("# Gate\n\nThe gate opens at nine.\n")
    with site.visit("/sources", expected=("422", "502")) as page:
        with webdav_server(tmp_path) as url:
            page.get_by_role("button", name="Add a source").click()
            dialog = page.get_by_role("dialog")
            dialog.get_by_label("Name", exact=True).fill("Cloud")
            dialog.get_by_label("URL").fill(url)
            dialog.get_by_label("User name").fill(USER)
            dialog.get_by_label("Environment variable").fill("HOME")
            dialog.get_by_role("button", name="Add", exact=True).click()
            expect(dialog.get_by_role("alert")).to_contain_text("PINCITE_SECRET_")
            dialog.get_by_label("Environment variable").fill("PINCITE_SECRET_DAV")
            dialog.get_by_role("button", name="Add", exact=True).click()
            row = page.get_by_role("row", name="Cloud")
            expect(row).to_contain_text("not synchronised yet")
            row.get_by_role("button", name="Synchronise").click()
            expect(row).to_contain_text("in step", timeout=60_000)
        row.get_by_role("button", name="Synchronise").click()
        expect(row.get_by_role("alert")).to_contain_text("cannot be reached", timeout=60_000)
        row.get_by_role("button", name="Remove the source").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove the source").click()
        expect(page.get_by_text("No sources are connected")).to_be_visible()


def test_sources_are_shown_in_german(site: Site) -> None:
    with site.visit("/sources", locale="de-DE") as page:
        expect(page.get_by_text("Keine Quelle ist verbunden")).to_be_visible()
