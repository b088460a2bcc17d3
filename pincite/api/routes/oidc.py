"""Login through an OpenID Connect provider: redirect and callback."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import client_address
from pincite.api.paths import API
from pincite.api.routes.auth import set_login_cookie
from pincite.engine.app import AsyncPincite
from pincite.engine.sso import LOGIN_TIMEOUT_S, Returned, SingleSignOn
from pincite.errors import NotFound

OIDC_PATH = f"{API}/auth/oidc"
OIDC_COOKIE = "pincite_oidc"
"""Name of the cookie that holds a login attempt; it is sent to these two routes only."""
router = APIRouter(prefix=OIDC_PATH, tags=["auth"])

QueryText = Annotated[str, Query(max_length=4000)]


def _sign_on(pincite: AsyncPincite) -> SingleSignOn:
    if pincite.admin.sso is None:
        raise NotFound("login through a provider is not configured; set oidc.issuer")
    return pincite.admin.sso


def _callback_url(request: Request) -> str:
    """The callback URL of this server; the setting oidc.redirect_url takes precedence."""
    return f"{request.url.scheme}://{request.url.netloc}{OIDC_PATH}/callback"


def _is_secure(request: Request, pincite: AsyncPincite) -> bool:
    return (pincite.settings.oidc.redirect_url or _callback_url(request)).startswith("https:")


@router.get("/login", response_class=RedirectResponse, status_code=303)
async def login(request: Request, pincite: Engine) -> RedirectResponse:
    """Redirect the browser to the provider."""
    address, attempt = await _sign_on(pincite).begin(_callback_url(request))
    response = RedirectResponse(address, 303)
    response.set_cookie(
        OIDC_COOKIE,
        attempt.secret,
        max_age=LOGIN_TIMEOUT_S,
        path=OIDC_PATH,
        httponly=True,
        samesite="lax",  # the callback is a navigation from another site
        secure=_is_secure(request, pincite),
    )
    return response


@router.get("/callback", response_class=RedirectResponse, status_code=303)
async def callback(
    request: Request, pincite: Engine, code: QueryText = "", state: QueryText = "", iss: QueryText = ""
) -> RedirectResponse:
    """Complete the login after the provider's redirect."""
    returned = Returned(code, state, iss, request.cookies.get(OIDC_COOKIE, ""))
    token, _ = await _sign_on(pincite).finish(returned, _callback_url(request), client_address(request))
    response = RedirectResponse("/", 303)
    set_login_cookie(response, token, secure=_is_secure(request, pincite))
    response.delete_cookie(OIDC_COOKIE, path=OIDC_PATH, httponly=True, samesite="lax")
    return response
