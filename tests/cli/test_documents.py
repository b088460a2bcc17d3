"""The commands add, list, show, read, remove."""

import os
from pathlib import Path
from typing import Any

import pytest

from pincite.cli.documents import match_id, parse_lines
from pincite.errors import Invalid, NotFound
from tests.model_server import model_server
from tests.pdf_maker import make_pdf

from .conftest import HANDBOOK
from .terminal import Call


def ids(library: Call) -> dict[str, str]:
    """Name → id."""
    return {item["name"]: item["id"] for item in library("list", "--json").json["items"]}


def test_adding_says_what_became_of_every_file(pincite: Call, tmp_path: Path) -> None:
    box = tmp_path / "box"
    box.mkdir()
    assert pincite("add", box).out == "0 added\n"
    (box / "good.md").write_text("# Good\n\nA sentence.\n")
    (box / "bad.txt").write_bytes("a\0b".encode("utf-16"))
    (box / "lying.pdf").write_text("no PDF at all")
    (box / "sheet.ods").write_text("cells")
    said = pincite("add", box, tmp_path / "missing.md", "--folder", "in")
    assert said.code == 1
    assert "1 added, 3 failed, 1 skipped" in said.words
    assert f"failed there is no file or folder {tmp_path / 'missing.md'}" in said.words
    assert "failed in/box/bad.txt: character 2 is a NUL" in said.words
    assert "'lying.pdf' is named .pdf, but its bytes are text" in said.words


