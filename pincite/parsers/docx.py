"""Parses Word documents: headings by style, numbered lists, tables, notes. Tracked changes count as accepted; comments
are left out."""

from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.writer import MarkdownWriter
from pincite.parsers.office.docx_body import BodyWriter
from pincite.parsers.office.package import Office, child

_OPEN = "application/vnd.openxmlformats-officedocument.wordprocessingml"


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class Docx:
    """Parses Word documents to Markdown. Macros, external templates, headers and footers are ignored."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {
            f"{_OPEN}.document": ".docx",
            f"{_OPEN}.template": ".dotx",
            "application/vnd.ms-word.document.macroEnabled.12": ".docm",
        }

    def parse(self, data: bytes) -> Parsed:
        """The text of the body; each block has a reference to its paragraph, table row or note."""
        office = Office(data, "document")
        out = MarkdownWriter()
        out.page("text")
        body = BodyWriter(office, out)
        body.write(child(office.document, "body"))
        text, pages = out.done()
        if not text.strip():
            raise Unreadable("there is no text in the file", code="empty")
        return office.metadata().parsed(text, pages, title=body.title or body.first_heading)


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return Docx()
