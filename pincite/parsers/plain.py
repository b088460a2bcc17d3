"""Plain text, in whatever charset it comes."""

from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.text.charset import decode


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to choose."""


class PlainText:
    """Reads text files as they are."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"text/plain": ".txt .text .log .rst"}

    def parse(self, data: bytes) -> Parsed:
        """The text, normalised."""
        text = decode(data)
        if not text.strip():
            raise Unreadable("there is no text in the file", code="empty")
        return Parsed(text=text, markup="plain")


def make_parser(options: Options) -> Parser:
    """Build the parser."""
    return PlainText()
