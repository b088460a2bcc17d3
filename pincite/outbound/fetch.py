"""Fetch web pages: with respect to robots.txt, within limits, and never from internal addresses."""

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
"""Seconds a robots.txt is cached."""

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
"""Resolves a host and port to IP addresses."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The validators of a page (ETag and Last-Modified) for conditional requests."""

    etag: str = ""
    modified: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a conditional request."""
        headers = {"if-none-match": self.etag, "if-modified-since": self.modified}
        return {name: value for name, value in headers.items() if value}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetched page; `data` is empty if the page is unchanged."""

    address: Address
    data: bytes = b""
    mime: str = ""
    charset: str = ""
    stamp: Stamp = Stamp()
    unchanged: bool = False


class Web:
    """Fetches pages; caches the robots.txt of each site, and the time of the last request."""

    def __init__(self, settings: Callable[[], WebSettings], resolve: Resolve | None = None) -> None:
        self._settings = settings
        self._resolve = resolve or _resolve_host
        self._robots: dict[str, tuple[float, Robots]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._called: dict[str, float] = {}

    async def get(self, url: str, stamp: Stamp = Stamp()) -> Fetched:  # noqa: B008
        """Fetch a page and follow redirects; each step is checked."""
        settings = self._settings()
        if not settings.enabled:
            raise NotAllowed(
                "adding web pages is disabled; set web.enabled in the settings file or PINCITE_WEB__ENABLED=true",
                code="web_off",
            )
        rules = UrlPolicy(settings.allow_hosts)
        address = rules.parse(url)
        for _ in range(settings.max_redirects + 1):
            robots = await self._robots_of(rules, address)
            if not robots.allows(address.path):
                raise NotAllowed(f"the robots.txt of {address.host} disallows {address.shown}", code="robots")
            found = await self._fetch_politely(rules, address, stamp, robots.delay_s)
            if isinstance(found, Fetched):
                return found
            address = rules.parse(_redirect_url(address, found))
        raise ProviderRefused(f"{address.shown} redirects more than {settings.max_redirects} times (web.max_redirects)")

    async def _robots_of(self, rules: UrlPolicy, address: Address) -> Robots:
        """Return the robots.txt of a site; if it is temporarily unavailable, an error prevents the fetch."""
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
                found = await self._fetch_politely(rules, place, Stamp(), 0.0, max_bytes=MAX_ROBOTS_BYTES)
            except ProviderRefused:
                return ALLOW_ALL
            except TooLarge:  # an unread rule could disallow any page
                return DENY_ALL
            if isinstance(found, Fetched):
                return read_robots(found.data.decode("utf-8-sig", "replace"), AGENT)
            place = rules.parse(_redirect_url(place, found))
        return ALLOW_ALL

    async def _fetch_politely(
        self, rules: UrlPolicy, address: Address, stamp: Stamp, delay_s: float, max_bytes: int | None = None
    ) -> Fetched | str:
        """Send one request after the required delay; requests to one host never overlap."""
        settings = self._settings()
        async with self._turns.setdefault(address.host, asyncio.Lock()):
            due = self._called.get(address.host, 0.0) + max(settings.delay_s, delay_s)
            await asyncio.sleep(max(0.0, due - time.monotonic()) if address.host in self._called else 0.0)
            try:
                async with asyncio.timeout(settings.timeout_s):
                    return await self._call(rules, address, stamp, max_bytes or int(settings.max_mb * _MB))
            except TimeoutError:
                raise ProviderBusy(
                    f"{address.shown} took longer than {settings.timeout_s:g} s (web.timeout_s)"
                ) from None
            finally:
                self._called[address.host] = time.monotonic()

    async def _call(self, rules: UrlPolicy, address: Address, stamp: Stamp, max_bytes: int) -> Fetched | str:
        """Request one address; returns a page, or the target of a redirect.

        The request goes to the checked IP addresses: resolving the name again could give other ones.
        """
        machines = [rules.check(address, one) for one in await self._resolve(address.host, address.port)]
        reason = ""
        for machine in machines:
            try:
                async with _send_request(address, machine, stamp, self._settings().timeout_s) as response:
                    return await _read_response(address, response, stamp, max_bytes)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                reason = type(error).__name__  # another IP address of the host may work
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise ProviderBusy(f"{address.shown} cannot be fetched ({type(error).__name__})") from error
        if not machines:
            raise ProviderRefused(f"there is no host {address.host}")
        raise ProviderBusy(f"{address.shown} cannot be reached ({reason})")


@asynccontextmanager
async def _send_request(
    address: Address, machine: IP, stamp: Stamp, timeout_s: float
) -> AsyncIterator[httpx2.Response]:
    """Send a request to an IP address, with the host name in the headers.

    Each request has its own client, so no cookies, credentials, proxies or connections are reused.
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


async def _read_response(address: Address, response: httpx2.Response, stamp: Stamp, max_bytes: int) -> Fetched | str:
    """Read a response: a page, an unchanged page, or the target of a redirect."""
    if response.status_code == 304 and stamp != Stamp():
        return Fetched(address, stamp=stamp, unchanged=True)
    if response.status_code in _REDIRECTS and "location" in response.headers:
        return str(response.headers["location"])
    if response.status_code != 200:
        raise _http_error(address, response.status_code)
    return await _read_page(address, response, max_bytes)


async def _resolve_host(host: str, port: int) -> list[str]:
    """Resolve a host with the resolver of this machine."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def _read_page(address: Address, response: httpx2.Response, max_bytes: int) -> Fetched:
    """Read the page and its headers."""
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise _too_large(address, max_bytes)
    header = Message()
    header["content-type"] = response.headers.get("content-type", "")[:500]
    return Fetched(
        address,
        await _read_body(address, response, max_bytes),
        mime=header.get_content_type() if header["content-type"] else "",
        charset=header.get_content_charset("") or "",
        stamp=Stamp(response.headers.get("etag", "")[:500], response.headers.get("last-modified", "")[:100]),
    )


async def _read_body(address: Address, response: httpx2.Response, max_bytes: int) -> bytes:
    """Read and decompress the body; decompression stops at the size limit."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip", ""):
        raise ProviderError(f"{address.shown} has the unsupported content encoding '{encoding[:20]}'")
    decompressor = zlib.decompressobj(wbits=31) if "gzip" in encoding else None
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += decompressor.decompress(chunk, max_bytes + 1 - len(body)) if decompressor else chunk
            if len(body) > max_bytes:
                raise _too_large(address, max_bytes)
    except zlib.error:
        raise ProviderError(f"{address.shown} has a damaged gzip body") from None
    return bytes(body)


def _too_large(address: Address, max_bytes: int) -> TooLarge:
    return TooLarge(f"{address.shown} is larger than {max_bytes / _MB:g} MB (web.max_mb)")


def _http_error(address: Address, status: int) -> ProviderError:
    if status in _RETRYABLE or status >= 500:
        return ProviderBusy(f"{address.shown} is temporarily unavailable (HTTP {status})")
    return ProviderRefused(f"{address.shown} is not available (HTTP {status})")


def _redirect_url(address: Address, target: str) -> str:
    """Return the absolute URL of a redirect."""
    try:
        return urljoin(address.url, target)
    except ValueError:
        raise Invalid(f"{address.shown} redirects to an invalid URL", code="bad_address") from None
