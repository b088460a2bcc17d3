"""Detects the type of a file from its bytes, independent of its name and without unpacking anything."""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

SNIFF_BYTES = 65536
"""Bytes at the start of a file that are examined."""
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")

_PDF_MARK_WITHIN = 1024
"""Bytes at the start of a file in which `%PDF-` must stand."""
_MAX_ENTRIES = 10_000
"""Entries of a ZIP directory that are examined."""
_ZIP_END = struct.Struct("<4s6xH4x4xH")
_ZIP_DIRECTORY = struct.Struct("<4s12xI")
_ZIP_ENTRY = struct.Struct("<4s24xHHH12x")
_ZIP_END_WITHIN = 65_535 + 22
"""Bytes at the end of a file that may hold a ZIP archive's end record: the longest comment and the record."""

_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\b\x1b") + b"\x7f"
_MAX_CONTROL_SHARE = 0.01
"""Share of control characters above which data counts as binary."""
_HTML = re.compile(
    rb"\s*+(?:<!--(?>.{0,4096}?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE | re.DOTALL
)
"""Possessive, without backtracking: with it, each further comment would double the time."""
_MAIL_HEADERS = frozenset(b"from to subject date received message-id return-path delivered-to mime-version".split())


@dataclass(frozen=True, slots=True)
class Kind:
    """A detected type: its description for messages, and its file name ending where the type is supported."""

    description: str
    ending: str = ""


_PDF, _TEXT, _BINARY = Kind("a PDF", ".pdf"), Kind("text"), Kind("binary data")
_WORD, _SHEETS = Kind("a Word document", ".docx"), Kind("an Excel workbook", ".xlsx")
_SLIDES = Kind("a PowerPoint presentation", ".pptx")
_ZIP, _PROTECTED = Kind("a ZIP archive"), Kind("an Office document with a password")
_PNG, _JPEG, _BMP = Kind("a PNG image", ".png"), Kind("a JPEG image", ".jpg"), Kind("a BMP image", ".bmp")
_TIFF, _WEBP = Kind("a TIFF image", ".tif"), Kind("a WebP image", ".webp")

