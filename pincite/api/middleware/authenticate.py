"""Authentication by API key or login cookie.

Public are only the files of the web page, the two health routes without details, the OpenAPI description and the login
routes. Every other request is authenticated before its body is read. The server does not start with a route that
declares no required permission.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable
from typing import NoReturn
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from pincite.api.middleware.cors import check_same_origin
from pincite.api.paths import API, is_web_page
from pincite.core import request_context
from pincite.core.accounts.access import Caller
from pincite.engine.app import AsyncPincite
from pincite.errors import Stopping, Unauthorized, Unavailable

log = logging.getLogger(__name__)

OPENAPI_PATH = f"{API}/openapi.json"
_PUBLIC_AUTH = ("login", "setup", "ways", "oidc/login", "oidc/callback")
_OAUTH_METADATA = ("oauth-protected-resource", "oauth-authorization-server", "openid-configuration")
NO_OAUTH_PATHS = frozenset(
    {
        *(f"/.well-known/{name}{end}" for name in _OAUTH_METADATA for end in ("", "/mcp")),
        "/mcp/.well-known/openid-configuration",
    }
)
"""Where clients look for OAuth: there is none, so that nothing is there, with or without a key."""
PUBLIC_PATHS = frozenset(
    {OPENAPI_PATH, f"{API}/health/live", f"{API}/health/ready", *(f"{API}/auth/{name}" for name in _PUBLIC_AUTH)}
    | NO_OAUTH_PATHS
    | {"/docs", "/docs/docs.js", "/docs/docs.css"}
)
UNLIMITED_PATHS = frozenset({f"{API}/health/live", f"{API}/health/ready"})
"""Health checks: exempt from rate limits and admission, as monitors need them on a busy server."""
MAX_REMEMBERED_CREDENTIALS = 10_000
"""Credentials whose user is remembered; the map is cleared when it is full."""
LOGIN_COOKIE = "pincite_login"
"""Name of the cookie that holds a login."""
RECHECK_INTERVAL_S = 2.0
"""Seconds between checks of the credential of a long-lived connection."""
AdmissionCheck = Callable[[str, str], None]
"""Refuses a request whose queue is full, by its path and presumed user."""
_KEY_PARAMETERS = frozenset({"key", "api_key", "apikey", "token", "access_token", "authorization"})


def is_public(path: str) -> bool:
    """Whether a path needs no authentication."""
    return path in PUBLIC_PATHS or is_web_page(path)


class Authenticate:
    """Middleware that authenticates the caller by the header `Authorization: Bearer KEY`, or else by the cookie."""

    def __init__(self, app: ASGIApp, pincite: AsyncPincite, check: AdmissionCheck) -> None:
        self._app = app
        self._pincite = pincite
        self._check = check
        self._users: dict[bytes, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            if scope["path"] in UNLIMITED_PATHS or is_web_page(scope["path"]):
                check_same_origin(scope, cookie=False)
            else:
                await self._authenticate(scope)
        await self._app(scope, receive, send)

    async def _authenticate(self, scope: Scope) -> None:
        """Authenticate the caller and count the request; unauthenticated requests count by client address."""
        limits = self._pincite.admin.quotas
        if scope["path"] in PUBLIC_PATHS:
            check_same_origin(scope, cookie=False)
            return await limits.anonymous_request(_client_host(scope))
        credential = _credential_digest(scope)
        presumed = self._users.get(credential, "")
        self._check(scope["path"], presumed)
        limits.refuse_if_used_up(presumed)
        try:
            caller = await _authenticate(self._pincite, scope)
        except Unauthorized:
            await limits.anonymous_request(_client_host(scope))
            raise
        self._remember(credential, caller.person)
        await limits.request(caller.person)
        scope["state"]["caller"] = caller
        request_context.key_id.set(caller.key_id)
        return None

    def _remember(self, credential: bytes, person: str) -> None:
        """Remember the user of a credential; this serves only to refuse requests before authentication."""
        if len(self._users) >= MAX_REMEMBERED_CREDENTIALS:
            self._users.clear()
        self._users[credential] = person


def _credential_digest(scope: Scope) -> bytes:
    """A hash of the credentials of a request."""
    headers = Headers(scope=scope)
    credentials = f"{headers.get('authorization')}\0{headers.get('cookie')}"
    return hashlib.sha256(credentials.encode(errors="surrogatepass")).digest()


async def _authenticate(pincite: AsyncPincite, scope: Scope) -> Caller:
    if any(name.lower() in _KEY_PARAMETERS for name, _ in parse_qsl(scope["query_string"].decode("latin-1"))):
        raise Unauthorized("a key in the URL ends up in logs; send it in the header Authorization: Bearer KEY")
    login = login_cookie(scope)
    if login is None:
        return await pincite.admin.keys.recognise(_bearer_key(scope))
    caller = await pincite.admin.logins.recognise(login)
    check_same_origin(scope, cookie=True)
    return caller


def login_cookie(scope: Scope) -> str | None:
    """The login token in the cookie of a request; None when the request also has a key, which takes precedence."""
    headers = Headers(scope=scope)
    if "authorization" in headers or "cookie" not in headers:
        return None
    return cookie_parser(headers["cookie"]).get(LOGIN_COOKIE) or None


def client_address(connection: HTTPConnection) -> str:
    """The client's address."""
    return _client_host(connection.scope)


def _client_host(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _bearer_key(scope: Scope) -> str:
    values = Headers(scope=scope).getlist("authorization")
    scheme, _, key = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthorized("send a key in the header Authorization: Bearer KEY, or log in")
    return key.strip()


async def wait_until_revoked(connection: HTTPConnection) -> NoReturn:
    """Wait until a connection must end, then raise: its credential is revoked, its role changes, or the server stops."""
    pincite: AsyncPincite = connection.app.state.pincite
    stopping: asyncio.Event = connection.app.state.stopping
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RECHECK_INTERVAL_S):
                await stopping.wait()
        if stopping.is_set():
            raise Stopping("the server is stopping; try again shortly")
        try:
            if (await _authenticate(pincite, connection.scope)).role != connection.state.caller.role:
                raise Unauthorized("your role has changed; connect again")
        except Unavailable as error:  # a failed check revokes nothing
            log.debug("could not check a credential again: %s", error)
