"""The request id, the security headers and the access log line of every response."""

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
"""A share link grants access, so it is masked in the log."""
_RESPONSE_STARTS = frozenset({"http.response.start", "websocket.accept", "websocket.http.response.start"})
"""ASGI messages that start a response and carry its headers."""
CLIENT_CLOSED_REQUEST = 499
"""Status logged for a request whose client disconnected before the response started."""

SECURITY_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response that does not set its own."""


class RequestIdAndLog:
    """Middleware that assigns a request id, adds the security headers and writes the access log."""

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

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] in _RESPONSE_STARTS:
                status = message.get("status", 101)
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            scope["app"].state.pincite.admin.metrics.answered(_method(scope), status)
            _log_request(scope, request_id, status, (time.perf_counter() - started) * 1000)
        return None


def _method(scope: Scope) -> str:
    return str(scope.get("method", "GET"))  # a WebSocket has none: it begins as a GET


def _request_id(scope: Scope) -> str:
    """The client's request id if it has a safe format, else a new one."""
    requested = Headers(scope=scope).get("x-request-id", "")
    return requested if _REQUEST_ID.fullmatch(requested) else secrets.token_hex(8)


def _log_request(scope: Scope, request_id: str, status: int, ms: float) -> None:
    """Write the access log line: no query, headers or body; percent-encoded, so that no client can forge a line."""
    method, path = quote(_method(scope)), quote(_SHARE_LINK.sub("sh_-", scope["path"]))[:_MAX_LOGGED_PATH_CHARS]
    log.info(
        "method=%s path=%s status=%s ms=%.1f request_id=%s",
        method,
        path,
        status,
        ms,
        request_id,
        extra={"method": method, "path": path, "status": status, "ms": round(ms, 1), "request_id": request_id},
    )
