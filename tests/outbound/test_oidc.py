"""What a provider's tokens prove, and what does not count for one."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pincite.config.branches.server import Oidc
from pincite.core.accounts.users import Identity
from pincite.errors import PinciteError, ProviderBusy, ProviderError, SettingsError, Unauthorized
from pincite.outbound import oidc
from pincite.outbound.oidc import Attempt, Provider
from tests.oidc_provider import CLIENT, EC_KEY, OTHER_KEY, RSA_KEY, SECRET, OidcProvider, provider, signed

BACK = "http://127.0.0.1/back"


@pytest.fixture
def there() -> Iterator[OidcProvider]:
    with provider() as found:
        yield found


def settings(there: OidcProvider, **more: Any) -> Oidc:
    return Oidc(**{"issuer": there.url, "client_id": CLIENT, "client_secret": SECRET, **more})


async def gone_through(there: OidcProvider, own: Provider, attempt: Attempt | None = None) -> Identity:
    """The way a browser goes, without a browser."""
    attempt = attempt or Attempt.new()
    address = await own.address(attempt, BACK)
    returned = dict(parse_qsl(urlsplit(there.authorize(dict(parse_qsl(urlsplit(address).query)))).query))
    assert returned["state"] == attempt.state
    return await own.identity(attempt, returned["code"], BACK)


def log_in(there: OidcProvider, **more: Any) -> Identity:
    return asyncio.run(gone_through(there, Provider(settings(there, **more))))


def why(there: OidcProvider, kind: type[PinciteError] = Unauthorized, **more: Any) -> str:
    with pytest.raises(kind) as refused:
        log_in(there, **more)
    assert SECRET not in str(refused.value)
    return str(refused.value)


def test_a_valid_token_identifies_the_user(there: OidcProvider) -> None:
    there.claims["groups"] = ["staff", 7, "admins"]
    assert log_in(there) == Identity(there.url, "s-1", "anna", ())
    assert log_in(there, groups_claim="groups") == Identity(there.url, "s-1", "anna", ("staff", "admins"))
    there.sign = lambda claims: signed(claims, EC_KEY, "ec-1", "ES256")
    there.methods = ("client_secret_post",)
    assert log_in(there).name == "anna"


def _unsigned(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, None, algorithm="none", headers={"kid": "rsa-1"})


def _public_key_as_secret(claims: dict[str, Any]) -> str:
    """The old trick: the public key, which everybody has, used as a secret that both know."""
    import base64
    import hmac

    pem = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    parts = [{"alg": "HS256", "typ": "JWT", "kid": "rsa-1"}, claims]
    text = ".".join(base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=").decode() for p in parts)
    signature = base64.urlsafe_b64encode(hmac.digest(pem, text.encode(), "sha256")).rstrip(b"=").decode()
    return f"{text}.{signature}"


def _changed(claims: dict[str, Any]) -> str:
    import base64

    head, _, signature = signed(claims).split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims | {"sub": "s-2"}).encode()).rstrip(b"=").decode()
    return f"{head}.{body}.{signature}"


FORGED: dict[str, Callable[[dict[str, Any]], str]] = {
    "not signed": _unsigned,
    "HS256 with the public key": _public_key_as_secret,
    "HS256 with the client's secret": lambda claims: signed(claims, SECRET * 4, "rsa-1", "HS256"),
    "another's key under a known name": lambda claims: signed(claims, OTHER_KEY),
    "a name nobody knows": lambda claims: signed(claims, RSA_KEY, "rsa-2"),
    "a path for a name": lambda claims: signed(claims, RSA_KEY, "../../../../dev/null"),
    "an address for a name": lambda claims: signed(claims, RSA_KEY, "http://127.0.0.1:1/keys"),
    "no name": lambda claims: signed(claims, RSA_KEY, None),
    "a key of another kind": lambda claims: signed(claims, RSA_KEY, "ec-1"),
    "an algorithm that is not for its key": lambda claims: signed(claims, RSA_KEY, "rsa-1", "PS256"),
    "changed on the way": _changed,
    "no token": lambda claims: "nonsense",
    "empty": lambda claims: "",
    "huge": lambda claims: signed(claims | {"x": "x" * 20_000}),
}


@pytest.mark.parametrize("how", sorted(FORGED))
def test_a_token_that_the_provider_did_not_sign_is_refused(there: OidcProvider, how: str) -> None:
    there.sign = FORGED[how]
    assert "the login was refused" in why(there)


LONG_AGO, SOON = time.time() - 3600, time.time() + 3600


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": LONG_AGO},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": SOON},
        {"iat": SOON},
        {"iat": None},
        {"aud": "another"},
        {"aud": ["another"]},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"sub": None},
        {"sub": 7},
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": 7},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"preferred_username": None},
        {"preferred_username": " "},
        {"preferred_username": ["anna"]},
    ],
)
def test_a_token_that_is_over_or_for_somebody_else_is_refused(there: OidcProvider, claims: dict[str, Any]) -> None:
    there.claims |= claims
    why(there)


def test_an_address_that_is_not_verified_is_no_name(there: OidcProvider) -> None:
    there.claims |= {"email": "anna@example.com"}
    assert "has not verified" in why(there, name_claim="email")
    there.claims |= {"email_verified": True}
    assert log_in(there, name_claim="email").name == "anna@example.com"


def test_a_code_cannot_be_used_by_another_browser(there: OidcProvider) -> None:
    async def steal() -> None:
        own, attempt = Provider(settings(there)), Attempt.new()
        address = await own.address(attempt, BACK)
        sent = urlsplit(there.authorize(dict(parse_qsl(urlsplit(address).query))))
        await own.identity(Attempt.new(), dict(parse_qsl(sent.query))["code"], BACK)

    with pytest.raises(Unauthorized, match="rejected the code"):
        asyncio.run(steal())


def test_keys_are_kept_and_fetched_again_only_for_one_that_may_be_new(
    there: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def often() -> None:
        own = Provider(settings(there))
        for _ in range(3):
            await gone_through(there, own)
        assert there.asked.count("/keys") == 1
        assert there.asked.count("/.well-known/openid-configuration") == 1
        there.sign = lambda claims: signed(claims, OTHER_KEY, "rsa-2")
        for _ in range(3):
            with pytest.raises(Unauthorized):
                await gone_through(there, own)
        assert there.asked.count("/keys") == 1  # whoever makes names up does not make us call
        monkeypatch.setattr(oidc, "MIN_REFRESH_S", -1.0)
        rotated = jwt.algorithms.RSAAlgorithm.to_jwk(OTHER_KEY.public_key(), as_dict=True)
        there.keys.append({**rotated, "kid": "rsa-2"})
        assert (await gone_through(there, own)).name == "anna"
        assert there.asked.count("/keys") == 2

    asyncio.run(often())


def test_what_a_try_sends_follows_from_its_secret_and_tells_nothing_about_it() -> None:
    attempt, other = Attempt("a" * 43), Attempt.new()
    assert attempt == Attempt("a" * 43)
    sent = {attempt.state, attempt.nonce, attempt.verifier, other.state, other.nonce, other.verifier}
    assert len(sent) == 6
    assert all(len(one) == 43 for one in sent)
    assert len(other.secret) == 43


@pytest.mark.parametrize(
    ("discovery", "said"),
    [
        ({"issuer": "https://evil.example"}, "another issuer"),
        ({"token_endpoint": "https://evil.example/token"}, "token_endpoint on another host"),
        ({"jwks_uri": "http://127.0.0.1:1/keys"}, "jwks_uri on another host"),
        ({"jwks_uri": "file:///etc/passwd"}, "jwks_uri on another host"),
        ({"authorization_endpoint": None}, "authorization_endpoint on another host"),
    ],
)
def test_nothing_is_called_that_the_settings_do_not_name(
    there: OidcProvider, discovery: dict[str, Any], said: str
) -> None:
    there.discovery = discovery
    assert said in why(there, ProviderError)
    assert there.asked == ["/.well-known/openid-configuration"]


def test_another_host_counts_where_it_is_allowed(there: OidcProvider) -> None:
    with provider() as elsewhere:
        there.discovery = {"jwks_uri": f"{elsewhere.url}/keys"}
        assert log_in(there, allow_hosts=(urlsplit(elsewhere.url).netloc,)).name == "anna"
        assert elsewhere.asked == ["/keys"]


def test_a_provider_that_is_down_or_none_is_told_as_that(there: OidcProvider) -> None:
    with pytest.raises(ProviderBusy, match="cannot be reached"):
        asyncio.run(Provider(Oidc(issuer="http://127.0.0.1:1", client_id="x")).address(Attempt.new(), BACK))
    nowhere = Provider(Oidc(issuer=f"{there.url}/nowhere", client_id="x"))
    with pytest.raises(ProviderError, match=r"does not respond like an OpenID Connect provider \(HTTP 404\)"):
        asyncio.run(nowhere.address(Attempt.new(), BACK))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"issuer": "login.example"}, "must be an https URL"),
        ({"issuer": "http://login.example"}, "must be an https URL"),
        ({"issuer": "ftp://127.0.0.1"}, "must be an https URL"),
        ({"issuer": "https://login.example", "client_id": ""}, "client_id is empty"),
    ],
)
def test_settings_that_cannot_work_are_told_at_the_start(wrong: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Provider(Oidc(**{"client_id": "x", **wrong}))


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jwt", None)
    with pytest.raises(SettingsError, match=r"pip install '\.\[oidc\]'"):
        Provider(Oidc(issuer="https://login.example", client_id="x"))
