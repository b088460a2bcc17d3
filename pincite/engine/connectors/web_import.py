"""Documents from the web: pages and whole sitemaps fetched, named, and taken in like files."""

import codecs
import hashlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.documents.document import Added, AddedAll, Progress, Upload
from pincite.core.documents.jobs import BULK_PRIORITY, INTERACTIVE_PRIORITY
from pincite.engine.app import AsyncPincite
from pincite.errors import BadRequest, DataFolderError, Invalid, PinciteError, ProviderError, Unreadable
from pincite.ingest.accept.accept import MAX_FOLDER
from pincite.outbound.fetch import Fetched, Stamp
from pincite.outbound.sitemap import Sitemap, read_sitemap
from pincite.outbound.url_policy import Address
from pincite.parsers import file_types
from pincite.store.documents.web_fetches import Fetch, Fetches
from pincite.text.charset import decode
from pincite.text.sentences import storable

MAX_SITEMAPS = 50
"""Sitemaps that an index of sitemaps may lead to."""

_MB = 1024 * 1024
_MAX_NAME_CHARS = 120
_GENERIC_MIME_TYPES = ("", "application/octet-stream", "binary/octet-stream", "text/plain")
"""MIME types of servers that do not know what they have: the name tells it."""
_URL_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)

Report = Callable[[Progress], None]


def is_address(text: str) -> bool:
    """Whether somebody means a place on the web, rather than a file."""
    return _URL_SCHEME.match(text) is not None


class WebImporter:
    """Takes documents in from the web for one person."""

    def __init__(self, pincite: AsyncPincite, caller: Caller = LOCAL) -> None:
        self._pincite = pincite
        self._caller = caller
        self._fetches = Fetches(pincite.services.database)

    async def add(self, upload: Upload, *, start: bool = True) -> Added:
        """Take in the page that an upload without bytes names as its source; it is processed in the background."""
        fetched, known = await self._fetch(upload.source_uri or "")
        if self._sitemap(fetched) is not None:
            raise Invalid("this is a sitemap, not a page; add it on the command line: pincite add URL", code="sitemap")
        return await self._take(upload, fetched, known, start=start)

    async def add_all(self, urls: Sequence[str], folder: str = "", report: Report = lambda _: None) -> AddedAll:
        """Take in pages, and the pages of sitemaps, and wait until all are processed; `report` hears how far it is."""
        added: list[Added] = []
        refused: list[tuple[str, PinciteError]] = []
        tour = _FetchList(urls, self._pincite.settings.web.max_pages)
        for number, wanted in enumerate(tour.stops, start=1):  # which grow while they are visited
            try:
                fetched, known = await self._fetch(wanted.url)
                if not wanted.is_page and (sitemap := self._sitemap(fetched)):
                    tour.take(sitemap, fetched.address)
                else:
                    page = Upload("", b"", folder, wanted.url)
                    added.append(await self._take(page, fetched, known, priority=tour.priority))
            except (BadRequest, ProviderError, Unreadable, DataFolderError) as error:
                refused.append((wanted.url, error))
            report(Progress("fetching", number, len(tour.stops), 0.0, of="page"))
        ended = await self._pincite.documents.settle(added, caller=self._caller, priority=tour.priority, report=report)
        return AddedAll(ended, refused, tour.skipped)

    async def _fetch(self, url: str) -> tuple[Fetched, Fetch | None]:
        """The page at an address, and what is known of it; nothing is sent again that has not changed."""
        known = await self._fetches.known(await self._pincite.scope(self._caller), url)
        stamp = Stamp(known.etag, known.modified) if known else Stamp()
        return await self._pincite.services.web.get(url, stamp), known

    async def _take(
        self,
        upload: Upload,
        fetched: Fetched,
        known: Fetch | None,
        *,
        start: bool = True,
        priority: int = INTERACTIVE_PRIORITY,
    ) -> Added:
        pincite, url = self._pincite, upload.source_uri or ""
        if fetched.unchanged and known:
            return Added(await pincite.get(known.document_id, caller=self._caller), "unchanged")
        scope = await pincite.scope(self._caller)
        folder, name = (known.folder, known.name) if known else folder_and_name(fetched, upload.folder)
        if known is None and await self._fetches.is_taken(scope, folder, name):
            folder, name = folder, _distinct_name(name, url)
        page = replace(upload, name=name, folder=folder, data=to_utf8(fetched))
        added = await pincite.documents.upload(page, start=start, caller=self._caller, priority=priority)
        stamp = fetched.stamp
        scope = await pincite.scope(self._caller)  # it may be the first of its folder's readers
        await self._fetches.tell(scope, added.document.id, url, etag=stamp.etag, modified=stamp.modified)
        return added

    def _sitemap(self, fetched: Fetched) -> Sitemap | None:
        return read_sitemap(fetched.data, int(self._pincite.settings.web.max_mb * _MB))


