"""Logging in through a provider: there and back again."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import address_of
from pincite.api.paths import API
from pincite.api.routes.auth import hold
from pincite.engine.app import AsyncPincite
from pincite.engine.sso import LOGIN_TIMEOUT_S, Returned, SingleSignOn
from pincite.errors import NotFound

PLACE = f"{API}/auth/oidc"
COOKIE = "pincite_oidc"
"""What a browser keeps while it is away; it goes to these two routes alone."""
router = APIRouter(prefix=PLACE, tags=["auth"])

Given = Annotated[str, Query(max_length=4000)]


def _sign_on(pincite: AsyncPincite) -> SingleSignOn:
    if pincite.admin.sso is None:
        raise NotFound("there is no login through a provider here (oidc.issuer)")
    return pincite.admin.sso


def _back(request: Request) -> str:
    """Where the provider sends the browser back to, where no setting says it."""
    return f"{request.url.scheme}://{request.url.netloc}{PLACE}/callback"


def _secure(request: Request, pincite: AsyncPincite) -> bool:
    return (pincite.settings.oidc.redirect_url or _back(request)).startswith("https:")


@router.get("/login", response_class=RedirectResponse, status_code=303)
async def login(request: Request, pincite: Engine) -> RedirectResponse:
    """Send the browser to the provider."""
    address, attempt = await _sign_on(pincite).begin(_back(request))
    response = RedirectResponse(address, 303)
    response.set_cookie(
        COOKIE,
        attempt.secret,
        max_age=LOGIN_TIMEOUT_S,
        path=PLACE,
        httponly=True,
        samesite="lax",  # it comes back from another site
        secure=_secure(request, pincite),
    )
    return response


@router.get("/callback", response_class=RedirectResponse, status_code=303)
async def callback(
    request: Request, pincite: Engine, code: Given = "", state: Given = "", iss: Given = ""
) -> RedirectResponse:
    """Log in who comes back from the provider."""
    returned = Returned(code, state, iss, request.cookies.get(COOKIE, ""))
    token, _ = await _sign_on(pincite).finish(returned, _back(request), address_of(request))
    response = RedirectResponse("/", 303)
    hold(response, token, secure=_secure(request, pincite))
    response.delete_cookie(COOKIE, path=PLACE, httponly=True, samesite="lax")
    return response
