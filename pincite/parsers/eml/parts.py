"""Splits a mail into body and attachments, and moves an attachment's text and marks into the text of the mail."""

from collections.abc import Iterator
from dataclasses import dataclass

from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page, PageMark
from pincite.errors import Unreadable
from pincite.parsers.eml.text import Part, decode_words, header, payload
from pincite.parsers.markdown_out.writer import escaped

MAX_PARTS = 1_000
"""Maximum number of MIME parts of a mail."""
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_TEXTS = ("text/plain", "text/html")


@dataclass(frozen=True, slots=True)
class Contents:
    """The parts of a mail that are its body, and its attachments."""

    bodies: list[Part]
    attached: list[Part]


def split_parts(message: Part) -> Contents:
    """Body and attachments of a mail in order; of alternative bodies, plain text is preferred."""
    bodies: list[Part] = []
    attached: list[Part] = []
    waiting, count = [(message, False)], 0
    while waiting:
        (part, body_known), count = waiting.pop(), count + 1
        kind = part.get_content_type()
        if count > MAX_PARTS:
            raise Unreadable(f"it has more than {MAX_PARTS:,} parts", code="limit")
        if kind in ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"):
            raise Unreadable(
                "it is encrypted or has an opaque signature; save it unencrypted in the mail program and add that file",
                code="encrypted",
            )
        if kind == "multipart/alternative":
            chosen = _preferred(_subparts(part))
            # Some programs put attachments into the richer alternative: its text is skipped, its files are not.
            others = [way for way in _subparts(part) if way not in chosen and way.get_content_maintype() == "multipart"]
            waiting += [*((way, True) for way in reversed(others)), *((way, body_known) for way in reversed(chosen))]
        elif kind.startswith("multipart/"):
            waiting += [(inside, body_known) for inside in reversed(_subparts(part))]
        elif kind in _TEXTS and part.get_content_disposition() != "attachment" and not part.get_filename():
            bodies += [] if body_known else [part]
        elif kind not in _SIGNATURES and not _is_picture_in_text(part):
            attached.append(part)
    return Contents(bodies, attached)


def _subparts(part: Part) -> list[Part]:
    found = part.get_payload()
    return [inside for inside in found if isinstance(inside, Part)] if isinstance(found, list) else []


def _preferred(ways: list[Part]) -> list[Part]:
    """The plain text of several alternatives where it is not empty; else the last one, which is the richest."""
    plain = next((way for way in ways if way.get_content_type() == "text/plain" and payload(way).strip()), None)
    calendars = [way for way in ways if way.get_content_type() == "text/calendar"]
    rest = [way for way in ways if way not in calendars]
    return [plain] if plain is not None else rest[-1:]


def _is_picture_in_text(part: Part) -> bool:
    inline = part.get_content_disposition() != "attachment"
    return inline and part.get_content_maintype() == "image" and "content-id" in part


def name_of(part: Part) -> str:
    """The name of an attachment, without a path."""
    if part.get_content_type() == "message/rfc822":
        inside = _subparts(part)
        return header(inside[0], "Subject") if inside else ""
    try:
        given = part.get_filename() or ""
    except (LookupError, ValueError):  # an unknown charset in its parameters
        given = ""
    return decode_words(given[:1000]).replace("\\", "/").rpartition("/")[2][:255]


def attachment_text(parsed: Parsed, start: int) -> tuple[str, list[PageMark]]:
    """The text of an attachment and its marks, moved to `start`, where it begins in the mail's text."""
    if parsed.markup == "plain":
        return escaped(parsed.text), []
    cut = parsed.body_start
    moved = (
        PageMark(mark.start - cut + start, mark.end - cut + start, ref=mark.ref)
        for mark in _marks_with_pages(parsed)
        if mark.start >= cut
    )
    return parsed.text[cut:].rstrip("\n"), list(moved)


def _marks_with_pages(parsed: Parsed) -> Iterator[PageMark]:
    """The marks of a file, with the page, slide or sheet in their references; a page of boxes becomes one mark."""
    number = 0
    for page in parsed.pages:
        number += page.kind != "text"
        place, marks = _page_reference(page, number), page.unpack_marks()
        if marks and marks[0].box:
            yield PageMark(marks[0].start, marks[-1].end, ref=place)
            continue
        for mark in marks:
            yield PageMark(mark.start, mark.end, ref=", ".join(filter(None, (place, mark.ref))))


def _page_reference(page: Page, number: int) -> str:
    if page.kind == "text":
        return ""
    return f"{page.kind} {page.name}" if page.kind in ("sheet", "part") and page.name else f"{page.kind} {number}"
