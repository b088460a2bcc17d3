"""Calls to outside servers: one client each, answers as JSON or as a stream of it, errors in words to act on."""

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
"""How long a connection that nobody uses is kept for the next call."""
DRAIN_TIMEOUT_S = 0.2
MAX_EVENT_BYTES = 1024 * 1024
"""Bytes one event of a stream may have."""
MAX_BODY_BYTES = 256 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024

_RETRYABLE = frozenset({408, 425, 429})
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@cache
def ssl_context(trust_env: bool) -> ssl.SSLContext:
    """The certificates of this machine: reading them takes longer than many a call, so all servers share one reading."""
    return httpx2.create_ssl_context(trust_env=trust_env)


class Server:
    """One server, spoken to over one client that is made when it is first needed.

    `section` is the branch of the settings that names it: errors say what to change there.
    """

    def __init__(self, base_url: str, section: str, timeout_s: float, api_key: SecretStr | None = None) -> None:
        if not _is_base_url(base_url):
            raise SettingsError(f"{section}.base_url must be an address such as http://127.0.0.1:11434/v1")
        self.base_url = base_url.rstrip("/")
        self.shown = without_login(self.base_url)
        self.section = section
        self.key = api_key.get_secret_value().strip() if api_key else ""
        if not (self.key.isascii() and self.key.isprintable()):
            raise SettingsError(f"{section}.api_key holds characters that no key has; copy it anew")
        self._timeout = httpx2.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))
        self._client: httpx2.AsyncClient | None = None

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        """What the server answers to a GET, as JSON."""
        async with self._answer("GET", path, None, headers) as response:
            return await self._json(response)

    async def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """What the server answers to a POST, as JSON."""
        async with self._answer("POST", path, body, headers) as response:
            return await self._json(response)

    async def stream(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The JSON objects of a stream as they come, whether one a line or as server-sent events.

        Ends with `{}` where the server said `[DONE]`. Once the first byte is there, a failure is no longer one that
        another try could mend.
        """
        begun = False

        async def received(response: httpx2.Response) -> AsyncIterator[bytes]:
            nonlocal begun
            async for chunk in response.aiter_bytes():
                begun = True
                yield chunk

        async with self._answer("POST", path, body, headers) as response:
            if response.headers.get("content-type", "").startswith("application/json"):
                whole = await self._json(response)  # a server that does not stream
                if not isinstance(whole, dict):
                    raise self.invalid_answer("an answer that is not a JSON object")
                yield whole
                return
            try:
                async with aclosing(self._events(iter_lines(received(response)))) as events:
                    async for event in events:
                        yield event
            except httpx2.HTTPError as error:
                if begun:
                    raise ProviderError(f"{self.shown} broke off in the middle ({type(error).__name__})") from error
                raise

    async def close(self) -> None:
        """Let the connections go."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def invalid_answer(self, what: str) -> ProviderError:
        """An answer nobody can read."""
        return ProviderError(f"{self.shown} sent {what}")

    def stream_error(self, event: Mapping[str, Any]) -> ProviderError:
        """An error told in the middle of a stream."""
        said, _ = error_details(event, self.key)
        return ProviderError(f"{self.shown} reported: {said or 'an error'}")

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str] | None
    ) -> AsyncIterator[httpx2.Response]:
        url, sent = f"{self.base_url}{path}", {"x-request-id": request_id.get()} if request_id.get() else {}
        if self._client is None:
            # A proxy of the environment has no business between this machine and itself.
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
            raise ProviderRefused(f"{self.shown} is no address; correct {self.section}.base_url") from error

    async def _json(self, response: httpx2.Response) -> Any:
        try:
            return json.loads(await _read_body(response, MAX_BODY_BYTES))
        except (ValueError, RecursionError) as error:
            raise self.invalid_answer("an answer that is not JSON") from error

    async def _events(self, received: AsyncIterator[str]) -> AsyncGenerator[dict[str, Any], None]:
        """Events are objects; one may be spread over several `data:` lines, up to an empty one."""
        pending, size = list[str](), 0
        async for line in received:
            data = line[5:].strip() if line.startswith("data:") else line if line.startswith("{") else ""
            if data == "[DONE]":
                yield {}
                with suppress(TimeoutError):  # read to the very end, and the connection can be used again
                    async with asyncio.timeout(DRAIN_TIMEOUT_S):
                        async for _ in received:
                            pass
                return
            if data:
                pending.append(data)
                size += len(data)
            if size > MAX_EVENT_BYTES:
                raise self.invalid_answer(f"an event of more than {MAX_EVENT_BYTES:,} characters")
            first = bool(data) and len(pending) == 1  # most are one line; others are tried again only when they end
            if not pending or (line.startswith("data:") and not first):
                continue
            event = _parse_json("".join(pending))
            if isinstance(event, dict):
                pending, size = [], 0
                yield event
            elif event is not None or not line.startswith("data:"):
                raise self.invalid_answer("an event that is not a JSON object")
        if pending:
            raise ProviderError(f"{self.shown} broke off in the middle of an event")

    def _unreached(self, error: httpx2.HTTPError) -> ProviderError:
        kind = type(error).__name__
        if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
            return ProviderError(f"{self.shown} took too long to answer ({self.section}.timeout_s)")
        if isinstance(error, httpx2.DecodingError):
            return self.invalid_answer(f"an answer that cannot be read ({kind})")
        return ProviderBusy(
            f"{self.shown} cannot be reached ({kind}): is it running? See {self.section}.base_url",
            code="provider_unreachable",
        )

    async def _refusal(self, response: httpx2.Response, model: str) -> ProviderError:
        """An HTTP error in words that name the setting to change, never the key."""
        status, section = response.status_code, self.section
        body = await _read_body(response, MAX_ERROR_BYTES)
        said, kinds = error_details(_parse_json(body.decode(errors="replace")), self.key)
        told = f"(HTTP {status}: {said})" if said else f"(HTTP {status})"
        if status in (401, 403):
            asks = "refused the key" if self.key else "asks for a key"
            return ProviderRefused(f"{self.shown} {asks} (HTTP {status}); set {section}.api_key to one that counts")
        if status == 402 or "insufficient_quota" in kinds:
            return ProviderRefused(f"{self.shown} is out of quota: the account has no credit left {told}")
        if status in _RETRYABLE or status >= 500:
            what = "is too busy, or its rate limit is reached" if status == 429 else "failed"
            wait = _retry_after(response.headers.get("retry-after", ""))
            return ProviderBusy(f"{self.shown} {what} {told}", retry_after_s=wait)
        if status == 404 and ("model" in said.lower() or "model_not_found" in kinds):
            return ProviderRefused(f"{self.shown} does not know the model '{model}' {told}; change {section}.model")
        if status == 404 or status < 400:
            return ProviderRefused(f"{self.shown} is not where such a server answers {told}; check {section}.base_url")
        return ProviderRefused(f"{self.shown} did not take the request {told}")