@dataclass(frozen=True, slots=True)
class _Target:
    """An address to fetch; only one that is not known to be a page may turn out to be a sitemap."""

    url: str
    is_page: bool = False


class _FetchList:
    """The addresses that are fetched one after the other, and how many were passed over."""

    def __init__(self, urls: Sequence[str], max_pages: int) -> None:
        self.stops = [_Target(url) for url in dict.fromkeys(urls)]
        self.skipped = 0
        self._seen = set(urls)
        self._pages, self._sitemaps = max_pages, MAX_SITEMAPS

    @property
    def priority(self) -> int:
        """Several at once are a load."""
        return BULK_PRIORITY if len(self.stops) > 1 else INTERACTIVE_PRIORITY

    def take(self, sitemap: Sitemap, at: Address) -> None:
        """Visit what a sitemap names, as far as it is on the same host and there is room."""
        own = [url for url in sitemap.addresses if url not in self._seen and _host(url) == at.host]
        kept = own[: self._sitemaps if sitemap.is_index else self._pages]
        if sitemap.is_index:
            self._sitemaps -= len(kept)
        else:
            self._pages -= len(kept)
        self._seen.update(kept)
        self.skipped += len(sitemap.addresses) - len(kept)
        self.stops += [_Target(url, is_page=not sitemap.is_index) for url in kept]


def _host(url: str) -> str:
    """Whose an address is; nobody's where it is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def folder_and_name(fetched: Fetched, folder: str = "") -> tuple[str, str]:
    """The folder and name of a page in the library: below its host's, as its path says, ending as its type does."""
    path, _, query = fetched.address.path.partition("?")
    *above, last = (_clean(unquote(part)) for part in path.split("/"))
    name = " ".join(filter(None, (last or "index", _clean(unquote(query)))))
    inside = "/".join(filter(None, (folder.strip("/"), fetched.address.host.replace(":", "-"), *above)))
    by_name = file_types().get(f".{last.rpartition('.')[2].lower()}") if "." in last and not query else None
    if by_name is None or fetched.mime not in (by_name.mime, *_GENERIC_MIME_TYPES):
        name += next((ending for ending, kind in file_types().items() if kind.mime == fetched.mime), "")
    return inside[:MAX_FOLDER].rstrip("/"), name


def to_utf8(fetched: Fetched) -> bytes:
    """A page's bytes; where only its server said in which charset they are, in one that they say themselves."""
    if not fetched.charset or fetched.charset == "utf-8" or not fetched.mime.startswith("text/"):
        return fetched.data
    return codecs.BOM_UTF8 + decode(fetched.data, fetched.charset).encode()


def _clean(part: str) -> str:
    """A part of a path that may be a name in the library."""
    shown = "".join(" " if unicodedata.category(char)[0] in "CZ" or char in "/\\" else char for char in storable(part))
    plain = " ".join(unicodedata.normalize("NFC", shown).split())[:_MAX_NAME_CHARS].strip()
    return "" if plain in (".", "..") else plain


def _distinct_name(name: str, url: str) -> str:
    """A name for a page whose own is that of another document."""
    stem, dot, ending = name.rpartition(".")
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]
    return f"{stem} {mark}{dot}{ending}" if stem else f"{name} {mark}"
