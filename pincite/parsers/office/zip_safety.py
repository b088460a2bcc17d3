"""Zip files, looked over before anything is unpacked, and XML that can neither grow nor reach out.

Nothing is ever written to disk and no archive inside an archive is opened. What a name, a size or an overlap gives
away is refused all the same: a file like that was made to do harm, or is broken.
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
MAX_UNPACKED = 512 * 1024 * 1024
"""Bytes that all entries may have together."""
MAX_RATIO = 150
"""Times larger than the file its unpacked entries may be, where they are more than a few megabytes."""
MAX_XML = 64 * 1024 * 1024
"""Bytes of XML that may become a tree, which takes many times as much memory."""

_SMALL = 16 * 1024 * 1024
_ENTRY = b"PK\x01\x02"
_LOCAL = struct.Struct("<4s22xHH")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_PROTECTED = "EncryptedPackage".encode("utf-16-le")
_SPECIAL = (stat.S_IFLNK, stat.S_IFBLK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK)
_DRIVE = re.compile(r"[A-Za-z]:")
FAULTS = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError,
    IndexError, OverflowError,
)  # fmt: skip
"""What `zipfile` raises on broken archives."""

_ENCODING = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
_ENCODINGS = (b"utf-8", b"utf8", b"us-ascii", b"ascii", b"iso-8859-1", b"windows-1252")
_DECLARATION = re.compile(r"\s*<\?xml[^>]{0,300}\?>")
_FORBIDDEN = (b"<!DOCTYPE", b"<!ENTITY")


class Archive:
    """The entries of a zip file that has passed every check; reading one never yields more than it declares."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLD_OFFICE):
            raise _old_office(data)
        if data.count(_ENTRY) > MAX_ENTRIES:
            raise Unreadable(f"its archive has more than {MAX_ENTRIES} entries; split it", code="limit")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = self._zip.infolist()
            _check_entries(entries)
            _check_sizes(entries, len(data))
            _check_places(entries, data, self._zip.start_dir)
        except FAULTS as error:
            raise _broken(error) from None
        self._entries = {_plain(entry.filename): entry for entry in entries if not entry.is_dir()}
        self._by_fold = {name.casefold(): name for name in self._entries}
        if len(self._by_fold) < sum(not entry.is_dir() for entry in entries):
            raise Unreadable("its archive holds two entries of one name; save it again", code="unsafe")

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._by_fold

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def read(self, name: str) -> bytes:
        """The bytes of an entry, whole."""
        try:
            with self.open(name) as entry:
                return entry.read()
        except FAULTS as error:
            raise _broken(error) from None

    def open(self, name: str) -> IO[bytes]:
        """An entry to be read piece by piece; whoever reads it meets what is broken as `archive.FAULTS`."""
        try:
            return self._zip.open(self._entries[self._by_fold[name.casefold()]])
        except KeyError:
            raise Unreadable(f"its archive lacks the part {name}; save it again", code="broken") from None
        except FAULTS as error:
            raise _broken(error) from None

    def xml(self, name: str) -> Any:
        """An entry's XML as a tree."""
        try:
            entry = self._entries[self._by_fold[name.casefold()]]
        except KeyError:
            raise Unreadable(f"its archive lacks the part {name}; save it again", code="broken") from None
        if entry.file_size > MAX_XML:
            raise Unreadable(f"its part {name} has more than {MAX_XML // 2**20} MB; split it", code="limit")
        return xml(self.read(name))


def xml(data: bytes) -> Any:
    """The root of an XML document without document type, entities, or anything fetched from elsewhere."""
    from lxml import etree

    data = _as_utf8(data)
    if any(word in data for word in _FORBIDDEN):
        raise _declares()
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise Unreadable(f"its XML is broken ({error}); save it again", code="broken") from None
    if root.getroottree().docinfo.internalDTD is not None:  # written in a charset that hid it
        raise _declares()
    return root


def _as_utf8(data: bytes) -> bytes:
    """XML in an encoding in which nothing can hide: UTF-8 or one that writes ASCII as itself."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        try:
            text = data.decode(
                "utf-16" if data[:1] in b"\xff\xfe" else "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
            )
        except UnicodeDecodeError:
            raise Unreadable("its XML is not in UTF-16 as it says; save it again", code="broken") from None
        return _DECLARATION.sub("", text.lstrip("\ufeff"), count=1).encode()
    found = _ENCODING.match(data.removeprefix(b"\xef\xbb\xbf").lstrip())
    if found and found[1].lower() not in _ENCODINGS:
        raise Unreadable(f"its XML is in {found[1].decode('ascii', 'replace')}; save it again", code="broken")
    if not data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        raise Unreadable("a part that should be XML is something else; save it again", code="broken")
    return data


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    """No entry may be encrypted, packed in an unusual way, more than a plain file, or named to land elsewhere."""
    for entry in entries:
        name = entry.filename.replace("\\", "/")
        if entry.flag_bits & 1:
            raise Unreadable("it is encrypted; remove the password and add it again", code="encrypted")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unreadable("its archive is packed in an unusual way; save it again", code="broken")
        if name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/"):
            raise Unreadable("its archive holds names that lead out of it; it is not read", code="unsafe")
        if stat.S_IFMT(entry.external_attr >> 16) in _SPECIAL:
            raise Unreadable("its archive holds links or devices; it is not read", code="unsafe")


def _check_sizes(entries: list[zipfile.ZipInfo], packed: int) -> None:
    total = sum(entry.file_size for entry in entries)
    if total > max(_SMALL, packed * MAX_RATIO):
        raise Unreadable(f"unpacked it is {total // packed} times as large, as only a trap would be", code="unsafe")
    if total > MAX_UNPACKED:
        raise Unreadable(f"unpacked it has more than {MAX_UNPACKED // 2**20} MB; split it", code="limit")


def _check_places(entries: list[zipfile.ZipInfo], data: bytes, end: int) -> None:
    """No two entries may share bytes: that is how a small file unpacks to petabytes."""
    spans = []
    for entry in entries:
        magic, name, extra = _LOCAL.unpack_from(data, entry.header_offset)
        if magic != b"PK\x03\x04":
            raise zipfile.BadZipFile("an entry is not where the directory has it")
        start = entry.header_offset
        spans.append((start, start + 30 + name + extra + entry.compress_size))
    spans = [*sorted(spans), (end, end)]
    if any(before[1] > after[0] for before, after in pairwise(spans)):
        raise Unreadable("entries of its archive overlap, as only a trap's would", code="unsafe")


def _plain(name: str) -> str:
    """A part's name as others refer to it; some programs write backslashes."""
    return name.replace("\\", "/").removeprefix("./")


def _old_office(data: bytes) -> Unreadable:
    if _PROTECTED in data:
        return Unreadable("it is encrypted; remove the password and add it again", code="encrypted")
    return Unreadable("it is an old Office document; save it as .docx, .pptx or .xlsx and add it again", code="broken")


def _declares() -> Unreadable:
    return Unreadable("its XML declares a document type or entities, which no such file needs", code="unsafe")


def _broken(error: Exception) -> Unreadable:
    return Unreadable(f"its archive is broken ({error}); save it again", code="broken")
