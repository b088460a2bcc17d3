"""Writes the text of one mail: its headers, then its body, decoded and with soft line breaks removed."""

import re
from collections import Counter
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.policy import Compat32
from email.utils import parseaddr

from pincite.errors import Unreadable
from pincite.parsers.html import declared
from pincite.parsers.markdown_out.writer import MarkdownWriter, escaped, heading, one_line
from pincite.parsers.webpage.blocks import Blocks
from pincite.parsers.webpage.main_content import body_of
from pincite.parsers.webpage.tree import read_tree
from pincite.text.charset import decode

Part = Message

SHOWN_HEADERS = ("From", "To", "Cc", "Date")
"""Headers that are part of the text."""
_MAX_HEADER_CHARS = 30_000
"""Length at which a header is cut, because parsing a header takes quadratic time."""
_PARAGRAPHS = re.compile(r"\n\s*\n")
_QUOTING = re.compile(r"(?:> ?)*")
_SIGNATURE = "-- "


class _ClippedHeaders(Compat32):
    """A mail policy that cuts long headers."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_MAX_HEADER_CHARS]


def read_message(data: bytes) -> Part:
    """Parse the bytes of a mail; any bytes are accepted, with or without headers."""
    return message_from_bytes(data, policy=_ClippedHeaders())


def header(message: Part, name: str) -> str:
    """A decoded header on one line; empty where there is none."""
    return decode_words(_raw(message, name))


def decode_words(raw: str) -> str:
    """A header's value, or a part of it, with encoded words decoded, on one line."""
    try:
        text = str(make_header(decode_header(raw)))
    except (HeaderParseError, LookupError, ValueError):
        text = raw
    # The email package turns bytes that are not allowed in headers into lone surrogates.
    return one_line(decode(text.replace("\0", "").encode("utf-8", "surrogateescape")))


def _raw(message: Part, name: str) -> str:
    """A header as it is in the mail, not decoded."""
    return next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")


def author(message: Part) -> str:
    """The sender's name, else the address."""
    raw = " ".join(_raw(message, "From").split())
    try:
        name, address = parseaddr(raw)
    except RecursionError:  # deeply nested comments
        name = address = ""
    return decode_words(name or address or raw)


def write_mail(writer: MarkdownWriter, message: Part, bodies: list[Part]) -> None:
    """Write the subject as a heading, then the headers, one per line, then the body."""
    writer.block(heading(1, header(message, "Subject")), "Subject")
    shown = ((name, header(message, name)) for name in SHOWN_HEADERS)
    writer.lines((f"{name}: {value}", name) for name, value in shown if value)
    counts = Counter[str]()
    for body in bodies:
        if body.get_content_type() == "text/html":
            data = payload(body)
            html = read_tree(_decoded(data, body.get_content_charset("") or declared(data)))
            Blocks(writer, counts=counts).write(body_of(html))
        else:
            _write_plain(writer, _plain(body), counts)


def payload(part: Part) -> bytes:
    """The bytes of a part, with its transfer encoding decoded."""
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


def _plain(part: Part) -> str:
    """The text of a part; soft line breaks of `format=flowed` text are removed."""
    data = payload(part)
    if str(part.get_param("format", "")).lower() == "flowed":
        lines = data.decode("latin-1").replace("\r\n", "\n").split("\n")
        data = "\n".join(_unflowed(lines)).encode("latin-1")
    return _decoded(data, part.get_content_charset("") or "")


def _write_plain(writer: MarkdownWriter, text: str, counts: Counter[str]) -> None:
    for paragraph in filter(str.strip, _PARAGRAPHS.split(text)):
        counts["paragraph"] += 1
        writer.block(escaped(paragraph), f"paragraph {counts['paragraph']}")


def _decoded(data: bytes, charset: str) -> str:
    try:
        return decode(data, charset)
    except Unreadable:
        return decode(data.replace(b"\0", b""), charset)


def _unflowed(lines: list[str]) -> Iterator[str]:
    """Join lines that end with a blank to the next line of the same quote depth (RFC 3676)."""
    open_line, open_quote = "", ""
    for line in lines:
        marks = _QUOTING.match(line)
        quote = marks[0].rstrip() if marks else ""
        content = line[len(marks[0]) if marks else 0 :].removeprefix(" ")
        lead = f"{quote} " if quote else ""
        if open_line and quote == open_quote and content != _SIGNATURE:
            open_line += content
        else:
            if open_line:
                yield open_line
            open_line, open_quote = lead + content, quote
        if not content.endswith(" ") or content == _SIGNATURE:
            yield open_line
            open_line = ""
    if open_line:
        yield open_line
