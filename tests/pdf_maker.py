"""Writes small PDF files by hand, for tests: pages of lines in Helvetica, at any size and place."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A line of text: its letters' size, the gap above it as a multiple of that size, and whether it runs upwards."""

    text: str
    size: float = 11
    gap: float = 1.2
    x: float = 72
    upwards: bool = False


def make_pdf(
    pages: Sequence[Sequence[Line | str]], *, title: str = "", author: str = "", encrypted: bool = False
) -> bytes:
    """A PDF with these pages, each read from top to bottom. `encrypted` claims a password nobody knows."""
    objects: list[bytes] = []
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    objects.append(b"<< /Title (" + _literal(title) + b") /Author (" + _literal(author) + b") >>")
    for number, page in enumerate(pages):
        content = _content(page)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            + f"/Contents {6 + 2 * number} 0 R >>".encode()
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream")
    extra = b""
    if encrypted:
        zeros = b"<" + b"00" * 32 + b">"
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /O " + zeros + b" /U " + zeros + b" /P -4 >>")
        extra = f" /Encrypt {len(objects)} 0 R /ID [<00> <00>]".encode()
    return _assemble(objects, extra)


def _content(page: Sequence[Line | str]) -> bytes:
    lines = [line if isinstance(line, Line) else Line(line) for line in page]
    y, out = 800.0, b"BT\n"
    for line in lines:
        y -= line.gap * line.size
        turn = "0 1 -1 0" if line.upwards else "1 0 0 1"
        out += f"/F1 {line.size} Tf {turn} {line.x} {y:.2f} Tm (".encode() + _literal(line.text) + b") Tj\n"
    return out + b"ET"


def _literal(text: str) -> bytes:
    """Text as the inside of a PDF string, in WinAnsi."""
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
