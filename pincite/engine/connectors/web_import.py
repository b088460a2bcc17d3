"""Import documents from the web: fetch pages and sitemaps, and upload the pages like files."""

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
from pincite.ingest.accept.accept import MAX_FOLDER_CHARS
from pincite.outbound.fetch import Fetched, Stamp
from pincite.outbound.sitemap import Sitemap, read_sitemap
from pincite.outbound.url_policy import Address
from pincite.parsers import file_types
from pincite.store.documents.web_fetches import Fetch, Fetches
from pincite.text.charset import decode
from pincite.text.sentences import storable

MAX_SITEMAPS = 50
"""Maximum sitemaps of a sitemap index."""

_MB = 1024 * 1024
_MAX_NAME_CHARS = 120
"""Maximum characters of one part of a folder or name."""
_GENERIC_MIME_TYPES = ("", "application/octet-stream", "binary/octet-stream", "text/plain")
"""MIME types that say nothing about the content; the file extension decides then."""
_URL_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)

Report = Callable[[Progress], None]


def is_address(text: str) -> bool:
    """Whether a text is a URL rather than a file path."""
    return _URL_SCHEME.match(text) is not None


class WebImporter:
    """Imports documents from the web for one user."""

    def __init__(self, pincite: AsyncPincite, caller: Caller = LOCAL) -> None:
        self._pincite = pincite
        self._caller = caller
        self._fetches = Fetches(pincite.services.database)

    async def add(self, upload: Upload, *, start: bool = True) -> Added:
        """Fetch and upload the page at the source URI of an upload; it is processed in the background."""
        fetched, known = await self._fetch(upload.source_uri or "")
        if self._sitemap(fetched) is not None:
            raise Invalid("this is a sitemap, not a page; add it on the command line: pincite add URL", code="sitemap")
        return await self._upload(upload, fetched, known, start=start)

    async def add_all(self, urls: Sequence[str], folder: str = "", report: Report = lambda _: None) -> AddedAll:
        """Add pages and the pages of sitemaps, wait until all are processed; `report` is called with the progress."""
        added: list[Added] = []
        refused: list[tuple[str, PinciteError]] = []
        fetch_list = _FetchList(urls, self._pincite.settings.web.max_pages)
        for number, target in enumerate(fetch_list.targets, start=1):  # sitemaps add targets during the loop
            try:
                fetched, known = await self._fetch(target.url)
                if not target.is_page and (sitemap := self._sitemap(fetched)):
                    fetch_list.add_sitemap(sitemap, fetched.address)
                else:
                    page = Upload("", b"", folder, target.url)
                    added.append(await self._upload(page, fetched, known, priority=fetch_list.priority))
            except (BadRequest, ProviderError, Unreadable, DataFolderError) as error:
                refused.append((target.url, error))
            report(Progress("fetching", number, len(fetch_list.targets), 0.0, of="page"))
        ended = await self._pincite.documents.wait_for_added(
            added, caller=self._caller, priority=fetch_list.priority, report=report
        )
        return AddedAll(ended, refused, fetch_list.skipped)

    async def _fetch(self, url: str) -> tuple[Fetched, Fetch | None]:
        """Fetch a page with a conditional request; return it, and the record of its last fetch."""
        known = await self._fetches.known(await self._pincite.scope(self._caller), url)
        stamp = Stamp(known.etag, known.modified) if known else Stamp()
        return await self._pincite.services.web.get(url, stamp), known

    async def _upload(
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
            name = _distinct_name(name, url)
        page = replace(upload, name=name, folder=folder, data=to_utf8(fetched))
        added = await pincite.documents.upload(page, start=start, caller=self._caller, priority=priority)
        stamp = fetched.stamp
        scope = await pincite.scope(self._caller)  # the first document of a folder may have created a realm
        await self._fetches.record(scope, added.document.id, url, etag=stamp.etag, modified=stamp.modified)
        return added

    def _sitemap(self, fetched: Fetched) -> Sitemap | None:
        return read_sitemap(fetched.data, int(self._pincite.settings.web.max_mb * _MB))


@dataclass(frozen=True, slots=True)
class _Target:
    """A URL to fetch; it may be a sitemap unless `is_page` is set."""

    url: str
    is_page: bool = False


class _FetchList:
    """The URLs to fetch in order, and the URLs skipped with the reason."""

    def __init__(self, urls: Sequence[str], max_pages: int) -> None:
        self.targets = [_Target(url) for url in dict.fromkeys(urls)]
        self.skipped: list[tuple[str, str]] = []
        self._seen = set(urls)
        self._pages, self._sitemaps = max_pages, MAX_SITEMAPS

    @property
    def priority(self) -> int:
        """The priority of the jobs: bulk for several pages."""
        return BULK_PRIORITY if len(self.targets) > 1 else INTERACTIVE_PRIORITY

    def add_sitemap(self, sitemap: Sitemap, at: Address) -> None:
        """Add the URLs of a sitemap that are on its host, up to the limits."""
        own = [url for url in sitemap.addresses if url not in self._seen and _host(url) == at.host]
        kept = own[: self._sitemaps if sitemap.is_index else self._pages]
        if sitemap.is_index:
            self._sitemaps -= len(kept)
        else:
            self._pages -= len(kept)
        self._seen.update(kept)
        for url in (url for url in sitemap.addresses if url not in kept):
            reason = "on another host" if _host(url) != at.host else "listed twice, or above web.max_pages"
            self.skipped.append((url, reason))
        self.targets += [_Target(url, is_page=not sitemap.is_index) for url in kept]


def _host(url: str) -> str:
    """Return the host of a URL; empty if the URL is invalid."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def folder_and_name(fetched: Fetched, folder: str = "") -> tuple[str, str]:
    """Return the folder and name of a page: the host and the path of its URL, with the extension of its type."""
    path, _, query = fetched.address.path.partition("?")
    *above, last = (_clean(unquote(part)) for part in path.split("/"))
    name = " ".join(filter(None, (last or "index", _clean(unquote(query)))))
    inside = "/".join(filter(None, (folder.strip("/"), fetched.address.host.replace(":", "-"), *above)))
    by_name = file_types().get(f".{last.rpartition('.')[2].lower()}") if "." in last and not query else None
    if by_name is None or fetched.mime not in (by_name.mime, *_GENERIC_MIME_TYPES):
        name += next((ending for ending, kind in file_types().items() if kind.mime == fetched.mime), "")
    return inside[:MAX_FOLDER_CHARS].rstrip("/"), name


def to_utf8(fetched: Fetched) -> bytes:
    """Return the bytes of a page; a charset that only the HTTP header declares is converted to UTF-8 with a BOM."""
    if not fetched.charset or fetched.charset == "utf-8" or not fetched.mime.startswith("text/"):
        return fetched.data
    return codecs.BOM_UTF8 + decode(fetched.data, fetched.charset).encode()


def _clean(part: str) -> str:
    """Return a part of a URL path as a valid name in the library."""
    shown = "".join(" " if unicodedata.category(char)[0] in "CZ" or char in "/\\" else char for char in storable(part))
    plain = " ".join(unicodedata.normalize("NFC", shown).split())[:_MAX_NAME_CHARS].strip()
    return "" if plain in (".", "..") else plain


def _distinct_name(name: str, url: str) -> str:
    """Return a name with a hash of the URL, for a page whose name another document has."""
    stem, dot, ending = name.rpartition(".")
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]
    return f"{stem} {mark}{dot}{ending}" if stem else f"{name} {mark}"
