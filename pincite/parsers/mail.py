"""Mails that were saved: headers, body, and attachments read like files of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pincite import plugins
from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page, PageMark, pack
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers import PARSERS, file_types
from pincite.parsers.eml.parts import contents, name_of, within
from pincite.parsers.eml.text import Part, author, header, payload, read_message, write_mail
from pincite.parsers.markdown_out.writer import MarkdownWriter, heading

MAX_DEPTH = 4
"""Mails inside one another that are read."""
MAX_ATTACHMENTS = 100
"""Attachments that are read; the others are named."""

_EXPECTED = ("From", "To", "Subject", "Date", "Received", "Message-ID", "Return-Path", "Delivered-To", "MIME-Version")
_BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to choose."""


class Mail:
    """Reads mails: each is a part, and so is each attachment that can be read; others are named."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {"message/rfc822": ".eml"}

    def parse(self, data: bytes) -> Parsed:
        """The mail's text and its attachments', one after the other."""
        try:
            message = read_message(data)
            if not any(name in message for name in _EXPECTED):
                raise Unreadable("it has none of the headers that a mail has", code="broken")
            reading = _Reading()
            reading.mail(message, "message", depth=1)
        except RecursionError:
            raise Unreadable("its parts are nested too deeply", code="limit") from None
        text = "".join(reading.text)
        if not text.strip():
            raise Unreadable("there is no text in the mail", code="empty")
        return Parsed(
            text=text,
            markup="markdown",
            title=header(message, "Subject") or None,
            author=author(message) or None,
            pages=tuple(reading.pages),
        )


def make_parser(options: Options) -> Parser:
    """Build the parser."""
    return Mail()


@dataclass(slots=True)
class _Reading:
    """A mail that is being read: the text so far, its parts, and how many attachments were opened."""

    text: list[str] = field(default_factory=list)
    length: int = 0
    pages: list[Page] = field(default_factory=list)
    attachments: int = 0

    def mail(self, message: Part, name: str, depth: int) -> None:
        """Add a mail, then what is attached to it."""
        found = contents(message)
        read: list[tuple[str, Part | Parsed]] = []
        manuscript = MarkdownWriter()
        manuscript.page("part")
        write_mail(manuscript, message, found.bodies)
        for part in found.attached:
            called = name_of(part) or part.get_content_type()
            try:
                read.append((called, self._opened(part, called, depth)))
            except Unreadable as error:
                manuscript.block(f"Attachment that was not read: {called} ({error})", f"attachment {called}")
        text, [page] = manuscript.done()
        begin = self._following
        self._add(
            name, text, [PageMark(mark.start + begin, mark.end + begin, ref=mark.ref) for mark in page.unpack_marks()]
        )
        for called, attached in read:
            if isinstance(attached, Parsed):
                self._attachment(called, attached)
            else:
                self.mail(attached, called, depth + 1)

    @property
    def _following(self) -> int:
        """Where the next part begins."""
        return self.length + len(_BREAK) if self.length else 0

    def _opened(self, part: Part, name: str, depth: int) -> Part | Parsed:
        """An attachment as the mail that it is, or as a file that was read."""
        self.attachments += 1
        if self.attachments > MAX_ATTACHMENTS:
            raise Unreadable(f"at most {MAX_ATTACHMENTS} attachments are read", code="limit")
        parser = _parser_for(part, name)
        if parser == "mail":
            if depth >= MAX_DEPTH:
                raise Unreadable(f"mails are read {MAX_DEPTH} deep inside one another", code="limit")
            inside = part.get_payload()
            whole = inside[0] if isinstance(inside, list) and inside else None
            return whole if isinstance(whole, Part) else read_message(payload(part))
        if not parser:
            raise Unreadable("files of this type are not read", code="unsupported")
        return plugins.load(Parser, PARSERS, parser, {}).parse(payload(part))

    def _attachment(self, name: str, parsed: Parsed) -> None:
        title = heading(1, name)
        text, marks = within(parsed, self._following + len(title) + len(_BREAK))
        self._add(name, f"{title}{_BREAK}{text}", marks)

    def _add(self, name: str, text: str, marks: list[PageMark]) -> None:
        start = self._following if text else self.length
        if text and self.length:
            self.text.append(_BREAK)
        self.text.append(text)
        self.length = start + len(text)
        self.pages.append(Page(start, "part", name, marks=pack(marks)))


def _parser_for(part: Part, name: str) -> str:
    """The parser that reads an attachment, by the ending of its name or, without one, by its type; empty for none."""
    stem, dot, ending = name.rpartition(".")
    by_name = file_types().get(f".{ending.lower()}") if stem and dot else None
    kind = part.get_content_type()
    if by_name is not None and kind != "message/rfc822":
        return by_name.parser
    return next((known.parser for known in file_types().values() if known.mime == kind), "")
