"""Web pages that were saved: their main content as Markdown. Nothing is ever fetched."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.markdown_out.writer import MarkdownWriter
from pincite.parsers.webpage.blocks import Blocks
from pincite.parsers.webpage.head import Head, head_of, title_of
from pincite.parsers.webpage.main_content import main_of
from pincite.parsers.webpage.tree import Element, read_tree
from pincite.text.charset import decode

_CHARSET = re.compile(
    rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})|encoding\s*=\s*["']([\w.:-]{1,40})""", re.IGNORECASE
)
_DECLARED_WITHIN = 4096
"""Bytes in which a page must have said what charset it is in; browsers look no further than a quarter of it."""


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to choose."""


class Html:
    """Reads web pages: what they are about, without navigation, forms, banners and what is hidden."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"text/html": ".html .htm", "application/xhtml+xml": ".xhtml .xht"}

    def parse(self, data: bytes) -> Parsed:
        """The main content as Markdown, with title, author and the like from the page's head."""
        html = read_tree(decode(data, declared(data)))
        head = head_of(html)
        main, title = main_of(html)
        manuscript = MarkdownWriter()
        manuscript.page("text")
        write_page(manuscript, main, head, title)
        text, pages = manuscript.done()
        if not text:
            raise Unreadable(
                "there is no text in the page; is it made by a script? Save it from a browser", code="empty"
            )
        shown = title or next((element for element in main.elements() if element.tag == "h1"), None)
        return Parsed(
            text=text,
            markup="markdown",
            title=title_of(head, shown) or None,
            author=head.author or None,
            description=head.description or None,
            tags=head.tags,
            source_urls=(head.address,) if head.address else (),
            pages=pages,
        )


def make_parser(options: Options) -> Parser:
    """Build the parser."""
    return Html()


def write_page(manuscript: MarkdownWriter, main: Element, head: Head, title: Element | None = None) -> None:
    """Write a page's content, led by its title where that stood elsewhere."""
    blocks = Blocks(manuscript, head.base)
    if title is not None:
        blocks.enter(title)
    blocks.write(main)


def declared(data: bytes) -> str:
    """The charset that a page says it is in; empty where it does not."""
    found = _CHARSET.search(data[:_DECLARED_WITHIN])
    return (found[1] or found[2]).decode("ascii") if found else ""
