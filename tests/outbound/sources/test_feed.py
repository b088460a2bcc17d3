"""Feeds and sitemaps as sources."""

import pytest

from pincite.errors import Invalid, ProviderError
from pincite.outbound.sources.feed import page_name, read_feed

RSS = b"""<rss><channel><link>https://x.org</link>
<item><title>One</title><link> https://x.org/one </link><pubDate>Mon, 4 Mar 2024</pubDate></item>
<item><link>https://x.org/one</link></item><item><link>javascript:alert(1)</link></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>u1</id><updated>2024-03-04</updated>
<link rel="self" href="https://x.org/api/1"/><link rel="alternate" href="https://x.org/two"/></entry></feed>"""
SITEMAP = b"<urlset ><url><loc>https://x.org/three</loc></url></urlset>"


def entries(data: bytes) -> list[tuple[str, str]]:
    return [(entry.url, entry.stamp) for entry in read_feed(data, 10_000)[0]]


def test_rss_atom_and_sitemaps_give_pages_with_stamps() -> None:
    assert entries(RSS) == [("https://x.org/one", "Mon, 4 Mar 2024")]
    assert entries(ATOM) == [("https://x.org/two", "2024-03-04")]
    assert entries(SITEMAP) == [("https://x.org/three", "")]


def test_only_a_sitemap_lists_all_pages() -> None:
    assert [read_feed(data, 10_000)[1] for data in (RSS, ATOM, SITEMAP)] == [False, False, True]


def test_what_is_no_feed_is_told() -> None:
    with pytest.raises(ProviderError, match="the feed is not XML"):
        read_feed(b"<!doctype html><p>no", 10_000)
    with pytest.raises(Invalid, match="one by one"):
        read_feed(b"<sitemapindex ><sitemap><loc>https://x.org/s.xml</loc></sitemap></sitemapindex>", 10_000)


def test_names_are_safe_and_distinct() -> None:
    assert page_name("https://x.org/a/../b%2Fc?d").endswith(".html")
    assert page_name("https://x.org/report.pdf").startswith("report-")
    assert page_name("https://x.org/report.pdf").endswith(".pdf")
    assert page_name("https://x.org/") != page_name("https://x.org/?p=2")
    assert "/" not in page_name("https://x.org/a%2Fb")
