"""Writes small PDF files for tests: text at any size and position, rules, links, notes, form fields, an outline."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 595, 842


@dataclass(frozen=True)
class Line:
    """A line of text: its font size, the gap above it as a multiple of that size, and whether it runs upwards.

    One with a `y`, in points from below, stands there and moves nothing else.
    """

    text: str
    size: float = 11
    gap: float = 1.2
    x: float = 72
    upwards: bool = False
    y: float | None = None
    bold: bool = False


@dataclass(frozen=True)
class Rule:
    """A drawn line between two positions, in points from the lower left corner."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True)
class Link:
    """A link rectangle with a URL."""

    uri: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True)
class Note:
    """A text annotation on the page."""

    text: str
    x: float
    y: float


@dataclass(frozen=True)
class Field:
    """A form field, with its value in PDF syntax, such as `(Ida)` or `/Yes`."""

    value: str
    x: float
    y: float
    flags: int = 4


@dataclass(frozen=True)
class Entry:
    """An entry of the outline, with its page, counted from 0."""

    title: str
    page: int
    level: int = 1


Item = Line | Rule | Link | Note | Field | str


def make_pdf(
    pages: Sequence[Sequence[Item]],
    *,
    title: str = "",
    author: str = "",
    encrypted: bool = False,
    rotate: int = 0,
    outline: Sequence[Entry] = (),
) -> bytes:
    """Return a PDF with these pages, each from top to bottom. `encrypted` declares an unknown password."""
    objects: list[bytes] = [b""] * (4 + 2 * len(pages))
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    objects[2] = b"<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> "
    objects[2] += b"/F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >> >>"
    objects[3] = b"<< /Title (" + _literal(title) + b") /Author (" + _literal(author) + b") >>"
    for number, page in enumerate(pages):
        annotations = " ".join(
            f"{_annotation(item, objects)} 0 R" for item in page if isinstance(item, Link | Note | Field)
        )
        objects[4 + 2 * number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {rotate} "
            f"/Resources << /Font 3 0 R >> /Annots [{annotations}] /Contents {6 + 2 * number} 0 R >>"
        ).encode()
        objects[5 + 2 * number] = _stream(_content(page))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R" + _outline(outline, objects) + b" >>"
    extra = b""
    if encrypted:
        zeros = b"<" + b"00" * 32 + b">"
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /O " + zeros + b" /U " + zeros + b" /P -4 >>")
        extra = f" /Encrypt {len(objects)} 0 R /ID [<00> <00>]".encode()
    return _assemble(objects, extra)


def _stream(content: bytes, about: str = "") -> bytes:
    return f"<< {about} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def _content(page: Sequence[Item]) -> bytes:
    y, out = 800.0, b""
    for item in page:
        line = Line(item) if isinstance(item, str) else item
        if isinstance(line, Rule):
            out += f"{line.x0} {line.y0} m {line.x1} {line.y1} l S\n".encode()
        if not isinstance(line, Line):
            continue
        y -= line.gap * line.size if line.y is None else 0
        turn = "0 1 -1 0" if line.upwards else "1 0 0 1"
        font, at = "/F2" if line.bold else "/F1", y if line.y is None else line.y
        out += f"BT {font} {line.size} Tf {turn} {line.x} {at:.2f} Tm (".encode() + _literal(line.text) + b") Tj ET\n"
    return out


def _annotation(item: Link | Note | Field, objects: list[bytes]) -> int:
    """Add a link, a note or a field; return the number of its object."""
    if isinstance(item, Link):
        about = f"/Subtype /Link /Rect [{item.x0} {item.y0} {item.x1} {item.y1}] /A << /S /URI /URI (".encode()
        about += _literal(item.uri) + b") >>"
    else:
        about = f"/Rect [{item.x} {item.y} {item.x + 300} {item.y + 20}] ".encode()
        if isinstance(item, Note):
            about += b"/Subtype /FreeText /F 4 /Contents (" + _literal(item.text) + b")"
        else:
            about += f"/Subtype /Widget /F {item.flags} /T (field) /V {item.value}".encode()
    objects.append(b"<< /Type /Annot " + about + b" >>")
    return len(objects)


def _outline(entries: Sequence[Entry], objects: list[bytes]) -> bytes:
    """Add the outline; return its entry of the catalogue."""
    if not entries:
        return b""
    root = len(objects) + 1
    parents, last = [root], {root: 0}
    told: dict[int, dict[str, int]] = {root: {}}
    for number, entry in enumerate(entries, root + 1):
        parents = [*parents[: entry.level], number]
        parent = parents[-2]
        told[number] = {"Parent": parent}
        if before := last.get(parent):
            told[before]["Next"] = number
            told[number]["Prev"] = before
        else:
            told[parent]["First"] = number
        last[parent] = told[parent]["Last"] = number
    for number in range(root, root + 1 + len(entries)):
        links = " ".join(f"/{name} {target} 0 R" for name, target in told[number].items())
        own = b""
        if number > root:
            entry = entries[number - root - 1]
            page = f" /Dest [{5 + 2 * entry.page} 0 R /Fit]".encode()
            own = b" /Title (" + _literal(entry.title) + b")" + page
        objects.append(f"<< {links}".encode() + own + b" >>")
    return f" /Outlines {root} 0 R".encode()


def _literal(text: str) -> bytes:
    """Return text as the content of a PDF string, in WinAnsi."""
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _assemble(objects: list[bytes], extra: bytes) -> bytes:
    out = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R".encode() + extra
    return (
        out
        + f"xref\n0 {size}\n0000000000 65535 f \n".encode()
        + table
        + trailer
        + f" >>\nstartxref\n{len(out)}\n%%EOF\n".encode()
    )
