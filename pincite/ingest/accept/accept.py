"""Validates an upload before it is stored: name, folder, size, and whether its bytes match its type."""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.config.settings import Settings
from pincite.core.documents.document import Upload
from pincite.errors import Invalid, TooLarge, Unsupported
from pincite.ingest.accept.sniff import SNIFF_BYTES, is_also_archive, kind_of, matches_type
from pincite.ingest.accept.unsupported import UNSUPPORTED_FORMATS
from pincite.parsers import FileType, file_types

MAX_NAME_CHARS = 255
"""Maximum length of a file name."""
MAX_FOLDER_CHARS = 1000
"""Maximum length of a folder's path."""
_MB = 1024 * 1024

_INVISIBLE_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories refused in names: control and format characters (such as bidi marks), surrogates, separators."""
_JOINERS = "\u200c\u200d"
"""Zero-width joiners: format characters that some scripts and emoji need."""
_BLANK_BYTES = b" \t\r\n\f\v\0\xef\xbb\xbf\xff\xfe"
"""White space, NUL and byte order marks: a file of nothing else is empty."""
_SIZE_SETTINGS: Mapping[str, str] = {
    "markdown": "max_markdown_mb",
    "plain": "max_markdown_mb",
    "html": "max_html_mb",
    "csv": "max_csv_mb",
    "docx": "max_office_mb",
    "pptx": "max_office_mb",
    "xlsx": "max_office_mb",
    "mail": "max_mail_mb",
    "image": "max_image_mb",
    "pdf": "max_pdf_mb",
}
"""Parser → the setting with the maximum size of its files."""
_TYPE_NAMES: Mapping[str, str] = {
    "markdown": "Markdown",
    "plain": "text",
    "html": "web pages",
    "csv": "tables as text",
    "docx": "Word",
    "pptx": "PowerPoint",
    "xlsx": "Excel",
    "mail": "mails",
    "image": "images",
    "pdf": "PDF",
}
"""Parser → the common name of its files."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A valid upload: its normalized name and folder, its type, its parser and its checksum."""

    name: str
    folder: str
    mime: str
    parser: str
    checksum: str


def accept(upload: Upload, settings: Settings) -> Accepted:
    """Validate a file by its name, size and bytes; raises the reason where it is refused."""
    name = clean_name(upload.name)
    folder = clean_folder(upload.folder)
    kind = _type_by_name(name)
    _check_size(name, kind, upload.data, settings)
    _check_content(name, kind, upload.data)
    return Accepted(name, folder, kind.mime, kind.parser, hashlib.sha256(upload.data).hexdigest())


def clean_name(name: str) -> str:
    """The file name in NFC; refused where it is a path, has invisible characters, or is empty or too long."""
    name = unicodedata.normalize("NFC", name)
    if wrong := _name_problem(name):
        raise Invalid(f"the file name {wrong}; rename the file", code="bad_name")
    return name


def clean_folder(folder: str) -> str:
    """A folder such as `hr/policies` in NFC, without slashes around; empty for the top folder."""
    folder = unicodedata.normalize("NFC", folder).strip("/")
    if len(folder) > MAX_FOLDER_CHARS:
        raise Invalid(f"the folder's path is longer than {MAX_FOLDER_CHARS} characters; shorten it", code="bad_folder")
    for part in folder.split("/") if folder else ():
        if wrong := _name_problem(part):
            raise Invalid(f"a part of the folder's path {wrong}; use one like hr/policies", code="bad_folder")
    return folder


def _name_problem(name: str) -> str:
    """What is wrong with one part of a path, as the end of a message; empty where it is valid."""
    if not name.strip():
        return "is empty"
    if name in (".", ".."):
        return f"is '{name}'"
    if len(name) > MAX_NAME_CHARS:
        return f"is longer than {MAX_NAME_CHARS} characters"
    if "/" in name or "\\" in name:
        return "contains a slash or a backslash"
    if any(unicodedata.category(char) in _INVISIBLE_CATEGORIES and char not in _JOINERS for char in name):
        return "contains control or invisible characters"
    return ""


def max_upload_bytes(settings: Settings) -> int:
    """The size limit in bytes of the type with the largest one."""
    return int(max(getattr(settings.ingest, name) for name in _SIZE_SETTINGS.values()) * _MB)


def _type_by_name(name: str) -> FileType:
    stem, dot, ending = name.rpartition(".")
    ending = f".{ending.lower()}" if dot and stem else ""
    kind = file_types().get(ending)
    if kind is None and ending in UNSUPPORTED_FORMATS:
        what, instead = UNSUPPORTED_FORMATS[ending]
        raise Unsupported(f"'{name}' is {what}, which is not read; {instead} and add that")
    if kind is None:
        raise Unsupported(f"files like '{name}' are not read; these are: {_supported_types()}")
    return kind


def _supported_types() -> str:
    """The supported types for a message: `Markdown (.md .markdown .mdx), PDF (.pdf) …`."""
    endings: dict[str, list[str]] = {}
    for ending, kind in file_types().items():
        endings.setdefault(kind.parser, []).append(ending)
    return ", ".join(f"{_TYPE_NAMES.get(parser, parser)} ({' '.join(found)})" for parser, found in endings.items())


def _check_size(name: str, kind: FileType, data: bytes, settings: Settings) -> None:
    if not data[:SNIFF_BYTES].strip(_BLANK_BYTES) and not data.strip(_BLANK_BYTES):
        raise Invalid(f"'{name}' is empty", code="empty")
    setting = _SIZE_SETTINGS.get(kind.parser, "max_pdf_mb")
    limit = getattr(settings.ingest, setting)
    if len(data) > limit * _MB:
        size = len(data) / _MB
        raise TooLarge(f"'{name}' has {size:.1f} MB; at most {limit:g} MB are read (ingest.{setting})")


def _check_content(name: str, kind: FileType, data: bytes) -> None:
    """Raise `Unsupported` where the bytes do not match the type, or match two types at once."""
    if matches_type(kind.mime, data):
        return
    ending, found = name.rpartition(".")[2], kind_of(data)
    if is_also_archive(data):
        raise Unsupported(f"'{name}' is {found.description} and a ZIP archive at once; save it as one of them")
    rename = f"; if it is one, name it *{found.ending}" if found.ending in file_types() else ""
    raise Unsupported(f"'{name}' is named .{ending}, but its bytes are {found.description}{rename}")
