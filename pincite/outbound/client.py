"""HTTP client for external servers: JSON responses and streams, and errors that name the setting to change."""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from email.utils import parsedate_to_datetime
from functools import cache
from time import time
from typing import Any
from urllib.parse import urlsplit

import httpx2
from pydantic import SecretStr

from pincite.core.request_context import request_id
from pincite.errors import ProviderBusy, ProviderError, ProviderRefused, SettingsError
from pincite.outbound.llm.parse import text_of
from pincite.text.sentences import without_login

CONNECT_TIMEOUT_S = 10.0
KEEPALIVE_S = 60.0
"""Seconds an idle connection is kept open."""

DRAIN_TIMEOUT_S = 0.2
MAX_EVENT_BYTES = 1024 * 1024
"""Maximum size of one event of a stream."""

MAX_BODY_BYTES = 256 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024

_RETRYABLE = frozenset({408, 425, 429})
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@cache
def ssl_context(trust_env: bool) -> ssl.SSLContext:
    """Return the SSL context with the certificates of this machine; cached, because loading them is slow."""
    return httpx2.create_ssl_context(trust_env=trust_env)


class Server:
    """One server with one HTTP client, created at the first request.

    `section` is the settings branch of the server; errors name the setting to change.
    """

    def __init__(self, base_url: str, section: str, timeout_s: float, api_key: SecretStr | None = None) -> None:
        if not _is_base_url(base_url):
            raise SettingsError(f"{section}.base_url must be a URL such as http://127.0.0.1:11434/v1")
        self.base_url = base_url.rstrip("/")
        self.shown = without_login(self.base_url)
        self.section = section
        self.key = api_key.get_secret_value().strip() if api_key else ""
        if not (self.key.isascii() and self.key.isprintable()):
            raise SettingsError(f"{section}.api_key contains invalid characters; copy the key again")
        self._timeout = httpx2.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))
        self._client: httpx2.AsyncClient | None = None

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        """Send a GET request and return the JSON response."""
        async with self._answer("GET", path, None, headers) as response:
            return await self._json(response)

    async def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """Send a POST request and return the JSON response."""
        async with self._answer("POST", path, body, headers) as response:
            return await self._json(response)

    async def stream(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Stream JSON objects, sent one per line or as server-sent events.

        Yields `{}` at the end if the server sent `[DONE]`. After the first byte, a failure is not retryable.
        """
        begun = False

        async def received(response: httpx2.Response) -> AsyncIterator[bytes]:
            nonlocal begun
            async for chunk in response.aiter_bytes():
                begun = True
                yield chunk

        async with self._answer("POST", path, body, headers) as response:
            if response.headers.get("content-type", "").startswith("application/json"):
                whole = await self._json(response)  # the server does not stream
                if not isinstance(whole, dict):
                    raise self.invalid_answer("a response that is not a JSON object")
                yield whole
                return
            try:
                async with aclosing(self._events(iter_lines(received(response)))) as events:
                    async for event in events:
                        yield event
            except httpx2.HTTPError as error:
                if begun:
                    raise ProviderError(
                        f"{self.shown} closed the connection in the middle of a response ({type(error).__name__})"
                    ) from error
                raise

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def invalid_answer(self, what: str) -> ProviderError:
        """Return the error for an invalid response."""
        return ProviderError(f"{self.shown} sent {what}")

    def stream_error(self, event: Mapping[str, Any]) -> ProviderError:
        """Return the error that a server reported in a stream."""
        message, _ = error_details(event, self.key)
        return ProviderError(f"{self.shown} reported: {message or 'an error'}")

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str] | None
    ) -> AsyncIterator[httpx2.Response]:
        url, sent = f"{self.base_url}{path}", {"x-request-id": request_id.get()} if request_id.get() else {}
        if self._client is None:
            # Requests to this machine do not use a proxy of the environment.
            outside = urlsplit(self.base_url).hostname not in _LOCAL_HOSTS
            limits = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=KEEPALIVE_S)
            self._client = httpx2.AsyncClient(
                timeout=self._timeout, limits=limits, trust_env=outside, verify=ssl_context(outside)
            )
        try:
            async with self._client.stream(method, url, json=body, headers={**sent, **(headers or {})}) as response:
                if response.status_code != 200:
                    raise await self._refusal(response, str((body or {}).get("model", "")))
                yield response
        except httpx2.HTTPError as error:
            raise self._unreached(error) from error
        except httpx2.InvalidURL as error:
            raise ProviderRefused(f"{self.shown} is not a valid URL; correct {self.section}.base_url") from error

    async def _json(self, response: httpx2.Response) -> Any:
        try:
            return json.loads(await _read_body(response, MAX_BODY_BYTES))
        except (ValueError, RecursionError) as error:
            raise self.invalid_answer("a response that is not JSON") from error

    async def _events(self, received: AsyncIterator[str]) -> AsyncGenerator[dict[str, Any], None]:
        """Parse JSON events; one event may span several `data:` lines, up to an empty line."""
        pending, size = list[str](), 0
        async for line in received:
            data = line[5:].strip() if line.startswith("data:") else line if line.startswith("{") else ""
            if data == "[DONE]":
                yield {}
                with suppress(TimeoutError):  # reading to the end makes the connection reusable
                    async with asyncio.timeout(DRAIN_TIMEOUT_S):
                        async for _ in received:
                            pass
                return
            if data:
                pending.append(data)
                size += len(data)
            if size > MAX_EVENT_BYTES:
                raise self.invalid_answer(f"an event of more than {MAX_EVENT_BYTES:,} characters")
            first = bool(data) and len(pending) == 1  # most events are one line; longer ones are parsed at their end
            if not pending or (line.startswith("data:") and not first):
                continue
            event = _parse_json("".join(pending))
            if isinstance(event, dict):
                pending, size = [], 0
                yield event
            elif event is not None or not line.startswith("data:"):
                raise self.invalid_answer("an event that is not a JSON object")
        if pending:
            raise ProviderError(f"{self.shown} closed the connection in the middle of an event")

    def _unreached(self, error: httpx2.HTTPError) -> ProviderError:
        kind = type(error).__name__
        if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
            return ProviderError(f"{self.shown} did not respond in time ({self.section}.timeout_s)")
        if isinstance(error, httpx2.DecodingError):
            return self.invalid_answer(f"an undecodable response ({kind})")
        return ProviderBusy(
            f"{self.shown} cannot be reached ({kind}); check that it is running, and {self.section}.base_url",
            code="provider_unreachable",
        )

    async def _refusal(self, response: httpx2.Response, model: str) -> ProviderError:
        """Convert an HTTP error; the message names the setting to change and never contains the API key."""
        status, section = response.status_code, self.section
        body = await _read_body(response, MAX_ERROR_BYTES)
        message, kinds = error_details(_parse_json(body.decode(errors="replace")), self.key)
        details = f"(HTTP {status}: {message})" if message else f"(HTTP {status})"
        if status in (401, 403):
            reason = "rejected the API key" if self.key else "requires an API key"
            return ProviderRefused(f"{self.shown} {reason} (HTTP {status}); set {section}.api_key to a valid key")
        if status == 402 or "insufficient_quota" in kinds:
            return ProviderRefused(f"{self.shown} reports that the quota of the account is used up {details}")
        if status in _RETRYABLE or status >= 500:
            what = "is overloaded or its rate limit is reached" if status == 429 else "failed"
            wait = _retry_after(response.headers.get("retry-after", ""))
            return ProviderBusy(f"{self.shown} {what} {details}", retry_after_s=wait)
        if status == 404 and ("model" in message.lower() or "model_not_found" in kinds):
            return ProviderRefused(f"{self.shown} does not know the model '{model}' {details}; change {section}.model")
        if status == 404 or status < 400:
            return ProviderRefused(f"{self.shown} does not have this API {details}; check {section}.base_url")
        return ProviderRefused(f"{self.shown} rejected the request {details}")


async def iter_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the lines of a stream; a byte order mark at its start is removed.

    Only CR, LF and CRLF end a line, because JSON may contain the other Unicode line separators.
    """
    rest, first = bytearray(), True
    async for chunk in chunks:
        begin, new = 0, max(0, len(rest) - 1)  # search only the new bytes, and a CR that may be half a CRLF
        rest += chunk
        for end, following in [match.span() for match in _LINE_END.finditer(rest, new)]:
            yield _decode_line(rest[begin:end], first)
            begin, first = following, False
        del rest[:begin]
        if len(rest) > MAX_EVENT_BYTES:
            raise ProviderError(f"a server sent a line of more than {MAX_EVENT_BYTES:,} bytes")
    if rest:
        yield _decode_line(rest.rstrip(b"\r"), first)


def _decode_line(line: bytearray, first: bool) -> str:
    return (line.removeprefix(b"\xef\xbb\xbf") if first else line).decode(errors="replace")


def _is_base_url(text: str) -> bool:
    """Whether a text is a URL to which a path can be appended."""
    if not text.startswith(("http://", "https://")) or re.search(r"[\s?#\\]", text) or not text.isprintable():
        return False
    try:
        parts = urlsplit(text)
        return bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except ValueError:
        return False


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


async def _read_body(response: httpx2.Response, max_bytes: int) -> bytes:
    body = bytearray()  # grows in place, however many chunks arrive
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > max_bytes:
            raise ProviderError(f"a server sent a response of more than {max_bytes:,} bytes")
    return bytes(body)


def error_details(found: Any, key: str) -> tuple[str, frozenset[str]]:
    """Return the error message of a server in one line, and its error codes; the API key is removed.

    Only the fields for messages are read, because the rest of a response may repeat the prompt.
    """
    error = found.get("error", found) if isinstance(found, dict) else None
    if isinstance(error, str):
        error = {"message": error}
    if not isinstance(error, dict):
        return "", frozenset()
    message = next((error[name] for name in ("message", "detail") if isinstance(error.get(name), str)), "")
    kinds = frozenset(error[name] for name in ("code", "type") if isinstance(error.get(name), str))
    safe = text_of(message).replace(key, "…") if key else text_of(message)
    return " ".join(safe.split())[:300], kinds


def _retry_after(header: str) -> float | None:
    """Parse a Retry-After header, given in seconds or as a date."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except (ValueError, TypeError, OverflowError):
        return None
