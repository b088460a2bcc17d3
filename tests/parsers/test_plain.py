"""Plain text files."""

import pytest

from pincite.errors import Unreadable
from pincite.parsers.plain import Options, make_parser

PARSER = make_parser(Options())


def test_the_text_is_what_the_file_says():
    parsed = PARSER.parse("# kein Titel\r\nZweite Größe  \r\n".encode())
    assert parsed.text == "# kein Titel\nZweite Größe\n"
    assert (parsed.markup, parsed.title, parsed.body_start, parsed.page_starts) == ("plain", None, 0, ())


def test_other_charsets_are_read_as_well():
    assert PARSER.parse("Größe – 5 €".encode("cp1252")).text == "Größe – 5 €"


def test_white_space_is_not_a_text():
    with pytest.raises(Unreadable) as caught:
        PARSER.parse(b" \n\t\n")
    assert caught.value.code == "empty"
