"""Parsing and chunking as one pure function, and the JSON form of its result."""

import json
from types import SimpleNamespace

import pytest

from pincite.config.branches.ingestion import Chunking
from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page
from pincite.errors import SettingsError, Unreadable
from pincite.ingest.read import parse_and_chunk as module
from pincite.ingest.read.parse_and_chunk import from_json, parse_and_chunk, to_json
from tests.pdf_maker import Line, make_pdf

MARKDOWN = "---\ntitle: Größe\ntags: [a, b]\n---\n# Eins\n\nText – mehr.\n\n| a |\n|---|\n| 1 |\n".encode()
PDF = make_pdf([[Line("Eins", 20), "Erste Seite."], [Line("Zwei", 20), "Zweite Seite."]])
CHUNKING = Chunking(size=50, overlap=10)


def test_text_and_chunks_of_all_levels():
    prepared = parse_and_chunk(MARKDOWN, "markdown", CHUNKING)
    assert prepared.parsed.title == "Größe"
    assert [row.level for row in prepared.chunks] == [0, 1, 2]
    assert prepared.chunks[2].heading_path == ("Eins",)
    assert prepared.chunks[2].start_line == 5


def test_chunks_of_a_pdf_know_their_page():
    passages = [row for row in parse_and_chunk(PDF, "pdf", CHUNKING).chunks if row.level == 2]
    assert [(row.heading_path, row.page) for row in passages] == [(("Eins",), 1), (("Zwei",), 2)]
    assert [row.place for row in passages] == ["page 1", "page 2"]


@pytest.mark.parametrize("size", [float("nan"), float("inf"), -1.0, 1e300])
def test_a_page_with_an_impossible_size_has_none(size: float, monkeypatch: pytest.MonkeyPatch):
    parsed = Parsed("text", "plain", pages=(Page(0, name="a\0b", width=size, height=20.0),))
    monkeypatch.setattr(module.plugins, "load", lambda *_: SimpleNamespace(parse=lambda _: parsed))
    [page] = parse_and_chunk(b"x", "any", CHUNKING).parsed.pages
    assert (page.name, page.width, page.height) == ("a b", 0.0, 20.0)


@pytest.mark.parametrize("strategy", ["structure", "semantic", "window"])
def test_a_heading_without_text_is_no_passage_and_leads_the_next(strategy: str) -> None:
    text = "# Leave\n\n## Sick leave\n\nCall by nine.\n\n## Parental leave\n\nIt ends after a year.\n"
    chunking = Chunking.model_validate({"strategy": strategy, "header_aware": True})
    found = [row for row in parse_and_chunk(text.encode(), "markdown", chunking, ()).chunks if row.level == 2]
    assert [(row.heading_path, row.text) for row in found] == [
        (("Leave", "Sick leave"), "# Leave\n\n## Sick leave\n\nCall by nine."),
        (("Leave", "Parental leave"), "## Parental leave\n\nIt ends after a year."),
    ]


def test_the_settings_decide_size_and_tokenizer():
    text = ("word " * 200 + "日本語" * 50).encode()
    small = parse_and_chunk(text, "plain", Chunking(size=20, overlap=0))
    other = parse_and_chunk(text, "plain", Chunking(size=20, overlap=0, tokenizer="o200k_base"))
    assert max(row.tokens for row in small.chunks if row.level == 2) <= 20
    assert small.chunks[0].tokens > other.chunks[0].tokens


@pytest.mark.parametrize(("data", "parser"), [(MARKDOWN, "markdown"), (PDF, "pdf"), (b"x", "plain")])
def test_json_round_trip_keeps_the_result(data: bytes, parser: str):
    prepared = parse_and_chunk(data, parser, CHUNKING)
    assert from_json(json.loads(to_json(prepared))) == prepared


def test_the_json_holds_the_text_once():
    assert to_json(parse_and_chunk(b"unrepeatable", "plain", CHUNKING)).count(b"unrepeatable") == 1


def test_an_unknown_parser_is_named():
    with pytest.raises(SettingsError, match="markdown"):
        parse_and_chunk(b"x", "nonesuch", CHUNKING)


def test_text_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_TEXT_CHARS", 5)
    with pytest.raises(Unreadable) as caught:
        parse_and_chunk(b"longer", "plain", CHUNKING)
    assert caught.value.code == "limit"


def test_a_file_without_text_is_refused(monkeypatch: pytest.MonkeyPatch):
    class Blank:
        def parse(self, data: bytes) -> Parsed:
            return Parsed(" \n", "plain")

    monkeypatch.setattr(module.plugins, "load", lambda *_: Blank())
    with pytest.raises(Unreadable) as caught:
        parse_and_chunk(b"x", "plain", CHUNKING)
    assert caught.value.code == "empty"