def test_a_document_is_found_by_its_name_its_path_or_the_end_of_its_path(pincite: Call, tmp_path: Path) -> None:
    for path in ("hr/rules/leave.md", "hr/notes.md", "it/notes.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"# Text of {path}\n\nWords.\n")
    assert pincite("add", tmp_path / "hr", tmp_path / "it").code == 0
    for wanted in ("leave.md", "rules/leave.md", "hr/rules/leave.md", "/hr/rules/leave.md"):
        assert "# Text of hr/rules/leave.md" in pincite("read", wanted).out
    assert "# Text of it/notes.md" in pincite("read", "it/notes.md").out
    said = pincite("remove", "notes.md")
    assert (said.code, "give the path or the id" in said.err) == (2, True)
    assert "hr/notes.md (" in said.err
    assert "it/notes.md (" in said.err
    assert pincite("share", "leave.md").out.endswith("nobody else may read it\n")
    assert pincite("show", "leaf.md").code != 0


def test_tags_are_shown_added_and_removed(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nWords.\n")
    pincite("add", tmp_path / "a.md")
    assert pincite("tag", "a.md").out == "a.md: no tags\n"
    assert pincite("tag", "a.md", "--add", "contract", "--add", "2024").out == "a.md: contract, 2024\n"
    assert pincite("tag", "a.md", "--remove", "2024", "--json").json["tags"] == ["contract"]
    assert [one["name"] for one in pincite("list", "--tag", "contract", "--json").json["items"]] == ["a.md"]
    assert pincite("tag", "a.md", "--add", "").code == 2


def test_pages_are_added_by_their_address(pincite: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("# A\n\nWords.\n")
    with model_server() as site:
        site.says("/tea", b"<h1>Tea</h1><p>Two minutes.", kind="text/html")
        address = f"{site.url}/tea"
        said = pincite("add", address, "--folder", "pages")
        assert said.code == 1
        assert "adding web pages is disabled; set web.enabled" in said.words
        monkeypatch.setenv("PINCITE_WEB__ENABLED", "true")
        monkeypatch.setenv("PINCITE_WEB__DELAY_S", "0")
        assert (
            "private or reserved network; to allow it, add it to web.allow_hosts"
            in pincite("add", "http://127.0.0.1/").words
        )
        monkeypatch.setenv("PINCITE_WEB__ALLOW_HOSTS", site.url.removeprefix("http://"))
        said = pincite("add", address, tmp_path / "a.md", "--folder", "pages", "--json")
        assert (said.code, said.err) == (0, "")
        assert [one["document"]["name"] for one in said.json["added"]] == ["a.md", "tea.html"]
        assert said.json["added"][1]["document"]["source_uri"] == address
        assert pincite("read", said.json["added"][1]["document"]["id"]).out == "# Tea\n\nTwo minutes.\n"
        for one in said.json["added"]:
            pincite("remove", one["document"]["id"])
    assert "is not a folder" in pincite("add", "https://x.example/", "--watch").failed_with(2)


def test_adding_again_makes_a_version_of_what_changed(pincite: Call, tmp_path: Path) -> None:
    for name in ("law.md", "order.md"):
        (tmp_path / name).write_text(f"# {name}\n\nOld.\n")
    assert pincite("add", tmp_path / "law.md", tmp_path / "order.md").out == "2 added\n"
    (tmp_path / "law.md").write_text("# law.md\n\nNew.\n")
    said = pincite("add", tmp_path / "law.md", tmp_path / "order.md")
    assert (said.code, said.out) == (0, "0 added, 1 new version, 1 unchanged\n")
    law = ids(pincite)["law.md"]
    newest, oldest = (version["id"] for version in pincite("show", law, "--json").json["versions"])
    assert pincite("read", law, "--lines", "3", "--version", oldest).out == "Old.\n"
    assert pincite("read", law, "--lines", "3", "--version", newest).out == "New.\n"
    assert "no readable version 'x'" in pincite("read", law, "--version", "x").failed_with(1)


def test_adding_speaks_json_and_removing_gives_receipts(pincite: Call, tmp_path: Path) -> None:
    for name in ("gone.md", "gone too.md"):
        (tmp_path / name).write_text(f"# {name}\n\nA sentence.\n")
    said = pincite("add", tmp_path / "gone.md", tmp_path / "gone too.md", tmp_path / "missing.md", "--json")
    assert (said.code, said.err, said.json["skipped"]) == (1, "", [])
    [refused] = said.json["refused"]
    assert (refused["path"], refused["code"]) == (str(tmp_path / "missing.md"), "not_found")
    assert [(one["outcome"], one["document"]["status"]) for one in said.json["added"]] == [("new", "completed")] * 2
    first, second = (one["document"]["id"] for one in said.json["added"])
    said = pincite("remove", first)
    assert said.words.startswith("removed gone.md: 1 version, 1 passage, 1 vector, ")
    assert said.words.endswith("; verified: nothing is left")
    [receipt] = pincite("remove", second, "--json").json
    assert (receipt["document_id"], receipt["verified"]) == (second, True)
    assert not {"gone.md", "gone too.md"} & set(ids(pincite))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_reported(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "locked.md").write_text("# Locked\n")
    (tmp_path / "locked.md").chmod(0)
    assert "cannot read" in pincite("add", tmp_path / "locked.md").words


def test_the_list_shows_what_there_is(library: Call) -> None:
    said = library("list", "--folder", "papers")
    assert said.err == ""
    head, first, second, summary = said.out.splitlines()
    assert head.split() == ["id", "name", "status", "passages", "version"]
    assert first.split()[1:3] == ["papers/handbook.md", "completed"]
    assert second.split()[1:3] == ["papers/notes.txt", "completed"]
    assert summary.startswith("2 documents, ")


def test_the_list_speaks_json(library: Call) -> None:
    listed = library("list", "--json", "--folder", "/papers/").json
    assert [item["name"] for item in listed["items"]] == ["handbook.md", "notes.txt"]
    assert listed["next_cursor"] is None


def test_no_stale_documents_are_told_apart_from_no_documents(library: Call) -> None:
    assert library("list", "--stale").words == "There are no stale documents."
    assert library("list", "--tag", "nothing-has-this").words == "There are no documents with these tags."


def test_an_empty_folder_says_so(library: Call) -> None:
    assert library("list", "--folder", "nowhere").words == (
        "There are no documents in the folder 'nowhere'; add some with: pincite add PATH"
    )


def test_a_document_is_shown_by_the_first_characters_of_its_id(library: Call) -> None:
    handbook = ids(library)["handbook.md"]
    said = library("show", handbook[:6])
    assert said.out.startswith("Station Handbook\n")
    assert handbook in said.out
    assert "served" in said.out
    assert "generator" not in said.out
    assert "generator room" in library("show", handbook, "--chunks").words


def test_a_document_is_shown_as_json(library: Call) -> None:
    handbook = ids(library)["handbook.md"]
    shown = library("show", handbook, "--json").json
    assert shown["document"]["id"] == handbook
    assert [version["served"] for version in shown["versions"]] == [True]
    assert "chunks" not in shown
    chunks = library("show", handbook, "--json", "--chunks").json["chunks"]
    assert {chunk["level"] for chunk in chunks} == {0, 1, 2}
    assert all(chunk["text"] == HANDBOOK[chunk["start_char"] : chunk["end_char"]] for chunk in chunks)


@pytest.mark.parametrize("command", ["show", "read", "remove"])
@pytest.mark.parametrize("wanted", ["nothing-like-it", "-nothing", "--nothing"])
def test_an_unknown_document_is_one_line(library: Call, command: str, wanted: str) -> None:
    assert library(command, wanted).failed_with(1) == f"there is no document '{wanted}'; see: pincite list"


def test_an_id_may_begin_with_a_dash(pincite: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pincite.store.indexing.uploads.make_document_id", lambda *_: "-dash-dash-dash-")
    (tmp_path / "dash.md").write_text("# Dash\n\nA sentence.\n")
    assert pincite("add", tmp_path / "dash.md").code == 0
    assert pincite("show", "-dash", "--json").json["document"]["name"] == "dash.md"
    assert pincite("read", "-dash-dash-dash-", "--lines", "1").out == "# Dash\n"
    assert pincite("show", "--json", "--", "-dash").json["document"]["name"] == "dash.md"
    assert pincite("remove", "-dash").words.startswith("removed dash.md: 1 version, ")


def test_first_characters_must_tell_documents_apart() -> None:
    known = {"abcdef1": "one.md", "abcdxx2": "two.md", "zzz": "three.md"}
    assert match_id("abcde", known, "document", "list") == "abcdef1"
    assert match_id("zzz", known, "document", "list") == "zzz"
    with pytest.raises(Invalid, match=r"'abcd' matches abcdef1 \(one.md\), abcdxx2 \(two.md\); give more"):
        match_id("abcd", known, "document", "list")
    with pytest.raises(Invalid, match=r"'abc' is too short for an id; give at least 4 characters"):
        match_id("abc", known, "document", "list")
    with pytest.raises(NotFound, match=r"there is no document 'abxx'; see: pincite list"):
        match_id("abxx", known, "document", "list")


def test_a_document_is_read_whole_or_in_part(library: Call) -> None:
    handbook = ids(library)["handbook.md"]
    assert library("read", handbook).out == HANDBOOK + "\n"
    assert (
        library("read", handbook, "--lines", "9-9").out == "The key to the generator room hangs behind the blue cup.\n"
    )
    assert "Parallax" in library("read", handbook, "--section", "Cat").out
    part = library("read", handbook, "--lines", "5-", "--json").json
    assert (part["start_line"], part["end_line"]) == (5, part["total_lines"])


def test_a_document_is_read_at_a_place_of_its_file(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "rules.pdf").write_bytes(make_pdf([["First page."], ["Second page."]]))
    (tmp_path / "prices.csv").write_text("Item,Price\nPens,3.50\nInk,12.00\n")
    assert pincite("add", tmp_path / "rules.pdf", tmp_path / "prices.csv", "--folder", "places").code == 0
    known = ids(pincite)
    assert pincite("read", known["rules.pdf"], "--page", "2").out == "Second page.\n"
    assert pincite("read", known["prices.csv"], "--at", "B3").out == "12.00\n"
    found = pincite("read", known["prices.csv"], "--at", "A2:B2", "--json").json
    assert (found["text"], found["place"], found["places"][0]["ref"]) == ("Pens | 3.50", "A2:B2", "A2:B2")
    assert "there is no page 3; there are 2" in pincite("read", known["rules.pdf"], "--page", "3").err
    assert "there is no text at Z9" in pincite("read", known["prices.csv"], "--at", "Z9").err
    assert "cannot be combined with" in pincite("read", known["rules.pdf"], "--page", "1", "--lines", "1-2").err
    for document in ("rules.pdf", "prices.csv"):
        assert pincite("remove", known[document]).code == 0


@pytest.mark.parametrize(
    ("text", "lines"),
    [("10-20", (10, 20)), ("10-", (10, None)), ("-20", (None, 20)), ("7", (7, 7)), (" 3 – 4 ", (3, 4))],
)
def test_lines_are_written_in_several_ways(text: str, lines: tuple[int | None, int | None]) -> None:
    assert parse_lines(text) == lines


@pytest.mark.parametrize("text", ["", "-", "a-b", "1-2-3", "1 2", "1.5"])
def test_an_invalid_line_range_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="--lines takes A-B"):
        parse_lines(text)


def test_lines_beyond_the_end_are_reported(library: Call) -> None:
    assert "the document has lines 1 to" in library(
        "read", ids(library)["handbook.md"], "--lines", "900-901"
    ).failed_with(2)


def test_nothing_is_removed_unless_every_id_is_known(library: Call) -> None:
    handbook = ids(library)["handbook.md"]
    assert "'no-such-id'" in library("remove", handbook, "no-such-id").failed_with(1)
    assert handbook in ids(library).values()


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def test_a_hostile_document_cannot_steer_the_terminal(pincite: Call, tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
    text = f"# Head{evil}\n\nThe gate{evil} is green.\n\n" + "Much that is harmless. " * 50
    (tmp_path / "evil.md").write_text(f'---\ntitle: "Evil \\e[31m"\n---\n\n{text}\n', encoding="utf-8")
    pincite("add", tmp_path / "evil.md")
    document = ids(pincite)["evil.md"]
    calls = [
        ("list",),
        ("show", document, "--chunks"),
        ("read", document),
        ("ask", "Is the gate green?"),
        ("search", "green gate", "--explain"),
        ("show", document, "--chunks", "--json"),
        ("search", "gate", "--json"),
    ]
    for arguments in calls:
        said = pincite(*arguments)
        assert said.code == 0
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said.out + said.err), arguments
    assert any(evil in text for text in _texts(pincite("search", "gate", "--json").json))
    pincite("remove", document)
