"""Errors as problem details (RFC 9457): never a traceback, always a request id."""

import asyncio
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.api.middleware.connection_limits import BACK_OFF
from pincite.config.messages import describe_error
from pincite.errors import (
    BadRequest,
    DataFolderError,
    Invalid,
    NotFound,
    OverBudget,
    Overloaded,
    PinciteError,
    SettingsError,
    Stopping,
    StoreDown,
    Unauthorized,
)

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
_INTERNAL = (StoreDown, DataFolderError, SettingsError)
"""Errors whose message names addresses and paths of this machine: it is logged, and the client gets the title."""
OPENAI_PREFIX = "/v1/"
"""Path prefix of the routes that are compatible with OpenAI's API."""
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_BY_STATUS = {404: NotFound("there is no resource at this path")}


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as the client sees it."""

    status: int
    code: str
    title: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    param: str | None = None
    """The field of the request that is wrong, as the client named it."""

    def to_json(self, request_id: str) -> dict[str, Any]:
        """The problem as JSON."""
        return {
            "type": f"urn:pincite:error:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail.encode(errors="replace").decode(),
            "code": self.code,
            "request_id": request_id,
        }

    def to_openai_json(self) -> dict[str, Any]:
        """The problem in the error format of OpenAI's API."""
        kind = _OPENAI_TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        detail = self.detail.encode(errors="replace").decode()
        return {"error": {"message": detail, "type": kind, "param": self.param, "code": self.code}}

    def response(self, scope: Scope) -> Response:
        """The problem as a response, in the error format of the requested path."""
        if str(scope["path"]).startswith(OPENAI_PREFIX):
            status = 400 if self.status == 422 else self.status  # OpenAI's clients know no 422 of a wrong value
            return JSONResponse(self.to_openai_json(), status, dict(self.headers))
        body = self.to_json(get_request_id(scope))
        return JSONResponse(body, self.status, dict(self.headers), media_type=MEDIA_TYPE)


def get_request_id(scope: Scope) -> str:
    """The id of a request, as in responses and the log."""
    return str(scope["state"]["request_id"])


def to_problem(error: BaseException, request_id: str) -> Problem:
    """Convert an error to a problem; internal details go to the log only."""
    if isinstance(error, PinciteError):
        return _from_pincite_error(error, request_id)
    if isinstance(error, RequestValidationError):
        problem = _from_pincite_error(Invalid(_first_validation_error(error)), request_id)
        return replace(problem, param=_path(error.errors()[0]) or None)
    if isinstance(error, HTTPException):
        return _from_framework(error, request_id)
    if isinstance(error, asyncio.CancelledError):
        return _from_pincite_error(Stopping("the server is stopping; try again shortly"), request_id)
    log.error("request %s failed with an unexpected error", request_id, exc_info=error)
    detail = "an unexpected error occurred; the server's log has the details under this request id"
    return Problem(500, "internal", "An unexpected error", detail)


def _from_pincite_error(error: PinciteError, request_id: str) -> Problem:
    detail = " ".join(str(error).split())
    if error.status >= 500 and not isinstance(error, Stopping | Overloaded):
        log.error("request %s failed: %s", request_id, detail)
    if isinstance(error, _INTERNAL):
        detail = f"{error.title.lower()}; the server's log has the details under this request id"
    return Problem(error.status, error.code, error.title, detail, _headers(error))


def _headers(error: PinciteError) -> dict[str, str]:
    """Response headers of an error: how to authenticate, or when to retry."""
    if isinstance(error, Unauthorized):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, OverBudget | Overloaded) and error.retry_after_s is not None:
        return {"Retry-After": str(max(1, math.ceil(error.retry_after_s)))}
    return {}


def _from_framework(error: HTTPException, request_id: str) -> Problem:
    """Convert an error of the framework: an unknown route, or a body it cannot parse."""
    cause = error.__cause__
    if isinstance(cause, PinciteError):
        return _from_pincite_error(cause, request_id)
    if isinstance(cause, RecursionError):
        return _from_pincite_error(Invalid("the JSON is nested too deeply"), request_id)
    if isinstance(cause, ValueError):
        return _from_pincite_error(Invalid("the body is not valid JSON in UTF-8"), request_id)
    if error.status_code == 405:
        detail = "this path does not support that method; the header Allow lists the supported ones"
        return Problem(405, "method_not_allowed", "Method not allowed", detail, dict(error.headers or {}))
    return _from_pincite_error(_BY_STATUS.get(error.status_code, BadRequest(str(error.detail))), request_id)


def _first_validation_error(error: RequestValidationError) -> str:
    """The first validation error in one line that names the field."""
    first = error.errors()[0]
    path = _path(first)
    if first["type"] == "json_invalid":
        return f"the body is not valid JSON: {first['ctx']['error']} at character {path}"
    if first["type"] == "missing" and not path:
        return "the body is missing; send a JSON object"
    return f"{path}: {describe_error(first)}" if path else describe_error(first)


def _path(error: Mapping[str, Any]) -> str:
    """The field that an error is about, as a dotted path."""
    return ".".join(str(part) for part in error["loc"][1:] if "[" not in str(part))


async def handle_error(request: Request, error: Exception) -> Response:
    """Handle the errors to which the framework would otherwise respond itself."""
    request_id = get_request_id(request.scope)
    return to_problem(error, request_id).response(request.scope)


class Problems:
    """Middleware that converts every exception of the application into a problem.

    A cancelled request means that the server is stopping, as nothing else cancels requests.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        started = False

        async def track_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, track_start)
        except ClientDisconnect:
            log.debug("request %s: the client went away", get_request_id(scope))
        except (Exception, asyncio.CancelledError) as error:
            request_id = get_request_id(scope)
            problem = to_problem(error, request_id)
            if isinstance(error, OverBudget) and error.retry_after_s is not None:
                scope["state"][BACK_OFF] = True
            if not started:
                await problem.response(scope)(scope, receive, send)
        return None
