"""What may come in: a file's name, folder, size and type, checked against its bytes before anything is kept."""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pincite import plugins
from pincite.core.documents import Upload
from pincite.core.protocols import Parser
from pincite.errors import Invalid, TooLarge, Unsupported
from pincite.settings import Settings

PARSERS = "pincite.parsers"
MAX_NAME = 255
MAX_FOLDER = 1000

_MARKS: Mapping[str, bytes] = {"application/pdf": b"%PDF-"}
"""MIME type → what its bytes have near the front; types that are not here are text."""

_SIGNATURES: Mapping[bytes, str] = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x1f\x8b": "gzip data",
    b"\x7fELF": "a program",
    b"SQLite format 3\0": "a database",
}
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Controls, formats such as the marks that turn the direction of writing, surrogates, line separators."""
_JOINERS = "\u200c\u200d"
"""Formats that some scripts and emoji cannot be written without."""
_BLANK = b" \t\r\n\f\v\0\xef\xbb\xbf\xff\xfe"
"""White space and byte order marks."""
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
_SNIFFED = 65536
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\b\x1b") + b"\x7f"
_MAX_CONTROL_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Accepted:
    """A file that may be kept: its clean name and folder, what it is, and who can read it."""

    name: str
    folder: str
    mime: str
    parser: str
    checksum: str


@dataclass(frozen=True, slots=True)
class FileType:
    """A MIME type and the name of the parser that reads it."""

    mime: str
    parser: str


def check(upload: Upload, settings: Settings) -> Accepted:
    """Judge a file by its name, size and bytes alone; raises what is wrong with it."""
    name = clean_name(upload.name)
    folder = clean_folder(upload.folder)
    kind = _type_by_name(name)
    _check_size(name, kind, upload.data, settings)
    _check_content(name, kind, upload.data)
    return Accepted(name, folder, kind.mime, kind.parser, hashlib.sha256(upload.data).hexdigest())


@cache
def file_types() -> Mapping[str, FileType]:
    """File name ending → type, found by asking every parser in the folder."""
    found: dict[str, FileType] = {}
    for parser in plugins.names(PARSERS, "make_parser"):
        for mime, endings in plugins.load(Parser, PARSERS, parser, {}).reads.items():
            found |= {ending: FileType(mime, parser) for ending in endings.split()}
    return found


def clean_name(name: str) -> str:
    """The file's name in NFC, if it is one: no path, nothing invisible, neither empty nor too long."""
    name = unicodedata.normalize("NFC", name)
    if wrong := _wrong_with(name):
        raise Invalid(f"the file name {wrong}; rename the file", code="bad_name")
    return name


def clean_folder(folder: str) -> str:
    """A folder such as `hr/policies` in NFC, without slashes around; empty is the top."""
    folder = unicodedata.normalize("NFC", folder).strip("/")
    if len(folder) > MAX_FOLDER:
        raise Invalid(f"the folder's path is longer than {MAX_FOLDER} characters; shorten it", code="bad_folder")
    for part in folder.split("/") if folder else ():
        if wrong := _wrong_with(part):
            raise Invalid(f"a part of the folder's path {wrong}; use one like hr/policies", code="bad_folder")
    return folder


def _wrong_with(name: str) -> str:
    """What is wrong with one part of a path, in words; empty where nothing is."""
    if not name.strip():
        return "is empty"
    if name in (".", ".."):
        return f"is '{name}'"
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    if "/" in name or "\\" in name:
        return "contains a slash or a backslash"
    if any(unicodedata.category(char) in _UNSEEN and char not in _JOINERS for char in name):
        return "contains control or invisible characters"
    return ""


def _type_by_name(name: str) -> FileType:
    stem, dot, ending = name.rpartition(".")
    kind = file_types().get(f".{ending.lower()}") if dot and stem else None
    if kind is None:
        known = ", ".join(sorted(file_types()))
        raise Unsupported(f"files like '{name}' are not read; these are: {known}")
    return kind


def _check_size(name: str, kind: FileType, data: bytes, settings: Settings) -> None:
    if not data[:_SNIFFED].strip(_BLANK) and not data.strip(_BLANK):
        raise Invalid(f"'{name}' is empty", code="empty")
    is_text = kind.mime.startswith("text/")
    limit = settings.ingest.max_markdown_mb if is_text else settings.ingest.max_pdf_mb
    if len(data) > limit * 1024 * 1024:
        setting = "ingest.max_markdown_mb" if is_text else "ingest.max_pdf_mb"
        size = len(data) / 1024 / 1024
        raise TooLarge(f"'{name}' has {size:.1f} MB; at most {limit:g} MB are read ({setting})")


def _check_content(name: str, kind: FileType, data: bytes) -> None:
    """The bytes must be what the name says: a PDF has its mark near the front, text has no binary in it."""
    mark = _MARKS.get(kind.mime)
    fits = mark in data[:1024] if mark else not (_signature(data) or _looks_binary(data))
    if not fits:
        ending = name.rpartition(".")[2]
        raise Unsupported(f"'{name}' is named .{ending}, but its bytes are {_signature(data) or _described(data)}")


def _signature(data: bytes) -> str:
    return next((kind for mark, kind in _SIGNATURES.items() if data.startswith(mark)), "")


def _looks_binary(data: bytes) -> bool:
    """Whether bytes are no text: NULs, or many control characters; UTF-16 announces itself."""
    if data.startswith(_BYTE_ORDER_MARKS):
        return False
    head = data[:_SNIFFED]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" in data or controls > len(head) * _MAX_CONTROL_SHARE


def _described(data: bytes) -> str:
    return "binary data" if _looks_binary(data) else "text"
