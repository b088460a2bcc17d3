"""Every answer's request id and security headers, and one line about it in the access log."""

import logging
import re
import secrets
import time
from collections.abc import Mapping
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.core import request_context

log = logging.getLogger("pincite.api.access")

_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_MAX_LOGGED_PATH_CHARS = 300
_SHARE_LINK = re.compile(r"sh_[^/]*")
"""The link to a shared answer is all one needs to open it; a log has no use for it."""
_RESPONSE_STARTS = frozenset({"http.response.start", "websocket.accept", "websocket.http.response.start"})
"""Messages that begin an answer and carry its headers."""
CLIENT_CLOSED_REQUEST = 499
"""Logged for a request whose client left before the answer began."""

SECURITY_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""On every answer, unless it has one of its own."""


class RequestIdAndLog:
    """Middleware that numbers a request, adds the headers to its answer and logs how it went."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        request_context.request_id.set(request_id)
        request_context.address.set((scope.get("client") or ("",))[0])
        request_context.key_id.set(None)
        request_context.read_only.set(False)
        request_context.remote_span.set(request_context.read_traceparent(Headers(scope=scope).get("traceparent", "")))
        started, status = time.perf_counter(), CLIENT_CLOSED_REQUEST

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] in _RESPONSE_STARTS:
                status = message.get("status", 101)
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, stamped)
        finally:
            scope["app"].state.pincite.admin.metrics.answered(_method(scope), status)
            _log_request(scope, request_id, status, (time.perf_counter() - started) * 1000)
        return None


def _method(scope: Scope) -> str:
    return str(scope.get("method", "GET"))  # a WebSocket has none: it begins as a GET


def _request_id(scope: Scope) -> str:
    """The client's own id where it is a harmless one, else a new one."""
    wished = Headers(scope=scope).get("x-request-id", "")
    return wished if _REQUEST_ID.fullmatch(wished) else secrets.token_hex(8)


def _log_request(scope: Scope, request_id: str, status: int, ms: float) -> None:
    """Never the query, a header or a body; what a client could use to forge a line is percent-encoded."""
    method, path = quote(_method(scope)), quote(_SHARE_LINK.sub("sh_-", scope["path"]))[:_MAX_LOGGED_PATH_CHARS]
    log.info(
        "method=%s path=%s status=%s ms=%.1f request_id=%s", method, path, status, ms, request_id,
        extra={"method": method, "path": path, "status": status, "ms": round(ms, 1), "request_id": request_id},
    )  # fmt: skip
