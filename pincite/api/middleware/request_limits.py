"""Checks before a request is processed: an allowed host, no NUL in the URL, a body within the size limit."""

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
"""Paths that accept a file; all others accept a JSON body."""


class HostCheck:
    """Middleware that refuses requests for other hosts (DNS rebinding) and NUL characters in URLs.

    It also refuses WebSockets from pages of other hosts, since browsers send no preflight request for them.
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
            raise BadRequest("this host name is not allowed; add it to server.allowed_hosts", code="wrong_host")
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            raise BadRequest("the URL contains a NUL character")

    def _check_origin(self, scope: Scope) -> None:
        for origin in Headers(scope=scope).getlist("origin"):
            if not self._known(_host_name(urlsplit(origin).netloc), scope):
                raise NotAllowed("a page of another host may not connect here", code="wrong_origin")

    def _known(self, name: str, scope: Scope) -> bool:
        here = (scope.get("server") or ("",))[0]  # the local address of this connection
        return name in self._hosts or name == _host_name(here)


def _host_name(host: str) -> str:
    """The name in a host header: without port, brackets and final dot, in lower case."""
    host = host.strip().lower()
    if host.startswith("[") and "]" in host:
        return host[1:].partition("]")[0]
    name = host.rpartition(":")[0] if host.count(":") == 1 else host
    return name.removesuffix(".")


class BodyLimit:
    """Middleware that refuses a body whose Content-Length or actual size exceeds the limit."""

    def __init__(self, app: ASGIApp, limit_mb: int) -> None:
        self._app = app
        self._limit = limit_mb * BYTES_PER_MB

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        limit = self._limit if scope["path"] in UPLOAD_PATHS else min(MAX_JSON_BYTES, self._limit)
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            raise self._too_large(limit)
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise self._too_large(limit)
            return message

        return await self._app(scope, receive_counted, send)

    def _too_large(self, limit: int) -> TooLarge:
        if limit < self._limit:
            return TooLarge(f"the body is larger than {limit // BYTES_PER_MB} MB, the limit of this path")
        return TooLarge(f"the body is larger than {limit // BYTES_PER_MB} MB (server.max_body_mb)")
