"""FastAPI dependencies of the routes: the engine, admission control, and the caller with a required permission."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.openapi.models import HTTPBearer
from fastapi.routing import APIRoute, APIWebSocketRoute
from fastapi.security.base import SecurityBase
from starlette.requests import HTTPConnection

from pincite.api.admission.admission import Admission
from pincite.api.middleware.authenticate import is_public
from pincite.api.paths import API
from pincite.core import request_context
from pincite.core.accounts.access import Caller, require
from pincite.engine.app import AsyncPincite

MAX_AUDIT_PATH_CHARS = 300
"""Characters of a request path that the audit log stores."""


async def _engine(connection: HTTPConnection) -> AsyncPincite:
    engine: AsyncPincite = connection.app.state.pincite
    return engine


async def _admission(connection: HTTPConnection) -> Admission:
    admission: Admission = connection.app.state.admission
    return admission


class Permission(SecurityBase):
    """Dependency that requires a permission of the caller and returns the caller."""

    scheme_name = "key"
    model = HTTPBearer(description="A key made with `pincite key create`.")

    def __init__(self, right: str) -> None:
        self.right = right

    async def __call__(self, connection: HTTPConnection) -> Caller:
        caller: Caller = connection.state.caller
        require(caller, self.right)
        return caller


class PermissionAsOwner(Permission):
    """Like `Permission`; with `?owner=`, an administrator reads as that user, read-only and audited."""

    async def __call__(
        self, connection: HTTPConnection, owner: Annotated[str | None, Query(min_length=1, max_length=100)] = None
    ) -> Caller:
        caller = await super().__call__(connection)
        if owner is None:
            return caller
        pincite: AsyncPincite = connection.app.state.pincite
        path = connection.scope["path"].removeprefix(API)[:MAX_AUDIT_PATH_CHARS]
        as_owner = await pincite.admin.read_as(caller, owner, path)
        request_context.read_only.set(True)
        return as_owner


Engine = Annotated[AsyncPincite, Depends(_engine)]
AdmissionControl = Annotated[Admission, Depends(_admission)]
Reader = Annotated[Caller, Depends(Permission("read"))]
ReaderAsOwner = Annotated[Caller, Depends(PermissionAsOwner("read"))]
Writer = Annotated[Caller, Depends(Permission("write"))]
Administrator = Annotated[Caller, Depends(Permission("administer"))]
MetricsReader = Annotated[Caller, Depends(Permission("measure"))]


def required_permission(route: APIRoute | APIWebSocketRoute) -> str | None:
    """The permission that a route requires, or None if it declares none."""
    calls = (dependency.call for dependency in route.dependant.dependencies)
    return next((call.right for call in calls if isinstance(call, Permission)), None)


def routes_without_permission(routers: Iterable[APIRouter]) -> list[str]:
    """Paths of the routes that are neither public nor declare a required permission."""
    routes = [route for router in routers for route in router.routes]
    return [
        getattr(route, "path", str(route))
        for route in routes
        if not isinstance(route, APIRoute | APIWebSocketRoute)
        or not (is_public(route.path) or required_permission(route))
    ]
