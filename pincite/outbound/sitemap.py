"""A site's list of its own pages. Only addresses are taken out of it: its XML is never made into a tree."""

import html
import re
import zlib
from dataclasses import dataclass

from pincite.errors import TooLarge

_ROOT = re.compile(rb"<(?:[\w-]+:)?(urlset|sitemapindex)[\s>]")
_ROOT_SEARCH_BYTES = 4096
_ADDRESS = re.compile(rb"<(?:[\w-]+:)?loc>\s*(?:<!\[CDATA\[\s*)?([^<>\s\]]{1,2000})\s*(?:\]\]>\s*)?</(?:[\w-]+:)?loc>")
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Sitemap:
    """Addresses of pages, or, where it is an index, of further sitemaps; each once, in order."""

    addresses: tuple[str, ...]
    is_index: bool


def read_sitemap(data: bytes, most: int) -> Sitemap | None:
    """The sitemap that these bytes are, packed or not, if they are one; unpacked it may have `most` bytes."""
    if data.startswith(_GZIP_MAGIC):
        data = _decompress(data, most)
    root = _ROOT.search(data[:_ROOT_SEARCH_BYTES])
    if root is None:
        return None
    found = (html.unescape(match[1].decode("utf-8", "replace")) for match in _ADDRESS.finditer(data))
    return Sitemap(tuple(dict.fromkeys(found)), root[1] == b"sitemapindex")


def _decompress(data: bytes, most: int) -> bytes:
    unpack = zlib.decompressobj(wbits=31)
    try:
        plain = unpack.decompress(data, most + 1)
    except zlib.error:
        return b""
    if len(plain) > most:
        raise TooLarge(f"the sitemap is larger than {most // (1024 * 1024)} MB unpacked (web.max_mb)")
    return plain
