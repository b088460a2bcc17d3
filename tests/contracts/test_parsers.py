"""Every parser in the folder keeps the promises of `Parser`."""

import random

import pytest

from pincite import plugins
from pincite.core.protocols import Parser
from pincite.core.text import normalise
from pincite.errors import Unreadable
from pincite.ingest.accept import PARSERS
from tests.pdf_maker import Line, make_pdf

NAMES = plugins.names(PARSERS, "make_parser")

SAMPLES = {
    "text/plain": "Erste Zeile – ä  \r\nSecond line\r\n\r\nLast.".encode(),
    "text/markdown": "---\ntitle: T\n---\n# Überschrift \r\n\r\nText\r\n".encode(),
    "application/pdf": make_pdf([[Line("Heading", 20), "Some text.", "More of it."], ["Zweite Seite: Öl."]]),
}
"""A small valid file per MIME type: a new parser needs one here."""


@pytest.fixture(params=NAMES)
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
