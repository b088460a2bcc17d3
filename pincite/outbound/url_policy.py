"""Web addresses that may be called: http and https, known ports, and machines that everybody can reach."""

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
"""NAT64: the last four bytes are the address that is really called."""
_BLOCKED_NETWORKS = tuple(
    ipaddress.ip_network(net)
    for net in (
        "0.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2002::/16", "3fff::/20", "fe80::/10", "fec0::/10", "ff00::/8",
    )
)  # fmt: skip
"""This machine's own network, link-local ones (where clouds keep credentials), tunnels, multicast, what is reserved."""


@dataclass(frozen=True, slots=True)
class Address:
    """A web address taken apart: `host` is in ASCII and lower case, `path` begins with a slash and has the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: whom one talks to."""
        port = "" if self.port == _STANDARD[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{_bracketed(self.host)}{port}"

    @property
    def url(self) -> str:
        """The whole address; what came behind a `#` is never sent."""
        return self.origin + self.path

    @property
    def shown(self) -> str:
        """The address without its query, which may hold secrets."""
        return without_login(self.url)


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """Which addresses may be called; `private` names hosts of one's own network, as `host` or `host:port`."""

    private: Collection[str] = ()

    def parse(self, url: str) -> Address:
        """The address in parts; refuses what is no plain web address."""
        if len(url) > MAX_URL_CHARS:
            raise Invalid(f"the address is longer than {MAX_URL_CHARS} characters", code="bad_address")
        scheme = _SCHEME.match(url)
        if scheme is None or scheme[1].lower() not in _STANDARD:
            raise Invalid("only addresses that begin with http:// or https:// are fetched", code="bad_address")
        if _UNSAFE.search(url):
            raise Invalid("the address holds characters that must be written as %XX", code="bad_address")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise Invalid(f"this is no address ({error})", code="bad_address") from None
        if "@" in parts.netloc:
            raise Invalid("the address holds a login before its host; none is ever sent", code="bad_address")
        port = _STANDARD[parts.scheme] if port is None else port
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        address = Address(parts.scheme, _host(parts.hostname or "", parts.netloc), port, path)
        if port not in DEFAULT_PORTS and f"{address.host}:{port}" not in self.private:
            raise NotAllowed(
                f"port {port} is not called; only 80 and 443 are, and what web.allow_hosts names as host:port",
                code="port_not_allowed",
            )
        return address

    def check(self, address: Address, resolved: str) -> IP:
        """The machine behind an address, if it may be called."""
        try:
            machine = ipaddress.ip_address(resolved.partition("%")[0])
        except ValueError:
            raise NotAllowed(f"{address.host} has no address that can be called", code="private_address") from None
        trusted = {address.host, f"{address.host}:{address.port}"} & set(self.private)
        if not (_is_callable(machine) if trusted else _is_public(machine)):
            advice = "" if trusted else "; name it in web.allow_hosts if it is to be called"
            raise NotAllowed(f"{address.host} is on a private or reserved network{advice}", code="private_address")
        return machine


def _host(name: str, netloc: str) -> str:
    """A host's name as it is looked up: in ASCII, or an IP address written in full."""
    if netloc.startswith("["):
        try:
            return str(ipaddress.IPv6Address(name.replace("%", " ")))  # with a zone it is link-local
        except ValueError:
            raise Invalid("the address names a host that is no IPv6 address", code="bad_address") from None
    try:
        ascii_name = name.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise Invalid("the address names a host that cannot be looked up", code="bad_address") from None
    labels = ascii_name.split(".")
    if len(ascii_name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise Invalid("the address names a host that cannot be looked up", code="bad_address")
    if _NUMBER.fullmatch(labels[-1]):  # some look such names up as 127.1 or 0x7f000001, and get 127.0.0.1
        try:
            return str(ipaddress.IPv4Address(ascii_name))
        except ValueError:
            raise Invalid("write an IP address as four numbers from 0 to 255", code="bad_address") from None
    return ascii_name


def _is_callable(machine: IP) -> bool:
    """Whether it can be a server at all, on this or a private network or elsewhere."""
    machine = _embedded_ipv4(machine)
    if machine == ipaddress.IPv6Address("::1"):
        return True
    return not any(machine in net for net in _BLOCKED_NETWORKS if net.version == machine.version)


def _is_public(machine: IP) -> bool:
    """Whether everybody can reach it, so that asking for it tells nothing of our own network."""
    machine = _embedded_ipv4(machine)
    return machine.is_global and not machine.is_reserved and _is_callable(machine)


def _embedded_ipv4(machine: IP) -> IP:
    """The IPv4 address that an IPv6 address stands for, else the same."""
    if isinstance(machine, ipaddress.IPv6Address):
        if machine.ipv4_mapped is not None:
            return machine.ipv4_mapped
        if any(machine in net for net in _NAT64_NETWORKS):
            return ipaddress.IPv4Address(machine.packed[-4:])
    return machine


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
