"""Login, logout, and setup of the first administrator."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import Engine, Reader
from pincite.api.middleware.authenticate import LOGIN_COOKIE, client_address, login_cookie
from pincite.api.paths import API
from pincite.core.accounts.access import Caller
from pincite.core.accounts.users import LOGIN_DAYS
from pincite.engine.app import AsyncPincite
from pincite.errors import NotFound, Unauthorized
from pincite.serialize.fields import Body, Name

router = APIRouter(prefix=f"{API}/auth", tags=["auth"])

UserName = Annotated[Name, Field(min_length=1, max_length=100)]
LoginSecret = Annotated[Name, Field(max_length=1000)]


class LoginBody(Body):
    """The name and password of a user."""

    name: UserName
    password: LoginSecret


class SetupBody(LoginBody):
    """The first administrator's name and password, and the token of the printed setup link."""

    token: LoginSecret


def _login_response(request: Request, token: str, caller: Caller) -> JSONResponse:
    response = JSONResponse({"id": caller.person, "role": caller.role})
    set_login_cookie(response, token, secure=request.url.scheme == "https")
    return response


def set_login_cookie(response: Response, token: str, *, secure: bool) -> None:
    """Set the login cookie on a response."""
    days = LOGIN_DAYS * 86_400
    response.set_cookie(LOGIN_COOKIE, token, max_age=days, httponly=True, samesite="strict", secure=secure)


@router.get("/ways")
async def ways(request: Request, pincite: Engine) -> JSONResponse:
    """The available login methods, and the user whose login cookie was sent; null if it is missing or expired."""
    oidc, setup = pincite.admin.sso is not None, await pincite.admin.logins.needs_setup()
    return JSONResponse({"oidc": oidc, "setup": setup, "user": await _logged_in(request, pincite)})


async def _logged_in(request: Request, pincite: AsyncPincite) -> dict[str, Any] | None:
    """The user of the login cookie, as `GET /me` shows them."""
    try:
        caller = await pincite.admin.logins.recognise(login_cookie(request.scope) or "")
        return asdict(await pincite.admin.users.own_profile(caller.person, caller.role))
    except (Unauthorized, NotFound):
        return None


@router.post("/setup")
async def setup(body: SetupBody, request: Request, pincite: Engine) -> JSONResponse:
    """Create the first administrator, once; 409 afterwards."""
    token, caller = await pincite.admin.logins.set_up(body.token, body.name.strip() or body.name, body.password)
    return _login_response(request, token, caller)


@router.post("/login")
async def login(body: LoginBody, request: Request, pincite: Engine) -> JSONResponse:
    """Log in and set the login cookie; 401 for a wrong name or password, 429 after too many attempts."""
    token, caller = await pincite.admin.logins.log_in(body.name, body.password, client_address(request))
    return _login_response(request, token, caller)


@router.post("/logout")
async def logout(request: Request, pincite: Engine, caller: Reader) -> JSONResponse:
    """Log out: end the login of this request."""
    if (token := login_cookie(request.scope)) is not None:
        await pincite.admin.logins.log_out(caller.person, token)
    response = JSONResponse({"logged_out": True})
    response.delete_cookie(LOGIN_COOKIE, httponly=True, samesite="strict")
    return response
