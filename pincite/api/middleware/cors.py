"""CORS and cross-site request checks: cookies work for this server's page only, other origins need a key."""

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.errors import NotAllowed

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PREFLIGHT_HEADERS: Mapping[str, str] = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID, X-Request-ID, traceparent, "
    "Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name",
    "Access-Control-Max-Age": "600",
}
"""Headers of a preflight response; credentials are not allowed, as other origins authenticate with a key."""


class CorsHeaders:
    """Middleware that adds CORS headers for the allowed origins; for all others CORS is off."""

    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self._app = app
        self._origins = frozenset(origin.lower() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = Headers(scope=scope).get("origin", "") if scope["type"] == "http" else ""
        if origin.lower() not in self._origins:
            return await self._app(scope, receive, send)
        allowed = {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
        if scope["method"] == "OPTIONS" and "access-control-request-method" in Headers(scope=scope):
            return await Response(status_code=204, headers={**allowed, **PREFLIGHT_HEADERS})(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update({**allowed, "Access-Control-Expose-Headers": "X-Request-ID, Mcp-Session-Id"})
            await send(message)

        return await self._app(scope, receive, send_with_headers)


def check_same_origin(scope: Scope, *, cookie: bool) -> None:
    """Refuse a cross-site request of a browser (CSRF); with `cookie`, refuse a request without an origin too.

    A browser sends its cookie with requests of any site's page, and accepts a login cookie from any site's form.
    """
    if scope["type"] == "http" and scope["method"] in SAFE_METHODS:
        return
    headers = Headers(scope=scope)
    if not cookie and "origin" not in headers and "sec-fetch-site" not in headers:
        return  # not a browser
    own = urlsplit(headers.get("origin", "")).netloc.lower() == headers.get("host", "").lower()
    if not own or headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise NotAllowed("a page of another site may not send this request with your login", code="wrong_origin")
