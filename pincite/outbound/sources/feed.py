"""The pages that an RSS feed, an Atom feed or a sitemap lists; they are fetched like pages added by URL."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from lxml import etree

from pincite.core.documents.sources import SourceAddress, SourceItem
from pincite.errors import Invalid, ProviderError
from pincite.outbound.fetch import Web
from pincite.outbound.sitemap import read_sitemap

OPTIONS = frozenset[str]()
_UNSAFE = re.compile(r"[^\w.-]+")
_MAX_NAME_CHARS = 100


@dataclass(frozen=True, slots=True)
class _Entry:
    url: str
    stamp: str


class Source:
    """Lists the entries of a feed on its own host.

    Feeds drop old entries, so an entry that is missing was not deleted; a sitemap lists all pages.
    """

    def __init__(self, address: SourceAddress, web: Web) -> None:
        self._address, self._web = address, web
        self.lists_all = False

    async def items(self) -> Sequence[SourceItem]:
        """The entries of the feed that are on its host."""
        fetched = await self._web.get(self._address.url)
        entries, self.lists_all = read_feed(fetched.data, self._address.max_bytes)
        own = [entry for entry in entries if urlsplit(entry.url).hostname == fetched.address.host]
        if len(own) > self._address.max_items:
            raise Invalid(f"the feed has more than {self._address.max_items:,} entries")
        return [SourceItem(entry.url, entry.stamp, page_name(entry.url), uri=entry.url) for entry in own]

    async def read(self, item: SourceItem) -> bytes:
        """The page of an entry."""
        return (await self._web.get(item.key)).data

    async def close(self) -> None:
        """Nothing is kept open."""


def page_name(url: str) -> str:
    """A file name for a page: the end of its path, and a few characters that keep names apart."""
    path = unquote(urlsplit(url).path).strip("/")
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    if not dot or ending.lower() not in ("html", "htm", "xhtml", "pdf", "md", "txt"):
        stem, ending = path.rpartition("/")[2], "html"
    digest = hashlib.sha256(url.encode()).hexdigest()[:6]
    return f"{_UNSAFE.sub('-', stem)[:_MAX_NAME_CHARS].strip('-.') or 'page'}-{digest}.{ending.lower()}"


def read_feed(data: bytes, max_bytes: int) -> tuple[list[_Entry], bool]:
    """The entries of an RSS feed, an Atom feed or a sitemap, without duplicates; and whether they are all pages."""
    sitemap = read_sitemap(data, max_bytes)
    if sitemap is not None:
        if sitemap.is_index:
            raise Invalid("this is an index of sitemaps; add its sitemaps one by one")
        return [_Entry(url, "") for url in sitemap.addresses], True
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        raise ProviderError("the feed is not XML; give the URL of an RSS feed, an Atom feed or a sitemap") from None
    found: dict[str, str] = {}
    for entry in tree.iter("{*}item", "{*}entry"):
        links = [link.get("href") or link.text or "" for link in entry.findall("{*}link") if link.get("rel") in _PAGES]
        stamps = (entry.findtext(f"{{*}}{name}") for name in ("updated", "pubDate", "published", "guid", "id"))
        if links and links[0].strip().startswith(("http://", "https://")):
            found.setdefault(links[0].strip(), next((stamp for stamp in stamps if stamp), ""))
    return [_Entry(url, stamp) for url, stamp in found.items()], False


_PAGES = (None, "alternate")
"""Relations of links that lead to the entry's page."""
