"""Who comes in, by the key or the login they bring, and what their role may do.

Open to anyone are only the page's own files, the two health routes that tell nothing, the OpenAPI description,
which says what the documentation says, and logging in. Everything else needs a key or a login before a byte of its body is read,
and a route that does not declare what right it takes keeps the server from starting.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterable
from typing import Annotated, NoReturn
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Query
from fastapi.openapi.models import HTTPBearer
from fastapi.routing import APIRoute, APIWebSocketRoute
from fastapi.security.base import SecurityBase
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from pincite.api.middleware.cors import check_own_page
from pincite.api.paths import API, is_page
from pincite.core import request_context
from pincite.core.accounts.access import Caller, require
from pincite.engine.app import AsyncPincite
from pincite.errors import Stopping, Unauthorized, Unavailable

log = logging.getLogger(__name__)

OPENAPI = f"{API}/openapi.json"
OPEN = frozenset({
    OPENAPI, *(f"{API}{path}" for path in (
        "/health/live", "/health/ready", "/auth/login", "/auth/setup", "/auth/ways", "/auth/oidc/login", "/auth/oidc/callback")),
})  # fmt: skip
UNCOUNTED = frozenset({f"{API}/health/live", f"{API}/health/ready"})
"""Asked by whoever watches over the server, however busy it is; so is the page, which says nothing of anybody's."""
REMEMBERED = 10_000
"""Keys and logins of which it is remembered whose they were."""
COOKIE = "pincite_login"
"""What a browser holds once somebody has logged in."""
STILL_WELCOME_S = 2.0
"""How often whoever listens for long is asked for the key again."""
LONGEST_NOTED = 300
"""Characters of an address that the audit log keeps."""
Check = Callable[[str, str], None]
"""Refuses what there is no room for, by its path and by who it seems to be from."""
_KEYS_IN_ADDRESSES = frozenset({"key", "api_key", "apikey", "token", "access_token", "authorization"})


def is_open(path: str) -> bool:
    """Whether anyone may come to an address."""
    return path in OPEN or is_page(path)


class Authenticate:
    """Middleware that finds out who the caller is: from the header `Authorization: Bearer KEY`, or else from the cookie."""

    def __init__(self, app: ASGIApp, pincite: AsyncPincite, check: Check) -> None:
        self._app = app
        self._pincite = pincite
        self._check = check
        self._who: dict[bytes, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            if scope["path"] in UNCOUNTED or is_page(scope["path"]):
                check_own_page(scope, cookie=False)
            else:
                await self._let_in(scope)
        await self._app(scope, receive, send)

    async def _let_in(self, scope: Scope) -> None:
        """Know who it is, and count what they ask; whoever is not known is counted by where they come from."""
        limits = self._pincite.admin.quotas
        if scope["path"] in OPEN:
            check_own_page(scope, cookie=False)
            return await limits.anonymous_request(_address(scope))
        brought = _brought(scope)
        seems = self._who.get(brought, "")
        self._check(scope["path"], seems)
        limits.refuse_if_used_up(seems)
        try:
            caller = await _recognise(self._pincite, scope)
        except Unauthorized:
            await limits.anonymous_request(_address(scope))
            raise
        self._remember(brought, caller.person)
        await limits.request(caller.person)
        scope["state"]["caller"] = caller
        request_context.key_id.set(caller.key_id)
        return None

    def _remember(self, brought: bytes, person: str) -> None:
        """Whose key or login it was, which decides nothing but who is refused unasked."""
        if len(self._who) >= REMEMBERED:
            self._who.clear()
        self._who[brought] = person


def _brought(scope: Scope) -> bytes:
    """What a request is known by, hashed."""
    headers = Headers(scope=scope)
    given = f"{headers.get('authorization')}\0{headers.get('cookie')}"
    return hashlib.sha256(given.encode(errors="surrogatepass")).digest()


async def _recognise(pincite: AsyncPincite, scope: Scope) -> Caller:
    if any(name.lower() in _KEYS_IN_ADDRESSES for name, _ in parse_qsl(scope["query_string"].decode("latin-1"))):
        raise Unauthorized("a key in the address ends up in logs; send the header Authorization: Bearer KEY")
    login = login_of(scope)
    if login is None:
        return await pincite.admin.keys.recognise(_key(scope))
    caller = await pincite.admin.logins.recognise(login)
    check_own_page(scope, cookie=True)
    return caller


def login_of(scope: Scope) -> str | None:
    """The login a request comes with; where it brings a key, too, the key counts."""
    headers = Headers(scope=scope)
    if "authorization" in headers or "cookie" not in headers:
        return None
    return cookie_parser(headers["cookie"]).get(COOKIE) or None


def address_of(connection: HTTPConnection) -> str:
    """Where a request comes from."""
    return _address(connection.scope)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _key(scope: Scope) -> str:
    given = Headers(scope=scope).getlist("authorization")
    scheme, _, key = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthorized("send a key in the header Authorization: Bearer KEY, or log in")
    return key.strip()


class May(SecurityBase):
    """A route's declaration of the right it takes; gives the route its caller."""

    scheme_name = "key"
    model = HTTPBearer(description="A key made with `pincite key create`.")

    def __init__(self, right: str) -> None:
        self.right = right

    async def __call__(self, connection: HTTPConnection) -> Caller:
        caller: Caller = connection.state.caller
        require(caller, self.right)
        return caller


class Looks(May):
    """The same for a route by which administrators may look at another's things: `?owner=` says whose."""

    async def __call__(
        self, connection: HTTPConnection, owner: Annotated[str | None, Query(min_length=1, max_length=100)] = None
    ) -> Caller:
        caller = await super().__call__(connection)
        if owner is None:
            return caller
        pincite: AsyncPincite = connection.app.state.pincite
        looked_at = await pincite.admin.read_as(
            caller, owner, connection.scope["path"].removeprefix(API)[:LONGEST_NOTED]
        )
        request_context.read_only.set(True)
        return looked_at


Reader = Annotated[Caller, Depends(May("read"))]
Looker = Annotated[Caller, Depends(Looks("read"))]
Writer = Annotated[Caller, Depends(May("write"))]
Administrator = Annotated[Caller, Depends(May("administer"))]
Measurer = Annotated[Caller, Depends(May("measure"))]


async def unwelcome(connection: HTTPConnection) -> NoReturn:
    """Wait until the key or login that opened a connection counts no more, or for less, or the server stops."""
    pincite: AsyncPincite = connection.app.state.pincite
    stopping: asyncio.Event = connection.app.state.stopping
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STILL_WELCOME_S):
                await stopping.wait()
        if stopping.is_set():
            raise Stopping("the server is stopping; try again shortly")
        try:
            if (await _recognise(pincite, connection.scope)).role != connection.state.caller.role:
                raise Unauthorized("what you may do here has changed; connect again")
        except Unavailable as error:  # nobody was told to leave
            log.debug("a key could not be checked again: %s", error)


def right_of(route: APIRoute | APIWebSocketRoute) -> str | None:
    """The right a route declares, if it declares one."""
    calls = (dependency.call for dependency in route.dependant.dependencies)
    return next((call.right for call in calls if isinstance(call, May)), None)


def undeclared(routers: Iterable[APIRouter]) -> list[str]:
    """Routes that are neither open nor say what right they take."""
    routes = [route for router in routers for route in router.routes]
    return [
        getattr(route, "path", str(route))
        for route in routes
        if not isinstance(route, APIRoute | APIWebSocketRoute) or not (is_open(route.path) or right_of(route))
    ]
