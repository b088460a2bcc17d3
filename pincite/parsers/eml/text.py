"""The text of one mail: its headers, then its body as it was written, in whatever charset and shape it came."""

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

SHOWN = ("From", "To", "Cc", "Date")
_LONGEST_HEADER = 30_000
_PARAGRAPHS = re.compile(r"\n\s*\n")
_QUOTING = re.compile(r"(?:> ?)*")
_SIGNATURE = "-- "


class _Clipped(Compat32):
    """Cuts headers where nobody reads on: what takes them apart takes quadratic time."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


def read_message(data: bytes) -> Part:
    """The mail that these bytes are; anything is one, with or without headers."""
    return message_from_bytes(data, policy=_Clipped())


def header(message: Part, name: str) -> str:
    """A header in words, on one line; empty where there is none."""
    return in_words(_raw(message, name))


def in_words(raw: str) -> str:
    """A header's value, or a part of it, as it was meant: encoded words decoded, on one line."""
    try:
        shown = str(make_header(decode_header(raw)))
    except (HeaderParseError, LookupError, ValueError):
        shown = raw
    # Bytes that no header may have come as halves of surrogate pairs.
    return one_line(decode(shown.replace("\0", "").encode("utf-8", "surrogateescape")))


def _raw(message: Part, name: str) -> str:
    """A header as it stands in the mail."""
    return next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")


def author(message: Part) -> str:
    """Who wrote it: a name, or else an address."""
    raw = " ".join(_raw(message, "From").split())
    try:
        name, address = parseaddr(raw)
    except RecursionError:  # comments within comments
        name = address = ""
    return in_words(name or address or raw)


def write_mail(manuscript: MarkdownWriter, message: Part, bodies: list[Part]) -> None:
    """Write the subject as a heading, the headers a line each, and the body."""
    manuscript.block(heading(1, header(message, "Subject")), "Subject")
    shown = ((name, header(message, name)) for name in SHOWN)
    manuscript.lines((f"{name}: {value}", name) for name, value in shown if value)
    counts = Counter[str]()
    for body in bodies:
        if body.get_content_type() == "text/html":
            data = payload(body)
            html = read_tree(_decoded(data, body.get_content_charset("") or declared(data)))
            Blocks(manuscript, counts=counts).write(body_of(html))
        else:
            _write_plain(manuscript, _plain(body), counts)


def payload(part: Part) -> bytes:
    """The bytes of a part, as they were before they were made fit for the mail."""
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


def _plain(part: Part) -> str:
    """The text of a part; lines that were only broken to be sent are whole again where the part says so."""
    data = payload(part)
    if str(part.get_param("format", "")).lower() == "flowed":
        lines = data.decode("latin-1").replace("\r\n", "\n").split("\n")
        data = "\n".join(_unflowed(lines)).encode("latin-1")
    return _decoded(data, part.get_content_charset("") or "")


def _write_plain(manuscript: MarkdownWriter, text: str, counts: Counter[str]) -> None:
    for paragraph in filter(str.strip, _PARAGRAPHS.split(text)):
        counts["paragraph"] += 1
        manuscript.block(escaped(paragraph), f"paragraph {counts['paragraph']}")


def _decoded(data: bytes, charset: str) -> str:
    try:
        return decode(data, charset)
    except Unreadable:
        return decode(data.replace(b"\0", b""), charset)


def _unflowed(lines: list[str]) -> Iterator[str]:
    """Lines that end with a blank are joined to the next, if that is quoted as deeply (RFC 3676)."""
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
