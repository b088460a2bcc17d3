"""A site's list of its pages."""

import gzip
import time

import pytest

from pincite.errors import TooLarge
from pincite.outbound.sitemap import read_sitemap

HEAD = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
PAGES = HEAD + (
    b"<url><loc> https://x.example/a?b=1&amp;c=2 </loc><lastmod>2024-01-01</lastmod></url>"
    b"<url><loc><![CDATA[https://x.example/b]]></loc></url><url><loc>https://x.example/b</loc></url></urlset>"
)
FOUND = ("https://x.example/a?b=1&c=2", "https://x.example/b")


def test_a_sitemap_is_its_addresses():
    sitemap = read_sitemap(PAGES, 10_000)
    assert sitemap is not None
    assert (sitemap.addresses, sitemap.is_index) == (FOUND, False)


def test_a_sitemap_may_be_gzipped():
    sitemap = read_sitemap(gzip.compress(PAGES), 10_000)
    assert sitemap is not None
    assert sitemap.addresses == FOUND


def test_a_sitemap_index_is_detected():
    sitemap = read_sitemap(b"<sm:sitemapindex><sm:sitemap><sm:loc>https://x.example/1.xml</sm:loc>", 10_000)
    assert sitemap is not None
    assert (sitemap.addresses, sitemap.is_index) == (("https://x.example/1.xml",), True)


@pytest.mark.parametrize("data", [b"<html><p>x", b"", b"\x1f\x8bbroken", b"urlset", b"<urlsets>"])
def test_other_files_are_not_sitemaps(data: bytes):
    assert read_sitemap(data, 10_000) is None


def test_a_bomb_is_not_unpacked():
    with pytest.raises(TooLarge, match=r"web\.max_mb"):
        read_sitemap(gzip.compress(HEAD + b" " * 5_000_000), 1_000_000)


def test_entities_and_documents_elsewhere_are_only_text():
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]><urlset><loc>https://x.example/&b;</loc>'
    sitemap = read_sitemap(bomb, 10_000)
    assert sitemap is not None
    assert sitemap.addresses == ("https://x.example/&b;",)


def test_large_sitemaps_are_read_fast():
    started = time.thread_time()
    read_sitemap(HEAD + b"<loc>" * 1_000_000, 10_000_000)
    read_sitemap(HEAD + b"<loc>" + b" " * 1_000_000, 10_000_000)
    assert time.thread_time() - started < 3
