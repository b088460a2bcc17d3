"""What a request must look like before anyone reads it: a known host, a sane address, a body within bounds."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.api.paths import API
from pincite.errors import BadRequest, NotAllowed, TooLarge

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
BYTES_PER_MB = 1024 * 1024
MAX_JSON_BYTES = BYTES_PER_MB
UPLOAD_PATHS = frozenset(f"{API}{path}" for path in ("/documents/upload", "/vectorstore/documents/upload"))
"""Addresses that take a whole file; all others take a JSON body."""


class HostCheck:
    """Middleware that refuses requests for other hosts, as DNS rebinding makes them, and NULs in addresses.

    A page of another host may open a WebSocket here, for which no browser asks first: it is refused, too.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(_host_name(host) for host in (*LOCAL_HOSTS, *hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            self._check(scope)
        if scope["type"] == "websocket":
            self._check_origin(scope)
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        named = Headers(scope=scope).getlist("host")
        if len(named) != 1 or not self._known(_host_name(named[0]), scope):
            raise BadRequest("this server does not go by that host name; allow it with server.allowed_hosts",
                             code="wrong_host")  # fmt: skip
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            raise BadRequest("the address holds a NUL character")

    def _check_origin(self, scope: Scope) -> None:
        for origin in Headers(scope=scope).getlist("origin"):
            if not self._known(_host_name(urlsplit(origin).netloc), scope):
                raise NotAllowed("a page of another host may not connect here", code="wrong_origin")

    def _known(self, name: str, scope: Scope) -> bool:
        here = (scope.get("server") or ("",))[0]  # the very address that took the connection
        return name in self._hosts or name == _host_name(here)


def _host_name(host: str) -> str:
    """A host header's name: without port, brackets and final dot, in lower case."""
    host = host.strip().lower()
    if host.startswith("[") and "]" in host:
        return host[1:].partition("]")[0]
    name = host.rpartition(":")[0] if host.count(":") == 1 else host
    return name.removesuffix(".")


class BodyLimit:
    """Middleware that refuses a body that announces, or turns out, to be too large."""

    def __init__(self, app: ASGIApp, limit_mb: int) -> None:
        self._app = app
        self._limit = limit_mb * BYTES_PER_MB

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        limit = self._limit if scope["path"] in UPLOAD_PATHS else min(MAX_JSON_BYTES, self._limit)
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > limit:
            raise self._too_large(limit)
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                raise self._too_large(limit)
            return message

        return await self._app(scope, counted, send)

    def _too_large(self, limit: int) -> TooLarge:
        if limit < self._limit:
            return TooLarge(f"the body is larger than {limit // BYTES_PER_MB} MB, the most that this address takes")
        return TooLarge(f"the body is larger than {limit // BYTES_PER_MB} MB (server.max_body_mb)")
