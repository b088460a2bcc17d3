"""Sources over HTTP."""

from pathlib import Path

import pytest

from tests.api.live_server import LiveServer, assert_problem
from tests.remote_servers import PASSWORD, USER, webdav_server

SOURCES = "/api/v1/sources"


def test_a_source_is_stored_synchronised_shown_and_removed(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_SECRET_DAV", PASSWORD)
    (tmp_path / "a.md").write_text("# A\n\nThe gate opens at nine.\n")
    client = live_server.client()
    with webdav_server(tmp_path) as url:
        body = {"name": "dav", "kind": "webdav", "url": url, "folder": "dav", "options": {"user": USER}}
        made = client.post(SOURCES, json=body | {"secret_env": "PINCITE_SECRET_DAV"})
        assert (made.status_code, made.json()["state"]) == (201, "new")
        path = f"{SOURCES}/{made.json()['id']}"
        done = client.post(f"{path}/sync").json()
        assert done == {"added": 1, "updated": 0, "unchanged": 0, "removed": 0, "refused": []}
        shown = client.get(path).json()
        assert (shown["state"], shown["documents"], PASSWORD in str(shown)) == ("ok", 1, False)
        assert [one["name"] for one in client.get(SOURCES).json()["items"]] == ["dav"]
        assert client.delete(path, params={"documents": True}).status_code == 204
    assert_problem(client.get(path), 404, "not_found")
    assert client.get("/api/v1/documents", params={"folder": "dav"}).json()["items"] == []


def test_wrong_bodies_are_refused(live_server: LiveServer) -> None:
    client = live_server.client()
    body = {"name": "x", "kind": "webdav", "url": "https://x.example/"}
    assert_problem(client.post(SOURCES, json=body | {"kind": "ftp"}), 422, "invalid")
    assert_problem(client.post(SOURCES, json=body | {"secret_env": "HOME"}), 422, "invalid")
    assert_problem(client.post(SOURCES, json=body | {"every_minutes": -1}), 422, "invalid")
