"""Plain text files."""

import pytest

from pincite.errors import Unreadable
from pincite.parsers.plain import Options, make_parser

PARSER = make_parser(Options())


def test_the_text_is_what_the_file_says():
    parsed = PARSER.parse("# kein Titel\r\nZweite Größe  \r\n".encode())
    assert parsed.text == "# kein Titel\nZweite Größe\n"
    assert (parsed.markup, parsed.title, parsed.body_start, parsed.page_starts) == ("plain", None, 0, ())


def test_bytes_that_are_not_utf8_say_where():
    with pytest.raises(Unreadable, match="byte 2"):
        PARSER.parse("aä".encode("latin-1"))


def test_white_space_is_not_a_text():
    with pytest.raises(Unreadable) as caught:
        PARSER.parse(b" \n\t\n")
    assert caught.value.code == "empty"
