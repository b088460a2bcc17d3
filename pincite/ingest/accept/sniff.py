"""What a file's bytes are, whatever its name says; nothing is unpacked for it."""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

SNIFFED = 65536
"""Bytes at the front that are looked at closely."""
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")

_PDF_WITHIN = 1024
_MAX_ENTRIES = 10_000
_ZIP_END = struct.Struct("<4s6xH4x4xH")
_ZIP_DIRECTORY = struct.Struct("<4s12xI")
_ZIP_ENTRY = struct.Struct("<4s24xHHH12x")
_ZIP_END_WITHIN = 65_535 + 22

_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\b\x1b") + b"\x7f"
_MAX_CONTROL_SHARE = 0.01
_HTML = re.compile(
    rb"\s*+(?:<!--(?>.{0,4096}?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE | re.DOTALL
)
"""Nothing that was matched is tried otherwise: each comment more would double the time."""
_MAIL_HEADERS = frozenset(b"from to subject date received message-id return-path delivered-to mime-version".split())


@dataclass(frozen=True, slots=True)
class Kind:
    """What bytes turn out to be, in words, and how a file of that kind is named where it is read."""

    words: str
    ending: str = ""


_PDF, _TEXT, _BINARY = Kind("a PDF", ".pdf"), Kind("text"), Kind("binary data")
_WORD, _SLIDES, _SHEETS = (
    Kind("a Word document", ".docx"), Kind("a PowerPoint presentation", ".pptx"), Kind("an Excel workbook", ".xlsx")
)  # fmt: skip
_ZIP, _PROTECTED = Kind("a ZIP archive"), Kind("an Office document with a password")
_PNG, _JPEG, _BMP = Kind("a PNG image", ".png"), Kind("a JPEG image", ".jpg"), Kind("a BMP image", ".bmp")
_TIFF, _WEBP = Kind("a TIFF image", ".tif"), Kind("a WebP image", ".webp")

_BEGINNINGS: Mapping[bytes, Kind] = {
    b"%PDF-": _PDF,
    b"\x89PNG": _PNG,
    b"\xff\xd8\xff": _JPEG,
    b"II*\0": _TIFF,
    b"MM\0*": _TIFF,
    b"GIF8": Kind("a GIF image"),
    b"{\\rtf": Kind("an RTF document"),
    b"\x1f\x8b": Kind("gzip data"),
    b"7z\xbc\xaf\x27\x1c": Kind("a 7-Zip archive"),
    b"Rar!": Kind("a RAR archive"),
    b"BZh": Kind("bzip2 data"),
    b"\xfd7zXZ": Kind("xz data"),
    b"\x7fELF": Kind("a program"),
    b"SQLite format 3\0": Kind("a database"),
    b"!BDN": Kind("an Outlook mailbox"),
}
_IN_OLE: Mapping[str, Kind] = {
    "EncryptedPackage": _PROTECTED,
    "WordDocument": Kind("an old Word document (.doc)"),
    "Workbook": Kind("an old Excel workbook (.xls)"),
    "PowerPoint Document": Kind("an old PowerPoint presentation (.ppt)"),
    "__substg1.0_": Kind("an Outlook message (.msg)"),
}
_IN_ZIP: Mapping[bytes, Kind] = {b"word/": _WORD, b"ppt/": _SLIDES, b"xl/": _SHEETS}
_MIMETYPES: Mapping[bytes, Kind] = {
    b"application/vnd.oasis.opendocument.text": Kind("an OpenDocument text (.odt)"),
    b"application/vnd.oasis.opendocument.spreadsheet": Kind("an OpenDocument table (.ods)"),
    b"application/vnd.oasis.opendocument.presentation": Kind("an OpenDocument presentation (.odp)"),
    b"application/epub+zip": Kind("an EPUB book"),
}


def kind_of(data: bytes) -> Kind:
    """What these bytes are."""
    if data.startswith(b"PK\x03\x04"):
        return _zip_kind(data)
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        named = (kind for name, kind in _IN_OLE.items() if name.encode("utf-16-le") in data)
        return next(named, Kind("an old Office document"))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _WEBP
    if data.startswith(b"BM") and looks_binary(data):
        return _BMP
    known = next((kind for mark, kind in _BEGINNINGS.items() if data.startswith(mark)), None)
    if known is not None:
        return known
    return _BINARY if looks_binary(data) else _TEXT


