"""Every parser in the folder keeps the promises of `Parser`."""

import random

import pytest

from pincite import plugins
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers import PARSERS
from pincite.text.sentences import normalise
from tests.office_maker import make_docx, make_pptx, make_xlsx, p
from tests.pdf_maker import Line, make_pdf
from tests.picture_maker import draw, saved

NAMES = plugins.names(PARSERS, "make_parser")

_OPEN = "application/vnd.openxmlformats-officedocument"
_DOCX = make_docx(p("Größe") + p("Text"))
_PPTX = make_pptx(["Größe", "Text"])
_XLSX = make_xlsx('<sheetData><row r="2"><c r="B2"><v>1</v></c><c r="C2" t="str"><v>ä</v></c></row></sheetData>')

SAMPLES = {
    "text/plain": "Erste Zeile – ä  \r\nSecond line\r\n\r\nLast.".encode(),
    "text/markdown": "---\ntitle: T\n---\n# Überschrift \r\n\r\nText\r\n".encode(),
    "application/pdf": make_pdf([[Line("Heading", 20), "Some text.", "More of it."], ["Zweite Seite: Öl."]]),
    "text/html": "<!doctype html><title>T</title><nav>x</nav><main><h1>Größe</h1><p>Text <b>hier</b>.</p></main>".encode(),
    "application/xhtml+xml": b"<?xml version='1.0'?><html><body><p>Text</p><ul><li>item</li></ul></body></html>",
    "text/csv": "Name;Größe\r\nTee;2,50\r\n".encode(),
    "text/tab-separated-values": b"Name\tSize\nTea\t2\n",
    **dict.fromkeys([f"{_OPEN}.wordprocessingml.document", f"{_OPEN}.wordprocessingml.template"], _DOCX),
    "application/vnd.ms-word.document.macroEnabled.12": _DOCX,
    **dict.fromkeys([f"{_OPEN}.presentationml.{kind}" for kind in ("presentation", "slideshow", "template")], _PPTX),
    "application/vnd.ms-powerpoint.presentation.macroEnabled.12": _PPTX,
    **dict.fromkeys([f"{_OPEN}.spreadsheetml.sheet", f"{_OPEN}.spreadsheetml.template"], _XLSX),
    "application/vnd.ms-excel.sheet.macroEnabled.12": _XLSX,
    "message/rfc822": "From: a@x.example\r\nSubject: Größe\r\n\r\nText\r\n> quoted\r\n".encode(),
    **{
        f"image/{kind.lower()}": saved(draw(["Hello there"], size=12), kind)
        for kind in ("PNG", "JPEG", "TIFF", "WEBP", "BMP")
    },
}
"""A small valid file per MIME type: a new parser needs one here."""


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow if name == "image" else ()) for name in NAMES])
def parser(request: pytest.FixtureRequest) -> Parser:
    return plugins.load(Parser, PARSERS, request.param, {})


def samples(parser: Parser) -> list[bytes]:
    return [SAMPLES[mime] for mime in parser.reads]


def test_the_folder_is_not_empty():
    assert {"plain", "markdown", "pdf"} <= set(NAMES)


def test_it_says_what_it_reads(parser: Parser):
    assert parser.reads
    for mime, endings in parser.reads.items():
        assert mime.count("/") == 1
        assert all(ending.startswith(".") and ending == ending.lower() for ending in endings.split())


def test_no_two_parsers_read_the_same():
    read = [mime for name in NAMES for mime in plugins.load(Parser, PARSERS, name, {}).reads]
    assert len(read) == len(set(read))


def test_text_is_normalised_and_has_no_nul(parser: Parser):
    for data in samples(parser):
        text = parser.parse(data).text
        assert text.strip()
        assert normalise(text) == text
        assert "\0" not in text


def test_offsets_lie_in_the_text_and_ascend(parser: Parser):
    for data in samples(parser):
        parsed = parser.parse(data)
        assert 0 <= parsed.body_start < len(parsed.text)
        assert list(parsed.page_starts) == sorted(parsed.page_starts)
        assert all(0 <= start <= len(parsed.text) for start in parsed.page_starts)
        assert parsed.page_starts[:1] in ((), (0,))


def test_marks_lie_in_their_page_and_hold_text(parser: Parser):
    for data in samples(parser):
        parsed = parser.parse(data)
        ends = [page.start for page in parsed.pages[1:]] + [len(parsed.text)]
        for page, end in zip(parsed.pages, ends, strict=False):
            for mark in page.unpack_marks():
                assert page.start <= mark.start < mark.end <= end
                assert parsed.text[mark.start : mark.end].strip()
                assert mark.ref or mark.box


def test_the_same_bytes_give_the_same(parser: Parser):
    for data in samples(parser):
        assert parser.parse(data) == parser.parse(data)


def test_broken_bytes_are_unreadable_and_nothing_else(parser: Parser):
    chance = random.Random(7)
    for data in samples(parser):
        broken = [data[:cut] for cut in range(0, len(data), max(1, len(data) // 40))]
        broken += [chance.randbytes(200), b"", b"\0" * 50, b"\xff\xfe\xff", data[::-1]]
        for _ in range(40):
            damaged = bytearray(data)
            for _ in range(5):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            broken.append(bytes(damaged))
        for garbage in broken:
            try:
                parsed = parser.parse(garbage)
            except Unreadable:
                continue  # any other exception fails the test
            assert parsed.text.strip()
            assert normalise(parsed.text) == parsed.text


def test_nothing_is_not_a_document(parser: Parser):
    with pytest.raises(Unreadable):
        parser.parse(b"")