_SIGNATURES: Mapping[bytes, Kind] = {
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
_OLE_STREAMS: Mapping[str, Kind] = {
    "EncryptedPackage": _PROTECTED,
    "WordDocument": Kind("an old Word document (.doc)"),
    "Workbook": Kind("an old Excel workbook (.xls)"),
    "PowerPoint Document": Kind("an old PowerPoint presentation (.ppt)"),
    "__substg1.0_": Kind("an Outlook message (.msg)"),
}
_ZIP_FOLDERS: Mapping[bytes, Kind] = {b"word/": _WORD, b"ppt/": _SLIDES, b"xl/": _SHEETS}
_MIMETYPES: Mapping[bytes, Kind] = {
    b"application/vnd.oasis.opendocument.text": Kind("an OpenDocument text (.odt)"),
    b"application/vnd.oasis.opendocument.spreadsheet": Kind("an OpenDocument table (.ods)"),
    b"application/vnd.oasis.opendocument.presentation": Kind("an OpenDocument presentation (.odp)"),
    b"application/epub+zip": Kind("an EPUB book"),
}


def kind_of(data: bytes) -> Kind:
    """The type of these bytes."""
    if data.startswith(b"PK\x03\x04"):
        return _zip_kind(data)
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        named = (kind for name, kind in _OLE_STREAMS.items() if name.encode("utf-16-le") in data)
        return next(named, Kind("an old Office document"))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _WEBP
    if data.startswith(b"BM") and looks_binary(data):
        return _BMP
    known = next((kind for mark, kind in _SIGNATURES.items() if data.startswith(mark)), None)
    if known is not None:
        return known
    return _BINARY if looks_binary(data) else _TEXT


def matches_type(mime: str, data: bytes) -> bool:
    """Whether these bytes match a MIME type, and no second type at the same time."""
    check = next((test for part, test in _CHECKS.items() if part in mime), None)
    if check is None:
        check = _is_text if mime.startswith("text/") else _is_anything
    return check(data)


def is_also_archive(data: bytes) -> bool:
    """Whether a file that starts as another type ends as a ZIP archive: a polyglot file."""
    at = data.rfind(b"PK\x05\x06", max(0, len(data) - _ZIP_END_WITHIN))
    if data.startswith(b"PK") or at < 0 or at + 22 > len(data):
        return False
    _, entries, comment = _ZIP_END.unpack_from(data, at)
    return bool(entries) and at + 22 + comment == len(data)


def looks_binary(data: bytes) -> bool:
    """Whether bytes are not text: they hold NULs or many control characters, and no byte order mark."""
    if data.startswith(BYTE_ORDER_MARKS):
        return False
    head = data[:SNIFF_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" in data or controls > len(head) * _MAX_CONTROL_SHARE


def _is_anything(_data: bytes) -> bool:
    return True


def _is_text(data: bytes) -> bool:
    return kind_of(data) == _TEXT


def _is_mail(data: bytes) -> bool:
    """Whether the bytes start with mail headers, among them a common one such as From or Subject."""
    if not _is_text(data):
        return False
    for line in data[:SNIFF_BYTES].lstrip().splitlines():
        name, colon, _ = line.partition(b":")
        if not line.strip() or (not colon and not line.startswith((b" ", b"\t", b"From ", b">From "))):
            return False
        if name.strip().lower() in _MAIL_HEADERS:
            return True
    return False


def _is_pdf(data: bytes) -> bool:
    """Whether the bytes have a PDF mark near the start; junk before it is allowed, another file type is not."""
    before, mark, _ = data[:_PDF_MARK_WITHIN].partition(b"%PDF-")
    other = kind_of(before) not in (_TEXT, _BINARY) if before else False
    return bool(mark) and not other and not _HTML.match(before) and not is_also_archive(data)


def _office_check(wanted: Kind) -> Callable[[bytes], bool]:
    """The check for an Office type. A broken or encrypted archive passes: its parser reports the problem better."""

    def test(data: bytes) -> bool:
        kind = kind_of(data)
        return kind in (wanted, _PROTECTED) or (kind == _ZIP and not any(_entry_names(data)))

    return test


def _image_check(wanted: Kind) -> Callable[[bytes], bool]:
    return lambda data: kind_of(data) == wanted and not is_also_archive(data)


_CHECKS: Mapping[str, Callable[[bytes], bool]] = {
    "application/pdf": _is_pdf,
    "word": _office_check(_WORD),
    "presentationml": _office_check(_SLIDES),
    "powerpoint": _office_check(_SLIDES),
    "spreadsheetml": _office_check(_SHEETS),
    "ms-excel": _office_check(_SHEETS),
    "image/png": _image_check(_PNG),
    "image/jpeg": _image_check(_JPEG),
    "image/tiff": _image_check(_TIFF),
    "image/webp": _image_check(_WEBP),
    "image/bmp": _image_check(_BMP),
    "message/rfc822": _is_mail,
    "application/xhtml+xml": _is_text,
}
"""Part of a MIME type → its check. Other text types must be text; remaining types are not checked."""


def _zip_kind(data: bytes) -> Kind:
    if data[30:38] == b"mimetype":
        length = int.from_bytes(data[22:26], "little")
        extra = int.from_bytes(data[28:30], "little")
        if kind := _MIMETYPES.get(data[38 + extra : 38 + extra + length]):
            return kind
    for name in _entry_names(data):
        for folder, kind in _ZIP_FOLDERS.items():
            if name.startswith(folder):
                return kind
    return _ZIP


def _entry_names(data: bytes) -> Iterator[bytes]:
    """The entry names in a ZIP directory, as far as it can be read, up to the limit."""
    return islice(_all_entry_names(data), _MAX_ENTRIES)


def _all_entry_names(data: bytes) -> Iterator[bytes]:
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
