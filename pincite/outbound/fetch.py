"""Pages from the web, one at a time: politely, within limits, and never from where only we can reach."""

import asyncio
import socket
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from urllib.parse import urljoin

import httpx2

from pincite import __version__
from pincite.config.branches.ingestion import Web as WebSettings
from pincite.errors import Invalid, NotAllowed, ProviderBusy, ProviderError, ProviderRefused, TooLarge
from pincite.outbound.client import ssl_context
from pincite.outbound.robots import ALLOW_ALL, DENY_ALL, MAX_ROBOTS_BYTES, Robots, read_robots
from pincite.outbound.url_policy import IP, Address, UrlPolicy

AGENT = "pincite"
ROBOTS_TTL_S = 3600.0
"""How long a site's robots.txt is taken to be the same."""
MAX_CACHED_ROBOTS = 200
_MB = 1024 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RETRYABLE = frozenset({408, 425, 429})
_HEADERS = {
    "user-agent": f"{AGENT}/{__version__}",
    "accept": "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf, */*;q=0.5",
    "accept-encoding": "gzip",
}

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Host and port → the IP addresses of the host."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a server said to tell a page's state by, to be shown when asking for it again."""

    etag: str = ""
    modified: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """As a request says it."""
        told = {"if-none-match": self.etag, "if-modified-since": self.modified}
        return {name: value for name, value in told.items() if value}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as its server sent it; `data` is empty where it says that nothing has changed."""

    address: Address
    data: bytes = b""
    mime: str = ""
    charset: str = ""
    stamp: Stamp = Stamp()
    unchanged: bool = False


class Web:
    """Fetches pages; remembers for each site what it asks for, and when it was last called."""

    def __init__(self, settings: Callable[[], WebSettings], resolve: Resolve | None = None) -> None:
        self._settings = settings
        self._resolve = resolve or _resolve_host
        self._robots: dict[str, tuple[float, Robots]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._called: dict[str, float] = {}

    async def get(self, url: str, stamp: Stamp = Stamp()) -> Fetched:  # noqa: B008
        """The page at an address, wherever that leads; each step is checked anew."""
        settings = self._settings()
        if not settings.enabled:
            raise NotAllowed(
                "adding from the web is off; set web.enabled in the settings file or PINCITE_WEB__ENABLED=true",
                code="web_off",
            )
        rules = UrlPolicy(settings.allow_hosts)
        address = rules.parse(url)
        for _ in range(settings.max_redirects + 1):
            robots = await self._asked(rules, address)
            if not robots.allows(address.path):
                raise NotAllowed(f"the robots.txt of {address.host} asks not to fetch {address.shown}", code="robots")
            found = await self._polite(rules, address, stamp, robots.delay_s)
            if isinstance(found, Fetched):
                return found
            address = rules.parse(_redirect_url(address, found))
        raise ProviderRefused(f"{address.shown} leads on more than {settings.max_redirects} times (web.max_redirects)")

    async def _asked(self, rules: UrlPolicy, address: Address) -> Robots:
        """What the site asks; nothing is fetched from one that cannot tell for now."""
        at, known = self._robots.get(address.origin, (0.0, ALLOW_ALL))
        if at and time.monotonic() - at < ROBOTS_TTL_S:
            return known
        robots = await self._read_robots(rules, Address(address.scheme, address.host, address.port, "/robots.txt"))
        self._robots[address.origin] = (time.monotonic(), robots)
        if len(self._robots) > MAX_CACHED_ROBOTS:
            del self._robots[next(iter(self._robots))]
        return robots

    async def _read_robots(self, rules: UrlPolicy, place: Address) -> Robots:
        for _ in range(self._settings().max_redirects + 1):
            try:
                found = await self._polite(rules, place, Stamp(), 0.0, most=MAX_ROBOTS_BYTES)
            except ProviderRefused:
                return ALLOW_ALL
            except TooLarge:  # what cannot be read might ask for anything
                return DENY_ALL
            if isinstance(found, Fetched):
                return read_robots(found.data.decode("utf-8-sig", "replace"), AGENT)
            place = rules.parse(_redirect_url(place, found))
        return ALLOW_ALL

    async def _polite(
        self, rules: UrlPolicy, address: Address, stamp: Stamp, delay_s: float, most: int | None = None
    ) -> Fetched | str:
        """One call, when it is time for one; calls of one host never overlap."""
        settings = self._settings()
        async with self._turns.setdefault(address.host, asyncio.Lock()):
            due = self._called.get(address.host, 0.0) + max(settings.delay_s, delay_s)
            await asyncio.sleep(max(0.0, due - time.monotonic()) if address.host in self._called else 0.0)
            try:
                async with asyncio.timeout(settings.timeout_s):
                    return await self._call(rules, address, stamp, most or int(settings.max_mb * _MB))
            except TimeoutError:
                raise ProviderBusy(
                    f"{address.shown} took longer than {settings.timeout_s:g} s (web.timeout_s)"
                ) from None
            finally:
                self._called[address.host] = time.monotonic()

    async def _call(self, rules: UrlPolicy, address: Address, stamp: Stamp, most: int) -> Fetched | str:
        """What one address answers: a page, or where it leads on to.

        The very machines are called that were checked: a name that is looked up twice may lead elsewhere the second time.
        """
        machines = [rules.check(address, one) for one in await self._resolve(address.host, address.port)]
        reason = ""
        for machine in machines:
            try:
                async with _send_request(address, machine, stamp, self._settings().timeout_s) as response:
                    return await _read_response(address, response, stamp, most)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                reason = type(error).__name__  # it may be reached at another of its addresses
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise ProviderBusy(f"{address.shown} cannot be fetched ({type(error).__name__})") from error
        if not machines:
            raise ProviderRefused(f"there is no host {address.host}")
        raise ProviderBusy(f"{address.shown} cannot be reached ({reason})")


@asynccontextmanager
async def _send_request(
    address: Address, machine: IP, stamp: Stamp, timeout_s: float
) -> AsyncIterator[httpx2.Response]:
    """Call a machine under the name of its host.

    Each call has a client of its own: no cookie, no login, no proxy and no connection is kept for the next one.
    """
    place = f"[{machine}]" if machine.version == 6 else str(machine)
    _, _, named = address.origin.partition("://")
    async with (
        httpx2.AsyncClient(verify=ssl_context(False), trust_env=False, timeout=timeout_s) as client,
        client.stream(
            "GET",
            f"{address.scheme}://{place}:{address.port}{address.path}",
            headers={"host": named, **_HEADERS, **stamp.headers},
            extensions={"sni_hostname": address.host},
            follow_redirects=False,
        ) as response,
    ):
        yield response


async def _read_response(address: Address, response: httpx2.Response, stamp: Stamp, most: int) -> Fetched | str:
    """What an answer says: a page, that it has not changed, or where it is."""
    if response.status_code == 304 and stamp != Stamp():
        return Fetched(address, stamp=stamp, unchanged=True)
    if response.status_code in _REDIRECTS and "location" in response.headers:
        return str(response.headers["location"])
    if response.status_code != 200:
        raise _http_error(address, response.status_code)
    return await _read_page(address, response, most)


async def _resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a host, as this machine finds them."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def _read_page(address: Address, response: httpx2.Response, most: int) -> Fetched:
    """The page with what its headers say about it."""
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most:
        raise _too_large(address, most)
    told = Message()
    told["content-type"] = response.headers.get("content-type", "")[:500]
    return Fetched(
        address,
        await _read_body(address, response, most),
        mime=told.get_content_type() if told["content-type"] else "",
        charset=told.get_content_charset("") or "",
        stamp=Stamp(response.headers.get("etag", "")[:500], response.headers.get("last-modified", "")[:100]),
    )


async def _read_body(address: Address, response: httpx2.Response, most: int) -> bytes:
    """What was sent, unpacked as it comes: however well it is packed, no more is unpacked than may be."""
    packed = response.headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("identity", "gzip", "x-gzip", ""):
        raise ProviderError(f"{address.shown} is packed as '{packed[:20]}', which was not asked for")
    unpack = zlib.decompressobj(wbits=31) if "gzip" in packed else None
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += unpack.decompress(chunk, most + 1 - len(body)) if unpack else chunk
            if len(body) > most:
                raise _too_large(address, most)
    except zlib.error:
        raise ProviderError(f"{address.shown} was sent in a broken gzip") from None
    return bytes(body)


def _too_large(address: Address, most: int) -> TooLarge:
    return TooLarge(f"{address.shown} is larger than {most / _MB:g} MB (web.max_mb)")


def _http_error(address: Address, status: int) -> ProviderError:
    if status in _RETRYABLE or status >= 500:
        return ProviderBusy(f"{address.shown} cannot be had for now (HTTP {status})")
    return ProviderRefused(f"{address.shown} cannot be had (HTTP {status})")


def _redirect_url(address: Address, target: str) -> str:
    """Where a page leads on to, in full."""
    try:
        return urljoin(address.url, target)
    except ValueError:
        raise Invalid(f"{address.shown} leads on to what is no address", code="bad_address") from None
