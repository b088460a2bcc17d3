"""Parses saved mails: headers, body, and attachments, which are parsed by their own type."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pincite import plugins
from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page, PageMark, pack
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers import PARSERS, file_types
from pincite.parsers.eml.parts import attachment_text, name_of, split_parts
from pincite.parsers.eml.text import Part, author, header, payload, read_message, write_mail
from pincite.parsers.markdown_out.writer import MarkdownWriter, heading

MAX_NESTED_MAILS = 4
"""Maximum depth of mails nested in one another."""
MAX_ATTACHMENTS = 100
"""Maximum number of attachments that are parsed; further ones are only named."""

_MAIL_HEADERS = (
    "From",
    "To",
    "Subject",
    "Date",
    "Received",
    "Message-ID",
    "Return-Path",
    "Delivered-To",
    "MIME-Version",
)
_BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class Mail:
    """Parses mails: each mail and each supported attachment is a part; other attachments are only named."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"message/rfc822": ".eml"}

    def parse(self, data: bytes) -> Parsed:
        """The text of the mail, followed by that of its attachments."""
        try:
            message = read_message(data)
            if not any(name in message for name in _MAIL_HEADERS):
                raise Unreadable("it has none of the headers of a mail", code="broken")
            reader = _MailReader()
            reader.add_mail(message, "message", depth=1)
        except RecursionError:
            raise Unreadable("its parts are nested too deeply", code="limit") from None
        text = "".join(reader.text)
        if not text.strip():
            raise Unreadable("there is no text in the mail", code="empty")
        return Parsed(
            text=text,
            markup="markdown",
            title=header(message, "Subject") or None,
            author=author(message) or None,
            pages=tuple(reader.pages),
        )


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return Mail()


@dataclass(slots=True)
class _MailReader:
    """Collects the text and the parts of a mail, and counts its attachments."""

    text: list[str] = field(default_factory=list)
    length: int = 0
    pages: list[Page] = field(default_factory=list)
    attachments: int = 0

    def add_mail(self, message: Part, name: str, depth: int) -> None:
        """Add a mail, then its attachments."""
        parts = split_parts(message)
        read: list[tuple[str, Part | Parsed]] = []
        writer = MarkdownWriter()
        writer.page("part")
        write_mail(writer, message, parts.bodies)
        for part in parts.attached:
            called = name_of(part) or part.get_content_type()
            try:
                read.append((called, self._read_attachment(part, called, depth)))
            except Unreadable as error:
                writer.block(f"Attachment that was not read: {called} ({error})", f"attachment {called}")
        text, [page] = writer.done()
        begin = self._next_start
        self._add(
            name, text, [PageMark(mark.start + begin, mark.end + begin, ref=mark.ref) for mark in page.unpack_marks()]
        )
        for called, attached in read:
            if isinstance(attached, Parsed):
                self._add_attachment(called, attached)
            else:
                self.add_mail(attached, called, depth + 1)

    @property
    def _next_start(self) -> int:
        """The offset at which the next part starts."""
        return self.length + len(_BREAK) if self.length else 0

    def _read_attachment(self, part: Part, name: str, depth: int) -> Part | Parsed:
        """The mail in an attachment, or its parsed file; raises `Unreadable` where it is not supported."""
        self.attachments += 1
        if self.attachments > MAX_ATTACHMENTS:
            raise Unreadable(f"at most {MAX_ATTACHMENTS} attachments are read", code="limit")
        parser = _parser_for(part, name)
        if parser == "mail":
            if depth >= MAX_NESTED_MAILS:
                raise Unreadable(f"mails are read up to {MAX_NESTED_MAILS} levels deep", code="limit")
            inside = part.get_payload()
            whole = inside[0] if isinstance(inside, list) and inside else None
            return whole if isinstance(whole, Part) else read_message(payload(part))
        if not parser:
            raise Unreadable("files of this type are not read", code="unsupported")
        return plugins.load(Parser, PARSERS, parser, {}).parse(payload(part))

    def _add_attachment(self, name: str, parsed: Parsed) -> None:
        title = heading(1, name)
        text, marks = attachment_text(parsed, self._next_start + len(title) + len(_BREAK))
        self._add(name, f"{title}{_BREAK}{text}", marks)

    def _add(self, name: str, text: str, marks: list[PageMark]) -> None:
        start = self._next_start if text else self.length
        if text and self.length:
            self.text.append(_BREAK)
        self.text.append(text)
        self.length = start + len(text)
        self.pages.append(Page(start, "part", name, marks=pack(marks)))


def _parser_for(part: Part, name: str) -> str:
    """The parser for an attachment, by the ending of its name, else by its MIME type; empty where there is none."""
    stem, dot, ending = name.rpartition(".")
    by_name = file_types().get(f".{ending.lower()}") if stem and dot else None
    kind = part.get_content_type()
    if by_name is not None and kind != "message/rfc822":
        return by_name.parser
    return next((known.parser for known in file_types().values() if known.mime == kind), "")
