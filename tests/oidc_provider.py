"""A small OpenID Connect provider in a thread; a test chooses the user it reports, and can make it misbehave."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

CLIENT, SECRET = "pincite", "s:ecret/ü"
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _jwk(told: Any, **more: str) -> dict[str, Any]:
    return {**told, "use": "sig", **more}


KEYS = [
    _jwk(RSAAlgorithm.to_jwk(RSA_KEY.public_key(), as_dict=True), kid="rsa-1", alg="RS256"),
    _jwk(ECAlgorithm.to_jwk(EC_KEY.public_key(), as_dict=True), kid="ec-1", alg="ES256"),
]


@dataclass
class OidcProvider:
    """The provider's state; tests change it."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "s-1", "preferred_username": "anna"})
    discovery: dict[str, Any] = field(default_factory=dict)
    keys: list[dict[str, Any]] = field(default_factory=lambda: list(KEYS))
    sign: Callable[[dict[str, Any]], str] | None = None
    methods: tuple[str, ...] = ("client_secret_basic",)
    asked: list[str] = field(default_factory=list)
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def described(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint_auth_methods_supported": list(self.methods),
            **self.discovery,
        }

    def authorize(self, query: Mapping[str, str]) -> str:
        """Accept a login at once; return the URL the browser is redirected to."""
        assert (query["response_type"], query["client_id"]) == ("code", CLIENT)
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(8)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.url})}"

    def token(self, form: Mapping[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        query = self.codes.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            query is None
            or form.get("redirect_uri") != query["redirect_uri"]
            or challenge.rstrip(b"=").decode() != query["code_challenge"]
            or not self._is_client(form, authorization)
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": query["nonce"], **self.claims}
        made = {name: value for name, value in claims.items() if value is not None}
        return 200, {"id_token": (self.sign or signed)(made), "access_token": "unused", "token_type": "Bearer"}

    def _is_client(self, form: Mapping[str, str], authorization: str) -> bool:
        if self.methods == ("client_secret_post",):
            return form.get("client_secret") == SECRET
        basic = base64.b64encode(b"pincite:s%3Aecret%2F%C3%BC").decode()
        return authorization == f"Basic {basic}"


def signed(claims: dict[str, Any], key: Any = RSA_KEY, kid: str | None = "rsa-1", algorithm: str = "RS256") -> str:
    """Return a valid token."""
    return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": kid} if kid else None)


@contextmanager
def provider() -> Iterator[OidcProvider]:
    """Run a provider for the duration of the block."""
    told = OidcProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            told.asked.append(parts.path)
            if parts.path == "/.well-known/openid-configuration":
                self._json(200, told.described())
            elif parts.path == "/keys":
                self._json(200, {"keys": told.keys})
            elif parts.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self.send_response(302)
                self.send_header("Location", told.authorize(query))
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                self._json(404, {})

        def do_POST(self) -> None:
            told.asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._json(*told.token(form, self.headers.get("Authorization", "")))

        def _json(self, status: int, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
