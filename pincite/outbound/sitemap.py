"""Read the URLs of a sitemap by pattern matching; its XML is never parsed into a tree."""

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
    """The URLs of pages, or of further sitemaps if it is an index; unique and in order."""

    addresses: tuple[str, ...]
    is_index: bool


def read_sitemap(data: bytes, max_bytes: int) -> Sitemap | None:
    """Parse a sitemap, which may be gzipped to at most `max_bytes`; None if the data is not a sitemap."""
    if data.startswith(_GZIP_MAGIC):
        data = _decompress(data, max_bytes)
    root = _ROOT.search(data[:_ROOT_SEARCH_BYTES])
    if root is None:
        return None
    found = (html.unescape(match[1].decode("utf-8", "replace")) for match in _ADDRESS.finditer(data))
    return Sitemap(tuple(dict.fromkeys(found)), root[1] == b"sitemapindex")


def _decompress(data: bytes, max_bytes: int) -> bytes:
    decompressor = zlib.decompressobj(wbits=31)
    try:
        plain = decompressor.decompress(data, max_bytes + 1)
    except zlib.error:
        return b""
    if len(plain) > max_bytes:
        raise TooLarge(f"the sitemap is larger than {max_bytes // (1024 * 1024)} MB after decompression (web.max_mb)")
    return plain
