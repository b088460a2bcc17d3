"""Hostile ZIP archives and XML."""

import io
import stat
import struct
import time
import tracemalloc
import zipfile
import zlib

import pytest

from pincite.errors import Unreadable
from pincite.parsers.office import zip_safety
from pincite.parsers.office.zip_safety import Archive, parse_xml
from tests.office_maker import make_zip


def refused(data: bytes) -> str:
    """The code an archive is refused with."""
    with pytest.raises(Unreadable) as refusal:
        Archive(data)
    return refusal.value.code


def test_a_plain_archive_is_read_by_name_whatever_its_case():
    found = Archive(make_zip({"a/B.xml": "<x/>", "c.txt": "text"}))
    assert found.read("A/b.xml") == b"<x/>"
    assert "c.txt" in found
    assert "d.txt" not in found
    assert list(found) == ["a/B.xml", "c.txt"]
    with pytest.raises(Unreadable, match=r"has no part d\.txt"):
        found.read("d.txt")


def test_a_gigabyte_of_zeros_is_refused_before_anything_is_unpacked():
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(bytes(4 * 1024 * 1024)) + packer.flush(zlib.Z_FULL_FLUSH)
    data = bytearray(make_zip({"word/document.xml": piece * 256 + packer.flush()}, zipfile.ZIP_STORED))
    for mark, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        struct.pack_into("<H", data, data.index(mark) + method, zipfile.ZIP_DEFLATED)
        struct.pack_into("<L", data, data.index(mark) + size, 1024**3)
    tracemalloc.start()
    begun = time.thread_time()
    assert refused(bytes(data)) == "unsafe"
    assert time.thread_time() - begun < 5
    assert tracemalloc.get_traced_memory()[1] < 8 * 1024 * 1024
    tracemalloc.stop()


def test_archives_over_the_size_limit_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(zip_safety, "MAX_UNPACKED_BYTES", 100)
    assert refused(make_zip({"a.xml": "x" * 60, "b.xml": "y" * 60})) == "limit"


def test_too_many_entries_are_refused():
    assert refused(make_zip({f"{number}": "" for number in range(zip_safety.MAX_ENTRIES + 1)})) == "limit"


@pytest.mark.parametrize("name", ["../evil.xml", "/etc/passwd", "a/../../b", "..\\evil.xml", "C:\\evil.xml"])
def test_names_that_lead_out_of_the_archive_are_refused(name: str):
    assert refused(make_zip({"[Content_Types].xml": "", name: "x"})) == "unsafe"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO])
def test_links_and_devices_are_refused(kind: int):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        entry = zipfile.ZipInfo("word/media/image1.png")
        entry.external_attr = (kind | 0o777) << 16
        made.writestr(entry, "/etc/passwd")
    assert refused(target.getvalue()) == "unsafe"


def test_two_entries_of_one_name_are_refused():
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("word/document.xml", "a")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("word/document.xml", "b")
    assert refused(target.getvalue()) == "unsafe"


def test_encrypted_entries_are_refused_with_what_to_do():
    data = bytearray(make_zip({"a.xml": "<x/>"}))
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert refused(bytes(data)) == "encrypted"


def test_entries_that_share_their_bytes_are_refused():
    data = make_zip({"a.xml": "<a/>" * 100, "b.xml": "<a/>" * 100})
    directory = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", directory + 4)
    overlapping = bytearray(data)
    struct.pack_into("<L", overlapping, second + 42, 0)  # both begin where the first does
    assert refused(bytes(overlapping)) == "unsafe"


def test_an_entry_never_yields_more_than_it_declares():
    data = bytearray(make_zip({"a.xml": b"<a>" + bytes(range(65, 91)) * 4000 + b"</a>"}))
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<L", data, data.index(mark) + offset, 100)
    with pytest.raises(Unreadable) as refusal:
        Archive(bytes(data)).read("a.xml")
    assert refusal.value.code == "broken"


def test_unusual_packing_is_refused():
    assert refused(make_zip({"a.xml": "<a/>"}, zipfile.ZIP_BZIP2)) == "broken"


def test_old_and_encrypted_office_files_are_distinguished():
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000)
    assert refused(old) == "broken"
    assert refused(old + "EncryptedPackage".encode("utf-16-le")) == "encrypted"


def test_backslashes_in_names_are_taken_for_slashes():
    data = make_zip({"xl/a.xml": "<a/>"}).replace(b"xl/a.xml", b"xl\\a.xml")
    assert Archive(data).read("xl/a.xml") == b"<a/>"


LAUGHS = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><a>&b;</a>'


@pytest.mark.parametrize(
    "data",
    [
        LAUGHS.encode(),
        LAUGHS.encode("utf-16"),
        LAUGHS.encode("utf-16-le"),
        b'<?xml version="1.0"?><!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>',
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        b'<?xml version="1.0"' + b" " * 300 + b'encoding="utf-7"?>' + LAUGHS.replace("<!", "+ADwAIQ-").encode(),
    ],
)
def test_document_types_and_entities_are_refused(data: bytes):
    with pytest.raises(Unreadable) as refusal:
        parse_xml(data)
    assert refusal.value.code == "unsafe"


@pytest.mark.parametrize(
    "data",
    [
        LAUGHS.encode("utf-7"),
        b'<?xml version="1.0" encoding="utf-7"?><a/>',
        '<?xml version="1.0" encoding="cp037"?><a/>'.encode("cp037"),
        b"<a><b></a>",
        b"",
        b"\xff\xfe\x00",
        b"<a>" * 300 + b"</a>" * 300,
    ],
)
def test_xml_that_hides_breaks_or_goes_too_deep_is_broken(data: bytes):
    with pytest.raises(Unreadable):
        parse_xml(data)


def test_plain_xml_is_read_in_all_its_charsets():
    text = '<?xml version="1.0" encoding="{}"?><a>Öl</a>'
    for charset in ("utf-8", "utf-16", "iso-8859-1", "windows-1252"):
        assert parse_xml(text.format(charset).encode(charset)).text == "Öl"
    assert parse_xml(b"\xef\xbb\xbf<a>x</a>").text == "x"


def test_a_part_too_large_for_a_tree_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(zip_safety, "MAX_XML_BYTES", 10)
    with pytest.raises(Unreadable) as refusal:
        Archive(make_zip({"a.xml": "<a>0123456789</a>"})).xml("a.xml")
    assert refusal.value.code == "limit"
