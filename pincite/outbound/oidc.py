"""Client of an OpenID Connect provider: discovery, authorization code flow with PKCE, and token verification."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2

from pincite.config.branches.server import Oidc
from pincite.core.accounts.users import Identity
from pincite.errors import ProviderBusy, ProviderError, SettingsError, Unauthorized
from pincite.outbound.client import ssl_context

ALGORITHMS = ("RS256", "ES256")
"""Accepted signature algorithms: only asymmetric ones, never `none` or a shared secret."""

KEY_TYPES = {"RS256": "RSA", "ES256": "EC"}
LEEWAY_S = 60
"""Tolerated clock difference to the provider."""

CACHE_S = 3600.0
MIN_REFRESH_S = 10.0
"""Cache lifetime of the provider's keys, and the minimum time before they are fetched again for an unknown key."""

MAX_RESPONSE_BYTES = 1024 * 1024
MAX_TOKEN_CHARS = 16 * 1024
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_METHODS = "token_endpoint_auth_methods_supported"
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One login attempt; state, nonce and verifier are derived from a secret that only the browser stores."""

    secret: str

    @classmethod
    def new(cls) -> "Attempt":
        """Create an attempt with a random secret."""
        return cls(secrets.token_urlsafe(32))

    @property
    def state(self) -> str:
        """Proves that the returning browser started this login."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """Proves that a token was issued for this login."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """The PKCE code verifier, needed to redeem the code."""
        return self._derived("verifier")

    def _derived(self, what: str) -> str:
        return _base64(hmac.digest(self.secret.encode(), what.encode(), "sha256"))


class Provider:
    """The configured provider; its metadata is fetched when first needed and cached for an hour."""

    def __init__(self, settings: Oidc) -> None:
        _check_settings(settings)
        self._settings = settings
        self._found: tuple[float, Mapping[str, Any]] | None = None
        self._keys: tuple[float, Mapping[str, Mapping[str, Any]]] = (-CACHE_S, {})

    @property
    def issuer(self) -> str:
        """The issuer URL."""
        return self._settings.issuer

    async def address(self, attempt: Attempt, redirect: str) -> str:
        """Return the URL of the provider's login page for an attempt."""
        found = await self._discovered()
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": redirect,
            "scope": " ".join(self._settings.scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": _base64(hashlib.sha256(attempt.verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        endpoint = str(found["authorization_endpoint"])
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    async def identity(self, attempt: Attempt, code: str, redirect: str) -> Identity:
        """Redeem a code and return the user's identity; raises `Unauthorized` if the token is not valid."""
        found = await self._discovered()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "client_id": self._settings.client_id,
            "code_verifier": attempt.verifier,
        }
        secret, login = self._settings.client_secret, None
        if secret is not None and "client_secret_basic" in found.get(_METHODS, ["client_secret_basic"]):
            login = quote(self._settings.client_id, safe=""), quote(secret.get_secret_value(), safe="")
        elif secret is not None:
            form["client_secret"] = secret.get_secret_value()
        answer = await self._fetch(str(found["token_endpoint"]), form, login)
        token = answer.get("id_token")
        if not isinstance(token, str) or len(token) > MAX_TOKEN_CHARS:
            raise login_refused("the provider sent no token")
        return self._identity(await self._claims(token, attempt))

    async def _claims(self, token: str, attempt: Attempt) -> Mapping[str, Any]:
        """Return the claims of a token after verifying its signature, issuer, audience, nonce and age."""
        import jwt

        try:
            header = jwt.get_unverified_header(token)
            algorithm, kid = header.get("alg"), header.get("kid")
            if algorithm not in ALGORITHMS:
                raise login_refused("the signature algorithm of the token is not accepted")
            key = await self._key(kid, algorithm)
            claims: Mapping[str, Any] = jwt.decode(
                token,
                jwt.PyJWK(dict(key), algorithm).key,
                algorithms=[algorithm],
                audience=self._settings.client_id,
                issuer=self.issuer,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise login_refused(f"the token is not valid ({type(error).__name__})") from None
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), attempt.nonce.encode()):
            raise login_refused("the token was issued for another login")
        if claims.get("azp", self._settings.client_id) != self._settings.client_id:
            raise login_refused("the token was issued for another client")
        return claims

    async def _key(self, kid: object, algorithm: str) -> Mapping[str, Any]:
        """Return the provider's key with this id; the keys are fetched again if it is unknown."""
        if not isinstance(kid, str):
            raise login_refused("the token has no key id")
        fetched, keys = self._keys
        age = time.monotonic() - fetched
        if age > CACHE_S or (kid not in keys and age > MIN_REFRESH_S):
            found = await self._discovered()
            answer = await self._fetch(str(found["jwks_uri"]))
            listed = answer.get("keys")
            keys = {
                str(one["kid"]): one
                for one in (listed if isinstance(listed, list) else [])
                if isinstance(one, dict) and "kid" in one and one.get("use", "sig") == "sig"
            }
            self._keys = time.monotonic(), keys
        key = keys.get(kid)
        if key is None or key.get("kty") != KEY_TYPES[algorithm] or key.get("alg", algorithm) != algorithm:
            raise login_refused("the provider does not have the key of the token")
        return key

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        named = claims.get(self._settings.name_claim)
        if self._settings.name_claim == "email" and claims.get("email_verified") is not True:
            raise login_refused("the provider has not verified the e-mail address")
        if not isinstance(named, str) or not named.strip():
            raise login_refused(f"the token has no '{self._settings.name_claim}' (oidc.name_claim)")
        groups = claims.get(self._settings.groups_claim) if self._settings.groups_claim else None
        listed = groups if isinstance(groups, list) else [groups]
        return Identity(
            self.issuer, str(claims["sub"]), named.strip(), tuple(one for one in listed if isinstance(one, str))
        )

    async def _discovered(self) -> Mapping[str, Any]:
        if self._found is not None and time.monotonic() - self._found[0] < CACHE_S:
            return self._found[1]
        found = await self._fetch(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self.issuer:
            raise ProviderError(f"{self.issuer} reports another issuer; correct oidc.issuer")
        for name in _ENDPOINTS:
            self._check_endpoint(name, found.get(name))
        self._found = time.monotonic(), found
        return found

    def _check_endpoint(self, name: str, address: object) -> None:
        """Check that an endpoint is on an allowed host, since secrets are sent there and keys come from there."""
        given, own = urlsplit(str(address)), urlsplit(self.issuer)
        hosts = {own.netloc.lower(), *(host.lower() for host in self._settings.allow_hosts)}
        if given.scheme != own.scheme or given.netloc.lower() not in hosts:
            raise ProviderError(
                f"{self.issuer} has its {name} on another host; if that is right, add the host to oidc.allow_hosts"
            )

    async def _fetch(
        self, address: str, form: Mapping[str, str] | None = None, login: tuple[str, str] | None = None
    ) -> Mapping[str, Any]:
        """Request a JSON object from the provider; redirects are not followed."""
        outside, body = urlsplit(address).hostname not in _LOCAL_HOSTS, bytearray()
        method, timeout = "GET" if form is None else "POST", self._settings.timeout_s
        try:
            async with (
                httpx2.AsyncClient(timeout=timeout, trust_env=outside, verify=ssl_context(outside)) as client,
                client.stream(method, address, data=form, auth=login) as response,
            ):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > MAX_RESPONSE_BYTES:
                        raise ProviderError(f"{self.issuer} sent more than {MAX_RESPONSE_BYTES:,} bytes")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ProviderBusy(
                f"{self.issuer} cannot be reached ({type(error).__name__}); check that it is running, and oidc.issuer",
                code="provider_unreachable",
            ) from error
        if form is not None and response.status_code in (400, 401, 403):
            raise login_refused("the provider rejected the code")
        return self._object(bytes(body), response.status_code)

    def _object(self, body: bytes, status: int) -> Mapping[str, Any]:
        try:
            found = json.loads(body) if status == 200 else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ProviderError(
                f"{self.issuer} does not respond like an OpenID Connect provider (HTTP {status}); check oidc.issuer"
            )
        return found


def login_refused(why: str) -> Unauthorized:
    """Return the error for a refused login; it contains nothing of the token."""
    return Unauthorized(f"the login was refused: {why}", code="oidc_refused")


def _check_settings(settings: Oidc) -> None:
    """Check the settings when the service starts."""
    try:
        import jwt  # noqa: F401
    except ImportError as error:
        raise SettingsError("oidc.issuer needs the extra 'oidc': in the checkout, pip install '.[oidc]'") from error
    parts = urlsplit(settings.issuer)
    if not parts.hostname or (
        parts.scheme != "https" and (parts.scheme, parts.hostname in _LOCAL_HOSTS) != ("http", True)
    ):
        raise SettingsError("oidc.issuer must be an https URL such as https://login.example/realms/staff")
    if not settings.client_id:
        raise SettingsError("oidc.client_id is empty; set it to the client id of this service at the provider")


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
