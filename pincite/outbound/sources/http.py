"""HTTP requests to the server of a source: one host, no redirects, size limits, and errors without credentials."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx2

from pincite.core.documents.sources import SourceAddress
from pincite.errors import Invalid, NotFound, ProviderBusy, ProviderRefused, TooLarge
from pincite.outbound.client import ssl_context
from pincite.text.sentences import without_login

_RETRYABLE = frozenset({408, 425, 429})
MAX_LISTING_BYTES = 256 * 1024 * 1024
"""Maximum size of a listing."""


class SourceServer:
    """Sends requests to the one server of a source."""

    def __init__(self, address: SourceAddress, auth: tuple[str, str] | None = None) -> None:
        parts = urlsplit(address.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Invalid("the URL of the source must begin with http:// or https://", code="bad_address")
        if parts.username or parts.password:
            raise Invalid("write no credentials into the URL; give user and secret_env instead", code="bad_address")
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.path = parts.path or "/"
        self.max_bytes = address.max_bytes
        self._client = httpx2.AsyncClient(
            auth=auth, timeout=address.timeout_s, verify=ssl_context(False), trust_env=False, follow_redirects=False
        )

    async def send(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        max_bytes: int | None = None,
        expected: frozenset[int] = frozenset({200}),
    ) -> bytes:
        """Send a request to a path on this server and return the body."""
        url, limit = f"{self.origin}{target}", max_bytes or self.max_bytes
        try:
            async with self._client.stream(method, url, headers=dict(headers or {}), content=content) as response:
                if response.status_code not in expected:
                    raise _refusal(url, response.status_code)
                body = bytearray()
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > limit:
                        raise TooLarge(f"{without_login(url)} is larger than {limit // 1024 // 1024} MB")
                return bytes(body)
        except httpx2.HTTPError as error:
            raise ProviderBusy(f"{self.origin} cannot be reached ({type(error).__name__})") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _refusal(url: str, status: int) -> Exception:
    shown = without_login(url)
    if status == 404:
        return NotFound(f"there is nothing at {shown}")
    if status in (401, 403):
        return ProviderRefused(f"{shown} rejected the credentials (HTTP {status}); check user and secret_env")
    if status in _RETRYABLE or status >= 500:
        return ProviderBusy(f"{shown} is temporarily unavailable (HTTP {status})")
    return ProviderRefused(f"{shown} refused the request (HTTP {status})")
