"""Sources on the command line."""

from pathlib import Path

import pytest

from tests.remote_servers import PASSWORD, USER, webdav_server

from .terminal import Call


def test_a_source_is_added_synchronised_listed_and_removed(
    pincite: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_SECRET_DAV", PASSWORD)
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "a.md").write_text("# A\n\nThe gate opens at nine.\n")
    assert "There are no sources" in pincite("source", "list").out
    with webdav_server(tmp_path / "box") as url:
        call = ("source", "add", "webdav", url, "--name", "dav", "--option", f"user={USER}", "--folder", "dav")
        assert pincite(*call, "--secret-env", "PINCITE_SECRET_DAV").code == 0
        assert pincite("source", "sync", "dav").out == "1 added, 0 updated, 0 unchanged, 0 removed\n"
        assert pincite("source", "sync", "dav", "--json").json["unchanged"] == 1
    assert "ok" in pincite("source", "list").words
    assert "cannot be reached" in pincite("source", "sync", "dav").err
    said = pincite("source", "list").words
    assert "failed" in said
    assert "dav: http://127.0.0.1" in said
    assert pincite("source", "remove", "dav", "--documents").out == "dav is removed, with its documents\n"
    assert pincite("list", "--folder", "dav", "--json").json["items"] == []
    assert pincite("source", "add", "ftp", "x", "--name", "x").code == 2
    assert "KEY=VALUE" in pincite("source", "add", "webdav", "https://x/", "--name", "x", "--option", "user").err
