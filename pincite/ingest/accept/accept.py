"""What may come in: a file's name, folder, size and type, checked against its bytes before anything is kept."""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.config.settings import Settings
from pincite.core.documents.document import Upload
from pincite.errors import Invalid, TooLarge, Unsupported
from pincite.ingest.accept.sniff import SNIFFED, fits, is_also_archive, kind_of
from pincite.ingest.accept.unsupported import FOREIGN
from pincite.parsers import FileType, file_types

MAX_NAME = 255
MAX_FOLDER = 1000
_MB = 1024 * 1024

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Controls, formats such as the marks that turn the direction of writing, surrogates, line separators."""
_JOINERS = "\u200c\u200d"
"""Formats that some scripts and emoji cannot be written without."""
_BLANK = b" \t\r\n\f\v\0\xef\xbb\xbf\xff\xfe"
"""White space and byte order marks."""
_LIMITS: Mapping[str, str] = {
    "markdown": "max_markdown_mb", "plain": "max_markdown_mb", "html": "max_html_mb", "csv": "max_csv_mb",
    "docx": "max_office_mb", "pptx": "max_office_mb", "xlsx": "max_office_mb", "mail": "max_mail_mb",
    "image": "max_image_mb", "pdf": "max_pdf_mb",
}  # fmt: skip
"""Parser → the setting that says how large its files may be."""
_CALLED: Mapping[str, str] = {
    "markdown": "Markdown", "plain": "text", "html": "web pages", "csv": "tables as text", "docx": "Word",
    "pptx": "PowerPoint", "xlsx": "Excel", "mail": "mails", "image": "images", "pdf": "PDF",
}  # fmt: skip
"""Parser → what people call its files."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A file that may be kept: its clean name and folder, what it is, and who can read it."""

    name: str
    folder: str
    mime: str
    parser: str
    checksum: str


def accept(upload: Upload, settings: Settings) -> Accepted:
    """Judge a file by its name, size and bytes alone; raises what is wrong with it."""
    name = clean_name(upload.name)
    folder = clean_folder(upload.folder)
    kind = _type_by_name(name)
    _check_size(name, kind, upload.data, settings)
    _check_content(name, kind, upload.data)
    return Accepted(name, folder, kind.mime, kind.parser, hashlib.sha256(upload.data).hexdigest())


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


def largest(settings: Settings) -> int:
    """Bytes that a file of any type may have at most."""
    return int(max(getattr(settings.ingest, name) for name in _LIMITS.values()) * _MB)


def _type_by_name(name: str) -> FileType:
    stem, dot, ending = name.rpartition(".")
    ending = f".{ending.lower()}" if dot and stem else ""
    kind = file_types().get(ending)
    if kind is None and ending in FOREIGN:
        what, instead = FOREIGN[ending]
        raise Unsupported(f"'{name}' is {what}, which is not read; {instead} and add that")
    if kind is None:
        raise Unsupported(f"files like '{name}' are not read; these are: {_read_here()}")
    return kind


def _read_here() -> str:
    """`Markdown (.md .markdown .mdx), PDF (.pdf) …`"""
    endings: dict[str, list[str]] = {}
    for ending, kind in file_types().items():
        endings.setdefault(kind.parser, []).append(ending)
    return ", ".join(f"{_CALLED.get(parser, parser)} ({' '.join(found)})" for parser, found in endings.items())


def _check_size(name: str, kind: FileType, data: bytes, settings: Settings) -> None:
    if not data[:SNIFFED].strip(_BLANK) and not data.strip(_BLANK):
        raise Invalid(f"'{name}' is empty", code="empty")
    setting = _LIMITS.get(kind.parser, "max_pdf_mb")
    limit = getattr(settings.ingest, setting)
    if len(data) > limit * _MB:
        size = len(data) / _MB
        raise TooLarge(f"'{name}' has {size:.1f} MB; at most {limit:g} MB are read (ingest.{setting})")


def _check_content(name: str, kind: FileType, data: bytes) -> None:
    """The bytes must be what the name says, and nothing else at the same time."""
    if fits(kind.mime, data):
        return
    ending, found = name.rpartition(".")[2], kind_of(data)
    if is_also_archive(data):
        raise Unsupported(f"'{name}' is {found.words} and a ZIP archive at once; save it anew as one of them")
    rename = f"; if it is one, name it *{found.ending}" if found.ending in file_types() else ""
    raise Unsupported(f"'{name}' is named .{ending}, but its bytes are {found.words}{rename}")
