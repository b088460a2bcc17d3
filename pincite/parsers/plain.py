"""Parses plain text; the charset is detected."""

from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.text.charset import decode


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class PlainText:
    """Parses text files without changing their text."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"text/plain": ".txt .text .log .rst"}

    def parse(self, data: bytes) -> Parsed:
        """The normalized text."""
        text = decode(data)
        if not text.strip():
            raise Unreadable("there is no text in the file", code="empty")
        return Parsed(text=text, markup="plain")


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return PlainText()