def fits(mime: str, data: bytes) -> bool:
    """Whether these bytes are what a file of this type must be, and nothing else besides."""
    wanted = next((test for part, test in _WANTED.items() if part in mime), None)
    if wanted is None:
        wanted = _is_text if mime.startswith("text/") else _is_anything
    return wanted(data)


def is_also_archive(data: bytes) -> bool:
    """Whether these bytes, which begin as something else, end as a ZIP archive: made to be two things at once."""
    at = data.rfind(b"PK\x05\x06", max(0, len(data) - _ZIP_END_WITHIN))
    if data.startswith(b"PK") or at < 0 or at + 22 > len(data):
        return False
    _, entries, comment = _ZIP_END.unpack_from(data, at)
    return bool(entries) and at + 22 + comment == len(data)


def looks_binary(data: bytes) -> bool:
    """Whether bytes are no text: NULs, or many control characters; UTF-16 and UTF-32 announce themselves."""
    if data.startswith(BYTE_ORDER_MARKS):
        return False
    head = data[:SNIFFED]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" in data or controls > len(head) * _MAX_CONTROL_SHARE


def _is_anything(_data: bytes) -> bool:
    return True


def _is_text(data: bytes) -> bool:
    return kind_of(data) == _TEXT


def _is_mail(data: bytes) -> bool:
    """A mail begins with headers, one of which says from whom, to whom, when or about what."""
    if not _is_text(data):
        return False
    for line in data[:SNIFFED].lstrip().splitlines():
        name, colon, _ = line.partition(b":")
        if not line.strip() or (not colon and not line.startswith((b" ", b"\t", b"From ", b">From "))):
            return False
        if name.strip().lower() in _MAIL_HEADERS:
            return True
    return False


def _is_pdf(data: bytes) -> bool:
    """A PDF has its mark near the front; what stands before may be junk, but no other file."""
    before, mark, _ = data[:_PDF_WITHIN].partition(b"%PDF-")
    other = kind_of(before) not in (_TEXT, _BINARY) if before else False
    return bool(mark) and not other and not _HTML.match(before) and not is_also_archive(data)


def _office(wanted: Kind) -> Callable[[bytes], bool]:
    """One whose entries cannot be listed, or that has a password, is left to its parser, who says what is wrong."""

    def test(data: bytes) -> bool:
        kind = kind_of(data)
        return kind in (wanted, _PROTECTED) or (kind == _ZIP and not any(_entries(data)))

    return test


def _image(wanted: Kind) -> Callable[[bytes], bool]:
    return lambda data: kind_of(data) == wanted and not is_also_archive(data)


_WANTED: Mapping[str, Callable[[bytes], bool]] = {
    "application/pdf": _is_pdf,
    "word": _office(_WORD),
    "presentationml": _office(_SLIDES),
    "powerpoint": _office(_SLIDES),
    "spreadsheetml": _office(_SHEETS),
    "ms-excel": _office(_SHEETS),
    "image/png": _image(_PNG),
    "image/jpeg": _image(_JPEG),
    "image/tiff": _image(_TIFF),
    "image/webp": _image(_WEBP),
    "image/bmp": _image(_BMP),
    "message/rfc822": _is_mail,
    "application/xhtml+xml": _is_text,
}
"""Part of a MIME type → whether bytes fit; other types of text are text, and of the rest nothing is known."""


def _zip_kind(data: bytes) -> Kind:
    if data[30:38] == b"mimetype":
        length = int.from_bytes(data[22:26], "little")
        extra = int.from_bytes(data[28:30], "little")
        if kind := _MIMETYPES.get(data[38 + extra : 38 + extra + length]):
            return kind
    for name in _entries(data):
        for folder, kind in _IN_ZIP.items():
            if name.startswith(folder):
                return kind
    return _ZIP


def _entries(data: bytes) -> Iterator[bytes]:
    """The names in an archive's directory, as far as it can be read."""
    return islice(_listed(data), _MAX_ENTRIES)


def _listed(data: bytes) -> Iterator[bytes]:
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - _ZIP_END_WITHIN))
    if end < 0 or end + 22 > len(data):
        return
    _, at = _ZIP_DIRECTORY.unpack_from(data, end)
    while at + _ZIP_ENTRY.size <= len(data):
        mark, name, extra, comment = _ZIP_ENTRY.unpack_from(data, at)
        if mark != b"PK\x01\x02":
            return
        start = at + _ZIP_ENTRY.size
        yield data[start : start + name]
        at = start + name + extra + comment
