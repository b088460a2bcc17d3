"""Who comes in, by the key they bring, and what their role may do.

Open to anyone are only `/`, the two health routes that tell nothing, and the OpenAPI description, which says
what the documentation says. Everything else needs a key before a byte of its body is read, and a route that
does not declare what right it takes keeps the server from starting.
"""

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from typing import Annotated, NoReturn
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends
from fastapi.openapi.models import HTTPBearer
from fastapi.routing import APIRoute, APIWebSocketRoute
from fastapi.security.base import SecurityBase
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from pincite.access import require
from pincite.api import API
from pincite.core.callers import Caller
from pincite.engine import AsyncPincite
from pincite.errors import Stopping, Unauthorized, Unavailable

log = logging.getLogger(__name__)

OPENAPI = f"{API}/openapi.json"
OPEN = frozenset({"/", f"{API}/health/live", f"{API}/health/ready", OPENAPI})
STILL_WELCOME_S = 3.0
"""How often whoever listens for long is asked for the key again."""
_KEYS_IN_ADDRESSES = frozenset({"key", "api_key", "apikey", "token", "access_token", "authorization"})


class Authenticate:
    """Middleware that finds out who the caller is, from the header `Authorization: Bearer KEY` alone."""

    def __init__(self, app: ASGIApp, pincite: AsyncPincite) -> None:
        self._app = app
        self._pincite = pincite

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope["path"] not in OPEN:
            scope["state"]["caller"] = await self._pincite.keys.recognise(_key(scope))
        await self._app(scope, receive, send)


def _key(scope: Scope) -> str:
    if any(name.lower() in _KEYS_IN_ADDRESSES for name, _ in parse_qsl(scope["query_string"].decode("latin-1"))):
        raise Unauthorized("a key in the address ends up in logs; send the header Authorization: Bearer KEY")
    given = Headers(scope=scope).getlist("authorization")
    scheme, _, key = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthorized("send a key in the header Authorization: Bearer KEY")
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


Reader = Annotated[Caller, Depends(May("read"))]
Writer = Annotated[Caller, Depends(May("write"))]
Administrator = Annotated[Caller, Depends(May("administer"))]
Measurer = Annotated[Caller, Depends(May("measure"))]


async def unwelcome(connection: HTTPConnection) -> NoReturn:
    """Wait until the key that opened a connection counts no more, or the server stops."""
    pincite: AsyncPincite = connection.app.state.pincite
    stopping: asyncio.Event = connection.app.state.stopping
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), STILL_WELCOME_S)
        if stopping.is_set():
            raise Stopping("the server is stopping; try again shortly")
        try:
            await pincite.keys.recognise(_key(connection.scope))
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
        if not isinstance(route, APIRoute | APIWebSocketRoute) or (route.path not in OPEN and right_of(route) is None)
    ]
