"""A folder on a WebDAV server, such as Nextcloud or ownCloud."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote, unquote, urlsplit

from lxml import etree

from pincite.core.documents.sources import SourceAddress, SourceItem
from pincite.errors import Invalid, ProviderError
from pincite.outbound.sources.http import MAX_LISTING_BYTES, SourceServer

OPTIONS = frozenset({"user"})
_DAV = "{DAV:}"
_MAX_DEPTH = 50
_PROPERTIES = b"""<?xml version="1.0"?><d:propfind xmlns:d="DAV:"><d:prop>
<d:resourcetype/><d:getetag/><d:getlastmodified/><d:getcontentlength/></d:prop></d:propfind>"""


class Source:
    """Lists the files below a folder, one request per folder, since servers may refuse to list a tree at once."""

    lists_all = True

    def __init__(self, address: SourceAddress) -> None:
        user = address.options.get("user", "")
        self._server = SourceServer(address, (user, address.secret) if user else None)
        self._root = self._server.path.rstrip("/") + "/"
        self._max_items = address.max_items

    async def items(self) -> Sequence[SourceItem]:
        """All files below the folder."""
        found: list[SourceItem] = []
        waiting = [(self._root, 0)]
        while waiting:
            folder, depth = waiting.pop()
            for path, is_folder, stamp in await self._list(folder):
                if is_folder and depth < _MAX_DEPTH:
                    waiting.append((path, depth + 1))
                elif not is_folder:
                    found.append(self._item(path, stamp))
            if len(found) > self._max_items:
                raise Invalid(f"the folder has more than {self._max_items:,} files; choose a smaller one")
        return sorted(found, key=lambda item: item.key)

    async def read(self, item: SourceItem) -> bytes:
        """The content of a file."""
        return await self._server.send("GET", item.key)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    def _item(self, path: str, stamp: str) -> SourceItem:
        below = unquote(path.removeprefix(self._root))
        folder, _, name = below.rpartition("/")
        return SourceItem(path, stamp, name, folder, self._server.origin + path)

    async def _list(self, folder: str) -> list[tuple[str, bool, str]]:
        """The entries of a folder: path, whether it is a folder, and stamp."""
        body = await self._server.send(
            "PROPFIND",
            folder,
            headers={"depth": "1", "content-type": "application/xml"},
            content=_PROPERTIES,
            max_bytes=MAX_LISTING_BYTES,
            expected=frozenset({207}),
        )
        return [entry for entry in _entries(body) if entry[0] != folder and entry[0].startswith(self._root)]


def _entries(body: bytes) -> Iterator[tuple[str, bool, str]]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        raise ProviderError("the WebDAV server sent a listing that is not XML") from None
    for response in tree.iter(f"{_DAV}response"):
        href = response.findtext(f"{_DAV}href") or ""
        is_folder = response.find(f".//{_DAV}collection") is not None
        path = quote(unquote(urlsplit(href.strip()).path), safe="/~!$&'()*+,;=:@")
        names = ("getetag", "getlastmodified", "getcontentlength")
        stamp = " ".join(filter(None, (response.findtext(f".//{_DAV}{name}") for name in names)))
        yield (path.rstrip("/") + "/" if is_folder else path), is_folder, stamp
