"""The parts of a mail: which are its body, which are attachments, and where pieces of an attachment's text stand."""

from collections.abc import Iterator
from dataclasses import dataclass

from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import Page, PageMark
from pincite.errors import Unreadable
from pincite.parsers.eml.text import Part, header, in_words, payload
from pincite.parsers.markdown_out.writer import escaped

MAX_PARTS = 1_000
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_TEXTS = ("text/plain", "text/html")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a mail is made of: the parts that are its body, and what came with it."""

    bodies: list[Part]
    attached: list[Part]


def contents(message: Part) -> Contents:
    """The parts of a mail in order; of several ways to say the same, plain text if there is some."""
    bodies: list[Part] = []
    attached: list[Part] = []
    waiting, count = [(message, False)], 0
    while waiting:
        (part, said), count = waiting.pop(), count + 1
        kind = part.get_content_type()
        if count > MAX_PARTS:
            raise Unreadable(f"it has more than {MAX_PARTS:,} parts", code="limit")
        if kind in ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"):
            raise Unreadable(
                "it is encrypted, or signed in one piece; save it in the clear from the mail program and add that",
                code="encrypted",
            )
        if kind == "multipart/alternative":
            chosen = _chosen(_below(part))
            # Some programs put what is attached into the richer of two ways: its words are said, its files are not.
            others = [way for way in _below(part) if way not in chosen and way.get_content_maintype() == "multipart"]
            waiting += [*((way, True) for way in reversed(others)), *((way, said) for way in reversed(chosen))]
        elif kind.startswith("multipart/"):
            waiting += [(inside, said) for inside in reversed(_below(part))]
        elif kind in _TEXTS and part.get_content_disposition() != "attachment" and not part.get_filename():
            bodies += [] if said else [part]
        elif kind not in _SIGNATURES and not _is_picture_in_text(part):
            attached.append(part)
    return Contents(bodies, attached)


def _below(part: Part) -> list[Part]:
    found = part.get_payload()
    return [inside for inside in found if isinstance(inside, Part)] if isinstance(found, list) else []


def _chosen(ways: list[Part]) -> list[Part]:
    """The plain one of several ways to say the same, if it says anything; else the last, which is the richest."""
    plain = next((way for way in ways if way.get_content_type() == "text/plain" and payload(way).strip()), None)
    calendars = [way for way in ways if way.get_content_type() == "text/calendar"]
    rest = [way for way in ways if way not in calendars]
    return [plain] if plain is not None else rest[-1:]


def _is_picture_in_text(part: Part) -> bool:
    inline = part.get_content_disposition() != "attachment"
    return inline and part.get_content_maintype() == "image" and "content-id" in part


def name_of(part: Part) -> str:
    """What an attachment is called; never a path."""
    if part.get_content_type() == "message/rfc822":
        inside = _below(part)
        return header(inside[0], "Subject") if inside else ""
    try:
        given = part.get_filename() or ""
    except (LookupError, ValueError):  # an impossible charset in its parameters
        given = ""
    return in_words(given[:1000]).replace("\\", "/").rpartition("/")[2][:255]


def within(parsed: Parsed, start: int) -> tuple[str, list[PageMark]]:
    """An attachment's text as part of a mail's, and its marks once it begins at `start` there."""
    if parsed.markup == "plain":
        return escaped(parsed.text), []
    cut = parsed.body_start
    moved = (
        PageMark(mark.start - cut + start, mark.end - cut + start, ref=mark.ref)
        for mark in _in_words(parsed)
        if mark.start >= cut
    )
    return parsed.text[cut:].rstrip("\n"), list(moved)


def _in_words(parsed: Parsed) -> Iterator[PageMark]:
    """Marks with references that say page, slide or sheet as well; a page of words in boxes is one mark."""
    number = 0
    for page in parsed.pages:
        number += page.kind != "text"
        place, marks = _place(page, number), page.unpack_marks()
        if marks and marks[0].box:
            yield PageMark(marks[0].start, marks[-1].end, ref=place)
            continue
        for mark in marks:
            yield PageMark(mark.start, mark.end, ref=", ".join(filter(None, (place, mark.ref))))


def _place(page: Page, number: int) -> str:
    if page.kind == "text":
        return ""
    return f"{page.kind} {page.name}" if page.kind in ("sheet", "part") and page.name else f"{page.kind} {number}"
