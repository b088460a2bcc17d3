"""Sets `annual-report-2023.txt` as the sample PDF: the same text always gives the same bytes.

Run `python examples/make_pdf.py` after changing the text. A line that begins with `#` is a heading, one that
begins with `|` a table row, and `---` starts a new page.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE / "annual-report-2023.txt"
TARGET = HERE / "documents" / "annual-report-2023.pdf"

PAGE_WIDTH, PAGE_HEIGHT, MARGIN = 595, 842, 72
COLUMNS = (0, 240, 340)
BODY, HEADING, TITLE, FOOTER = ("F1", 11), ("F2", 14), ("F2", 20), ("F1", 8)
FOOTER_TEXT = "Silberjoch Observatory, Annual Report 2023, page {}"

# The widths of Helvetica's characters from blank to tilde, in thousandths of the font size.
WIDTHS = [
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, *[556] * 10, 278, 278),
    *(584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667),
    *(778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556),
    *(278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500),
    *(334, 260, 334, 584),
]


@dataclass
class Page:
    """A page being filled from the top down; `y` is the base line of the last line set."""

    y: float = PAGE_HEIGHT - MARGIN
    operators: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)

    def put(self, text: str, font: tuple[str, int], x: float, y: float) -> None:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.operators.append(f"BT /{font[0]} {font[1]} Tf {x:g} {y:g} Td ({escaped}) Tj ET")


def width(text: str, size: int) -> float:
    """How wide Helvetica sets a text."""
    return sum(WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in text) * size / 1000


def wrapped(text: str, size: int) -> Iterator[str]:
    """The lines a paragraph takes between the margins."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and width(longer, size) > PAGE_WIDTH - 2 * MARGIN:
            yield line
            line = word
        else:
            line = longer
    yield line


def set_page(text: str, number: int) -> Page:
    """Set one page's text."""
    page = Page()
    for line in text.splitlines():
        if not line:
            page.y -= 8
            continue
        if line.startswith("|"):
            page.y -= 16
            for column, cell in zip(COLUMNS, line.strip("| ").split(" | "), strict=False):
                page.put(cell, BODY, MARGIN + column, page.y)
            continue
        font = TITLE if line.startswith("# ") else HEADING if line.startswith("## ") else BODY
        if font is not BODY:
            page.y -= 6
            page.headings.append(line.lstrip("# "))
        for part in wrapped(line.lstrip("# "), font[1]):
            page.y -= 1.35 * font[1]
            page.put(part, font, MARGIN, page.y)
    if page.y < MARGIN:
        raise SystemExit(f"page {number} is too long: move its last paragraph behind the next '---'")
    page.put(FOOTER_TEXT.format(number), FOOTER, MARGIN, MARGIN / 2)
    return page


def objects(pages: list[Page]) -> list[str]:
    """The PDF's objects, numbered from 1: catalogue, page tree, fonts, information, pages, outline."""
    first_page, contents = 6, 6 + len(pages)
    outline = contents + len(pages)
    entries = [(title, first_page + n) for n, page in enumerate(pages) for title in page.headings]
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>"
    kids = " ".join(f"{first_page + n} 0 R" for n in range(len(pages)))
    made = [
        f"<< /Type /Catalog /Pages 2 0 R /Outlines {outline} 0 R /Lang (en) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} /MediaBox [0 0 {PAGE_WIDTH} {PAGE_HEIGHT}]"
        " /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>",
        font.format("Helvetica"),
        font.format("Helvetica-Bold"),
        "<< /Title (Silberjoch Observatory, Annual Report 2023) /Author (Ilse Vantobel) >>",
    ]
    made += [f"<< /Type /Page /Parent 2 0 R /Contents {contents + n} 0 R >>" for n in range(len(pages))]
    for page in pages:
        stream = "\n".join(page.operators)
        made.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
    last = outline + len(entries)
    made.append(f"<< /Type /Outlines /First {outline + 1} 0 R /Last {last} 0 R /Count {len(entries)} >>")
    for number, (title, page_number) in enumerate(entries, outline + 1):
        before = f" /Prev {number - 1} 0 R" if number > outline + 1 else ""
        after = f" /Next {number + 1} 0 R" if number < last else ""
        made.append(f"<< /Title ({title}) /Parent {outline} 0 R /Dest [{page_number} 0 R /Fit]{before}{after} >>")
    return made


def make_pdf(text: str) -> bytes:
    """Set a text as a PDF."""
    pages = [set_page(part, number) for number, part in enumerate(text.split("\n---\n"), 1)]
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    starts = []
    for number, body in enumerate(objects(pages), 1):
        starts.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    size, begin = len(starts) + 1, len(out)
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode()
    out += f"trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{begin}\n%%EOF\n".encode()
    return bytes(out)


if __name__ == "__main__":
    TARGET.write_bytes(make_pdf(SOURCE.read_text(encoding="utf-8")))