async def iter_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The lines of a stream, byte for byte wherever it was cut; a byte order mark at its start is left out.

    Only CR, LF and CRLF end a line: JSON may hold the other characters that Unicode counts as line ends.
    """
    rest, first = bytearray(), True
    async for chunk in chunks:
        begin, new = 0, max(0, len(rest) - 1)  # only what is new is searched, and a CR that may be half a CRLF
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
    """Whether calls can be made to paths below it."""
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


async def _read_body(response: httpx2.Response, most: int) -> bytes:
    body = bytearray()  # grows in place, however many pieces a server sends
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > most:
            raise ProviderError(f"a server sent more than {most:,} bytes at once")
    return bytes(body)


def error_details(found: Any, key: str) -> tuple[str, frozenset[str]]:
    """What a server says went wrong, in one line, and the kinds it names; never the key it was sent.

    Only the places meant for a message are read: the rest of a body may repeat the prompt.
    """
    error = found.get("error", found) if isinstance(found, dict) else None
    if isinstance(error, str):
        error = {"message": error}
    if not isinstance(error, dict):
        return "", frozenset()
    said = next((error[name] for name in ("message", "detail") if isinstance(error.get(name), str)), "")
    kinds = frozenset(error[name] for name in ("code", "type") if isinstance(error.get(name), str))
    safe = text_of(said).replace(key, "…") if key else text_of(said)
    return " ".join(safe.split())[:300], kinds


def _retry_after(header: str) -> float | None:
    """Seconds a server asks to wait, given as such or as a date."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except (ValueError, TypeError, OverflowError):
        return None
