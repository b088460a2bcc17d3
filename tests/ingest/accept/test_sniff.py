"""Detection of file types from bytes."""

import io
import time
import zipfile

import pytest

from pincite.ingest.accept.sniff import is_also_archive, kind_of, matches_type
from pincite.parsers import file_types
from tests.pdf_maker import make_pdf


def archive(*names: str, **contents: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name in names:
            packed.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), contents.get("content", b"<x/>"))
    return made.getvalue()


def ole(*names: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504 + b"".join(name.encode("utf-16-le") for name in names)


DOCX = archive("[Content_Types].xml", "_rels/.rels", "word/document.xml")
PPTX = archive("[Content_Types].xml", "ppt/presentation.xml")
XLSX = archive("[Content_Types].xml", "xl/workbook.xml")
PDF = make_pdf([["x"]])
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 20

KINDS = {
    "a PDF": PDF,
    "a Word document": DOCX,
    "a PowerPoint presentation": PPTX,
    "an Excel workbook": XLSX,
    "a ZIP archive": archive("a.txt", "b/c.txt"),
    "an OpenDocument text (.odt)": archive("mimetype", content=b"application/vnd.oasis.opendocument.text"),
    "an EPUB book": archive("mimetype", content=b"application/epub+zip"),
    "an old Word document (.doc)": ole("Root Entry", "WordDocument"),
    "an old Excel workbook (.xls)": ole("Workbook"),
    "an old PowerPoint presentation (.ppt)": ole("PowerPoint Document"),
    "an Outlook message (.msg)": ole("__substg1.0_0037001F"),
    "an Office document with a password": ole("EncryptedPackage"),
    "an old Office document": ole("x"),
    "a PNG image": PNG,
    "a JPEG image": JPEG,
    "a TIFF image": b"II*\0" + b"\0" * 20,
    "a WebP image": b"RIFF\x10\0\0\0WEBPVP8 ",
    "a BMP image": b"BM\x10\0\0\0\0\0",
    "a GIF image": b"GIF89a\0\0",
    "an RTF document": b"{\\rtf1 hello}",
    "gzip data": b"\x1f\x8b\x08\0",
    "a program": b"\x7fELF\x02",
    "binary data": b"\x01\x02\x03\0",
    "text": b"BMW builds cars",
}


@pytest.mark.parametrize(("words", "data"), KINDS.items(), ids=list(KINDS))
def test_the_type_is_detected_from_the_bytes(words: str, data: bytes):
    assert kind_of(data).description == words


@pytest.mark.parametrize(
    ("ending", "data"),
    [
        (".docx", DOCX),
        (".docm", DOCX),
        (".pptx", PPTX),
        (".xlsx", XLSX),
        (".pdf", PDF),
        (".png", PNG),
        (".jpg", JPEG),
        (".docx", ole("EncryptedPackage")),
        (".docx", DOCX[:60]),
        (".pdf", b"junk\n" + PDF),
        (".html", b"<p>x"),
        (".html", "<p>Größe".encode("utf-16")),
        (".xhtml", b"<?xml version='1.0'?><html/>"),
        (".md", b"about %PDF- marks"),
        (".csv", b"a,b\n1,2\n"),
        (".eml", b"Received: x\r\n\tby y\r\nX-A: b\r\n\r\nhello"),
        (".eml", b"From a@x Mon\nFrom: a@x\n\nx"),
    ],
)
def test_bytes_of_the_named_type_match(ending: str, data: bytes):
    assert matches_type(file_types()[ending].mime, data)


@pytest.mark.parametrize(
    ("ending", "data"),
    [
        (".docx", PPTX),
        (".docx", archive("a.txt")),
        (".docx", PDF),
        (".docx", ole("WordDocument")),
        (".docx", b"text"),
        (".pptx", XLSX),
        (".xlsx", DOCX),
        (".xlsx", b"a;b\n1;2"),
        (".pdf", DOCX),
        (".pdf", b"text"),
        (".png", JPEG),
        (".jpg", PNG),
        (".jpg", b"GIF89a"),
        (".txt", DOCX),
        (".md", PDF),
        (".html", PDF),
        (".html", PNG),
        (".csv", XLSX),
        (".txt", b"{\\rtf1 x}"),
        (".eml", b"just text"),
        (".eml", PDF),
        (".eml", b"\nSome: thing\n\nx"),
        (".eml", ole("x")),
        (".xhtml", b"\0\1"),
        (".csv", b"a\0b"),
    ],
)
def test_bytes_of_another_type_do_not_match(ending: str, data: bytes):
    assert not matches_type(file_types()[ending].mime, data)


@pytest.mark.parametrize(
    ("ending", "data"),
    [
        (".pdf", PDF + archive("x.txt")),
        (".pdf", b"<!DOCTYPE html><html><script>x</script>" + PDF),
        (".pdf", b"GIF89a;" + PDF),
        (".pdf", b"\xff\xd8\xff\xe0" + PDF),
        (".jpg", JPEG + DOCX),
        (".png", PNG + archive("x.html")),
        (".docx", b"%PDF-1.4\n" + DOCX),
        (".docx", b"GIF89a" + DOCX),
        (".html", b"\x89PNG\r\n\x1a\n<html>"),
        (".txt", b"PK\x03\x04<html>"),
    ],
    ids=[
        "pdf+zip",
        "html+pdf",
        "gif+pdf",
        "jpeg+pdf",
        "jpeg+zip",
        "png+zip",
        "pdf+docx",
        "gif+docx",
        "png+html",
        "zip+html",
    ],
)
def test_polyglot_files_do_not_match(ending: str, data: bytes):
    assert not matches_type(file_types()[ending].mime, data)


def test_a_pdf_with_an_embedded_archive_is_no_polyglot():
    assert not is_also_archive(PDF[:100] + archive("x.txt") + PDF[100:])
    assert is_also_archive(PDF + archive("x.txt"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04" + b"PK\x01\x02" * 2_000_000,
        archive(*(f"{number}.txt" for number in range(12_000))),
        b"a: b\n" * 2_000_000,
        b"<!--" * 2_500_000,
        b" " * 10_000_000 + b"x",
        ole("x") + b"W\0o\0r\0" * 200_000,
    ],
    ids=["entries", "many", "headers", "comments", "blanks", "old"],
)
def test_the_type_of_large_files_is_detected_quickly(data: bytes):
    started = time.process_time()
    kind_of(data)
    for kind in file_types().values():
        matches_type(kind.mime, data)
    assert time.process_time() - started < 5


def test_many_comments_take_no_time():
    began = time.process_time()
    assert matches_type("application/pdf", b"<!---->" * 140 + b"x%PDF-1.4") in (True, False)
    assert time.process_time() - began < 5
