"""Which URLs may be fetched: http and https, standard ports, and public IP addresses."""

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from pincite.errors import Invalid, NotAllowed
from pincite.text.sentences import without_login

IP = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_URL_CHARS = 2_000
DEFAULT_PORTS = (80, 443)
_STANDARD = {"http": 80, "https": 443}
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\x9f\\<>\"^`{|}]|%(?![0-9A-Fa-f]{2})")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_NUMBER = re.compile(r"(?:0[xX][0-9A-Fa-f]*|[0-9]+)")
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_NAT64_NETWORKS = (ipaddress.IPv6Network("64:ff9b::/96"),)
"""NAT64: the last four bytes are the IPv4 address of the destination."""

_BLOCKED_NETWORKS = tuple(
    ipaddress.ip_network(net)
    for net in (
        *("0.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "192.0.0.0/24"),
        *("192.88.99.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2002::/16"),
        *("3fff::/20", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
)
"""Networks that are never fetched: this host, link-local (cloud metadata), tunnels, multicast and reserved ranges."""


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URL: `host` is ASCII and lower case, `path` starts with a slash and includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        port = "" if self.port == _STANDARD[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{_bracketed(self.host)}{port}"

    @property
    def url(self) -> str:
        """The URL without its fragment."""
        return self.origin + self.path

    @property
    def shown(self) -> str:
        """The URL without its query, which may contain secrets."""
        return without_login(self.url)


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """Which URLs may be fetched; `private` lists allowed internal hosts, as `host` or `host:port`."""

    private: Collection[str] = ()

    def parse(self, url: str) -> Address:
        """Parse a URL; raises if it is not an allowed web URL."""
        if len(url) > MAX_URL_CHARS:
            raise Invalid(f"the URL is longer than {MAX_URL_CHARS} characters", code="bad_address")
        scheme = _SCHEME.match(url)
        if scheme is None or scheme[1].lower() not in _STANDARD:
            raise Invalid("the URL must start with http:// or https://", code="bad_address")
        if _UNSAFE.search(url):
            raise Invalid("the URL contains characters that must be percent-encoded", code="bad_address")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise Invalid(f"the URL is not valid ({error})", code="bad_address") from None
        if "@" in parts.netloc:
            raise Invalid("the URL contains a login, which is not supported; remove it", code="bad_address")
        port = _STANDARD[parts.scheme] if port is None else port
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        address = Address(parts.scheme, _host(parts.hostname or "", parts.netloc), port, path)
        if port not in DEFAULT_PORTS and f"{address.host}:{port}" not in self.private:
            raise NotAllowed(
                f"port {port} is not allowed; only 80 and 443 are, and ports listed in web.allow_hosts as host:port",
                code="port_not_allowed",
            )
        return address

    def check(self, address: Address, resolved: str) -> IP:
        """Return the IP address of a host; raises if it may not be fetched."""
        try:
            machine = ipaddress.ip_address(resolved.partition("%")[0])
        except ValueError:
            raise NotAllowed(f"{address.host} has no valid IP address", code="private_address") from None
        trusted = {address.host, f"{address.host}:{address.port}"} & set(self.private)
        if not (_is_callable(machine) if trusted else _is_public(machine)):
            advice = "" if trusted else "; to allow it, add it to web.allow_hosts"
            raise NotAllowed(f"{address.host} is on a private or reserved network{advice}", code="private_address")
        return machine


def _host(name: str, netloc: str) -> str:
    """Normalize a host: an ASCII name, or a complete IP address."""
    if netloc.startswith("["):
        try:
            return str(ipaddress.IPv6Address(name.replace("%", " ")))  # an address with a zone is link-local
        except ValueError:
            raise Invalid("the host of the URL is not a valid IPv6 address", code="bad_address") from None
    try:
        ascii_name = name.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise Invalid("the host of the URL is not a valid name", code="bad_address") from None
    labels = ascii_name.split(".")
    if len(ascii_name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise Invalid("the host of the URL is not a valid name", code="bad_address")
    if _NUMBER.fullmatch(labels[-1]):  # some resolvers accept 127.1 or 0x7f000001 as 127.0.0.1
        try:
            return str(ipaddress.IPv4Address(ascii_name))
        except ValueError:
            raise Invalid("write the IP address as four numbers from 0 to 255", code="bad_address") from None
    return ascii_name


def _is_callable(machine: IP) -> bool:
    """Whether an IP address is outside the blocked networks; private ones are allowed."""
    machine = _embedded_ipv4(machine)
    if machine == ipaddress.IPv6Address("::1"):
        return True
    return not any(machine in net for net in _BLOCKED_NETWORKS if net.version == machine.version)


def _is_public(machine: IP) -> bool:
    """Whether an IP address is public, so that fetching it reveals nothing about the internal network."""
    machine = _embedded_ipv4(machine)
    return machine.is_global and not machine.is_reserved and _is_callable(machine)


def _embedded_ipv4(machine: IP) -> IP:
    """Return the IPv4 address embedded in an IPv6 address, otherwise the address itself."""
    if isinstance(machine, ipaddress.IPv6Address):
        if machine.ipv4_mapped is not None:
            return machine.ipv4_mapped
        if any(machine in net for net in _NAT64_NETWORKS):
            return ipaddress.IPv4Address(machine.packed[-4:])
    return machine


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
