"""Opens ZIP archives, checked before anything is unpacked, and parses XML without entities or network access.

Nothing is written to disk, and archives inside archives are not opened. An archive with unsafe names, sizes or overlaps
is still refused: it is an attack or broken.
"""

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import IO, Any

from pincite.errors import Unreadable

MAX_ENTRIES = 10_000
"""Maximum number of entries of an archive."""
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""Maximum unpacked size of all entries together."""
MAX_RATIO = 150
"""Maximum ratio of unpacked to packed size; not checked for entries of up to 16 MB."""
MAX_XML_BYTES = 64 * 1024 * 1024
"""Maximum size of an XML part; its tree needs many times as much memory."""

_ALWAYS_ALLOWED_BYTES = 16 * 1024 * 1024
_ENTRY = b"PK\x01\x02"
_LOCAL = struct.Struct("<4s22xHH")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_PROTECTED = "EncryptedPackage".encode("utf-16-le")
_SPECIAL = (stat.S_IFLNK, stat.S_IFBLK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK)
_DRIVE = re.compile(r"[A-Za-z]:")
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    IndexError,
    OverflowError,
)
"""The exceptions that `zipfile` raises for broken archives."""

_ENCODING = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
_ENCODINGS = (b"utf-8", b"utf8", b"us-ascii", b"ascii", b"iso-8859-1", b"windows-1252")
_DECLARATION = re.compile(r"\s*<\?xml[^>]{0,300}\?>")
_FORBIDDEN = (b"<!DOCTYPE", b"<!ENTITY")


class Archive:
    """The entries of a ZIP archive that passed every check; an entry never unpacks to more than its declared size."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLD_OFFICE):
            raise _old_office_error(data)
        if data.count(_ENTRY) > MAX_ENTRIES:
            raise Unreadable(f"its archive has more than {MAX_ENTRIES} entries; split the file", code="limit")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = self._zip.infolist()
            _check_entries(entries)
            _check_sizes(entries, len(data))
            _check_overlaps(entries, data, self._zip.start_dir)
        except ZIP_ERRORS as error:
            raise _broken_error(error) from None
        self._entries = {_normalized_name(entry.filename): entry for entry in entries if not entry.is_dir()}
        self._by_fold = {name.casefold(): name for name in self._entries}
        if len(self._by_fold) < sum(not entry.is_dir() for entry in entries):
            raise Unreadable("its archive has two entries with the same name; save it again", code="unsafe")

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._by_fold

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def read(self, name: str) -> bytes:
        """All bytes of an entry."""
        try:
            with self.open(name) as entry:
                return entry.read()
        except ZIP_ERRORS as error:
            raise _broken_error(error) from None

    def open(self, name: str) -> IO[bytes]:
        """An entry opened for reading; a broken one raises one of `ZIP_ERRORS` while it is read."""
        try:
            return self._zip.open(self._entries[self._by_fold[name.casefold()]])
        except KeyError:
            raise Unreadable(f"its archive has no part {name}; save it again", code="broken") from None
        except ZIP_ERRORS as error:
            raise _broken_error(error) from None

    def xml(self, name: str) -> Any:
        """The XML tree of an entry."""
        try:
            entry = self._entries[self._by_fold[name.casefold()]]
        except KeyError:
            raise Unreadable(f"its archive has no part {name}; save it again", code="broken") from None
        if entry.file_size > MAX_XML_BYTES:
            raise Unreadable(f"its part {name} has more than {MAX_XML_BYTES // 2**20} MB; split the file", code="limit")
        return parse_xml(self.read(name))


def parse_xml(data: bytes) -> Any:
    """Parse XML and return its root; documents with a document type or entities are refused, nothing is fetched."""
    from lxml import etree

    data = _as_utf8(data)
    if any(word in data for word in _FORBIDDEN):
        raise _dtd_error()
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise Unreadable(f"its XML is broken ({error}); save it again", code="broken") from None
    if root.getroottree().docinfo.internalDTD is not None:  # the check above misses it in unusual encodings
        raise _dtd_error()
    return root


def _as_utf8(data: bytes) -> bytes:
    """The XML in UTF-8 or another encoding that is a superset of ASCII, so that a byte search finds declarations."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        try:
            text = data.decode(
                "utf-16" if data[:1] in b"\xff\xfe" else "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
            )
        except UnicodeDecodeError:
            raise Unreadable("its XML is not valid UTF-16; save it again", code="broken") from None
        return _DECLARATION.sub("", text.lstrip("\ufeff"), count=1).encode()
    found = _ENCODING.match(data.removeprefix(b"\xef\xbb\xbf").lstrip())
    if found and found[1].lower() not in _ENCODINGS:
        raise Unreadable(f"its XML is in {found[1].decode('ascii', 'replace')}; save it again", code="broken")
    if not data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        raise Unreadable("a part that should be XML is not; save it again", code="broken")
    return data


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that are encrypted, packed in an unusual way, links, devices, or named outside of the archive."""
    for entry in entries:
        name = entry.filename.replace("\\", "/")
        if entry.flag_bits & 1:
            raise Unreadable("it is encrypted; remove the password and add it again", code="encrypted")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unreadable("its archive is packed in an unusual way; save it again", code="broken")
        if name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/"):
            raise Unreadable("its archive has names that lead out of it; it is not read", code="unsafe")
        if stat.S_IFMT(entry.external_attr >> 16) in _SPECIAL:
            raise Unreadable("its archive contains links or devices; it is not read", code="unsafe")


def _check_sizes(entries: list[zipfile.ZipInfo], packed: int) -> None:
    total = sum(entry.file_size for entry in entries)
    if total > max(_ALWAYS_ALLOWED_BYTES, packed * MAX_RATIO):
        raise Unreadable(
            f"unpacked it is {total // packed} times as large, like a ZIP bomb; it is not read", code="unsafe"
        )
    if total > MAX_UNPACKED_BYTES:
        raise Unreadable(f"unpacked it has more than {MAX_UNPACKED_BYTES // 2**20} MB; split the file", code="limit")


def _check_overlaps(entries: list[zipfile.ZipInfo], data: bytes, end: int) -> None:
    """Refuse entries that share bytes: with these a small file can unpack to petabytes."""
    spans = []
    for entry in entries:
        magic, name, extra = _LOCAL.unpack_from(data, entry.header_offset)
        if magic != b"PK\x03\x04":
            raise zipfile.BadZipFile("an entry is not where the directory says")
        start = entry.header_offset
        spans.append((start, start + 30 + name + extra + entry.compress_size))
    spans = [*sorted(spans), (end, end)]
    if any(before[1] > after[0] for before, after in pairwise(spans)):
        raise Unreadable("entries of its archive overlap, as in a ZIP bomb; it is not read", code="unsafe")


def _normalized_name(name: str) -> str:
    """The name of a part as relations refer to it; some programs write backslashes."""
    return name.replace("\\", "/").removeprefix("./")


def _old_office_error(data: bytes) -> Unreadable:
    if _PROTECTED in data:
        return Unreadable("it is encrypted; remove the password and add it again", code="encrypted")
    return Unreadable("it is an old Office document; save it as .docx, .pptx or .xlsx and add it again", code="broken")


def _dtd_error() -> Unreadable:
    return Unreadable("its XML declares a document type or entities; such files are not read", code="unsafe")


def _broken_error(error: Exception) -> Unreadable:
    return Unreadable(f"its archive is broken ({error}); save it again", code="broken")
