"""Requests to the server of a source."""

import asyncio

import pytest

from pincite.core.documents.sources import SourceAddress
from pincite.errors import ProviderBusy, ProviderRefused, TooLarge
from pincite.outbound.sources.http import SourceServer
from tests.model_server import model_server


def test_redirects_large_bodies_and_failures_are_refused() -> None:
    async def go(url: str) -> None:
        server = SourceServer(SourceAddress(url, {}, max_bytes=1024 * 1024))
        with pytest.raises(ProviderRefused, match="HTTP 302"):
            await server.send("GET", "/moved")
        with pytest.raises(TooLarge, match="larger than 1 MB"):
            await server.send("GET", "/large")
        with pytest.raises(ProviderBusy, match="temporarily unavailable"):
            await server.send("GET", "/down")
        assert await server.send("GET", "/fine") == b"fine"
        await server.close()

    with model_server() as remote:
        remote.says("/moved", b"", status=302, headers={"location": "http://10.0.0.1/"})
        remote.says("/large", b"x" * (1024 * 1024 + 1))
        remote.says("/down", b"", status=503)
        remote.says("/fine", b"fine")
        asyncio.run(go(remote.url))
