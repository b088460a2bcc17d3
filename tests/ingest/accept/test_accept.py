"""Validation of uploads."""

import hashlib

import pytest

from pincite.config.settings import Settings
from pincite.config.sources import load_settings
from pincite.core.documents.document import Upload
from pincite.errors import BadRequest, Invalid, TooLarge, Unsupported
from pincite.ingest.accept import accept as accept_module
from pincite.ingest.accept.accept import Accepted, clean_folder, clean_name, max_upload_bytes
from pincite.ingest.accept.accept import accept as check
from pincite.parsers import file_types
from tests.pdf_maker import make_pdf

ARCHIVE = b"PK\x03\x04x" + b"PK\x05\x06" + bytes([0, 0, 0, 0, 1, 0, 1, 0]) + bytes(10)
"""The shortest data that starts and ends like a ZIP archive with one entry."""
SETTINGS = load_settings({"ingest.max_markdown_mb": 1, "ingest.max_pdf_mb": 2, "ingest.max_html_mb": 0.5}, env={})


def accept(name: str, data: bytes = b"text", folder: str = "", settings: Settings = SETTINGS) -> Accepted:
    return check(Upload(name, data, folder), settings)


def refused(kind: type[BadRequest], name: str, data: bytes = b"text", folder: str = "") -> BadRequest:
    with pytest.raises(kind) as caught:
        accept(name, data, folder)
    assert type(caught.value) is kind
    return caught.value


@pytest.mark.parametrize(
    ("name", "data", "mime", "parser"),
    [
        ("a.md", b"# x", "text/markdown", "markdown"),
        ("A.MD", b"# x", "text/markdown", "markdown"),
        ("v1.2.markdown", b"# x", "text/markdown", "markdown"),
        ("notes.txt", "Größe".encode(), "text/plain", "plain"),
        ("utf16.txt", "Größe".encode("utf-16"), "text/plain", "plain"),
        ("latin.txt", "Größe".encode("latin-1"), "text/plain", "plain"),
        ("color.log", b"\x1b[31mred\x1b[0m\n" * 10, "text/plain", "plain"),
        ("r.pdf", make_pdf([["x"]]), "application/pdf", "pdf"),
        ("r.pdf", b"junk before\n%PDF-1.4", "application/pdf", "pdf"),
        ("p.HTM", b"<p>x", "text/html", "html"),
        ("m.eml", b"From: a@x.example\n\nx", "message/rfc822", "mail"),
    ],
)
def test_type_and_parser_come_from_name_and_bytes(name: str, data: bytes, mime: str, parser: str):
    accepted = accept(name, data)
    assert (accepted.mime, accepted.parser) == (mime, parser)
    assert accepted.checksum == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.md", make_pdf([["x"]]), "named .md, but its bytes are a PDF"),
        ("a.md", b"PK\x03\x04rest", "ZIP"),
        ("a.txt", b"\x89PNG\r\n\x1a\n", "PNG"),
        ("a.txt", b"abc\0def", "binary data"),
        ("a.txt", b"\x01\x02\x03 text " * 20, "binary data"),
        ("a.pdf", b"just text", "named .pdf, but its bytes are text"),
        ("a.pdf", b"\0\1\2\3" * 9, "binary data"),
        ("a.pdf", b"PK\x03\x04rest", "ZIP"),
        ("a.docx", make_pdf([["x"]]), "named .docx, but its bytes are a PDF; if it is one, name it *.pdf"),
        ("a.html", b"%PDF-1.4\n<html>", "a PDF"),
        ("a.eml", b"no headers here", "text"),
        ("a.pdf", make_pdf([["x"]]) + ARCHIVE, "is a PDF and a ZIP archive at once"),
    ],
)
def test_bytes_that_are_not_what_the_name_says_are_refused(name: str, data: bytes, said: str):
    assert said in str(refused(Unsupported, name, data))


@pytest.mark.parametrize("name", ["a.json", "a.exe", "a", "md", ".md", "a."])
def test_other_types_are_refused_with_the_supported_ones(name: str):
    said = str(refused(Unsupported, name, b"x"))
    assert all(
        words in said for words in ("Markdown (.md", "PDF (.pdf)", "text (.txt", "web pages (.html", "mails (.eml)")
    )


@pytest.mark.parametrize("data", [b"", b" \r\n\t ", b"\xef\xbb\xbf\n", " \n".encode("utf-16")])
def test_empty_files_are_refused(data: bytes):
    assert refused(Invalid, "a.md", data).code == "empty"


def test_the_size_limit_is_that_of_the_type():
    mb = 1024 * 1024
    assert accept("a.md", b"x" * mb)
    assert "ingest.max_markdown_mb" in str(refused(TooLarge, "a.txt", b"x" * (mb + 1)))
    pdf = b"%PDF-1.4" + b"x" * mb
    assert accept("a.pdf", pdf)
    assert "ingest.max_pdf_mb" in str(refused(TooLarge, "a.pdf", pdf + b"x" * mb))
    assert "0.6 MB; at most 0.5 MB are read (ingest.max_html_mb)" in str(refused(TooLarge, "a.html", b"x" * 600_000))


def test_every_parser_has_a_limit_and_the_largest_is_known():
    assert {kind.parser for kind in file_types().values()} <= set(accept_module._SIZE_SETTINGS)
    assert max_upload_bytes(SETTINGS) == 50 * 1024 * 1024


@pytest.mark.parametrize(
    "name",
    [
        "../x.md",
        "a/x.md",
        "a\\x.md",
        "x\0.md",
        "x\n.md",
        "x\u202etxt.md",
        "x\u2028.md",
        ".",
        "..",
        "",
        "  ",
        "x" * 253 + ".md",
    ],
)
def test_bad_names_are_refused(name: str):
    assert refused(Invalid, name).code == "bad_name"


@pytest.mark.parametrize(
    "name", ["Überblick 2024 (v2).md", "日本.md", "👩\u200d🚀.md", "a" * 252 + ".md", "-rf.md", "a..b.md"]
)
def test_unusual_but_valid_names_are_kept(name: str):
    assert accept(name).name == name


def test_names_and_folders_are_normalized_to_nfc():
    assert clean_name("u\u0308.md") == "ü.md"
    assert clean_folder("u\u0308/x") == "ü/x"


@pytest.mark.parametrize(("folder", "clean"), [("", ""), ("/", ""), ("hr", "hr"), ("/hr/policies/", "hr/policies")])
def test_folders_lose_the_slashes_around(folder: str, clean: str):
    assert accept("a.md", folder=folder).folder == clean


@pytest.mark.parametrize("folder", ["..", "a/../b", "a//b", "a\\b", "a/\u202e", "a\0", "./a", "a/" * 600, "x" * 256])
def test_bad_folders_are_refused(folder: str):
    assert refused(Invalid, "a.md", folder=folder).code == "bad_folder"


def test_endings_come_from_the_parsers_in_the_folder():
    assert {".md", ".txt", ".pdf"} <= set(file_types())
    assert file_types()[".pdf"].parser == "pdf"
