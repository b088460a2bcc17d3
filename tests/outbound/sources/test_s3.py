"""Buckets as sources. The server in `remote_servers` pages its listings; signatures are those that Amazon documents."""

import asyncio
from datetime import UTC, datetime

import pytest

from pincite.core.documents.sources import SourceAddress
from pincite.errors import Invalid, ProviderRefused
from pincite.outbound.sources.s3 import Signer, Source, canonical_query
from tests.remote_servers import s3_server

EXAMPLE = Signer("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")
KEY = {"access_key": "AKTEST"}


@pytest.mark.parametrize(
    ("query", "signature"),
    [
        ({"lifecycle": ""}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ({"prefix": "J", "max-keys": "2"}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)
def test_signatures_are_those_of_the_documented_examples(query: dict[str, str], signature: str) -> None:
    at = datetime(2013, 5, 24, tzinfo=UTC)
    made = EXAMPLE.headers("GET", "examplebucket.s3.amazonaws.com", "/", canonical_query(query), at)
    assert made["authorization"].endswith(f"Signature={signature}")


def test_objects_below_the_prefix_are_listed_over_several_pages_and_read() -> None:
    objects = {f"docs/{name}": name.encode() for name in ("a.md", "b c.md", "sub/d.md", "e.md", "folder/")}
    objects["other.md"] = b"x"

    async def go(url: str) -> None:
        source = Source(SourceAddress(url, KEY | {"prefix": "docs/"}, "secret"))
        items = list(await source.items())
        assert [(item.folder, item.name) for item in items] == [
            ("", "a.md"),
            ("", "b c.md"),
            ("", "e.md"),
            ("sub", "d.md"),
        ]
        assert await source.read(items[1]) == b"b c.md"
        objects["docs/a.md"] = b"changed"
        again = list(await source.items())
        assert again[0].stamp != items[0].stamp
        await source.close()

    with s3_server(objects) as url:
        asyncio.run(go(url))


def test_wrong_addresses_and_credentials_are_told() -> None:
    with pytest.raises(Invalid, match="must name the bucket"):
        Source(SourceAddress("https://host/", KEY))

    async def go(url: str) -> None:
        source = Source(SourceAddress(url, {"access_key": "OTHER"}, "secret"))
        with pytest.raises(ProviderRefused, match="rejected the credentials"):
            await source.items()
        await source.close()

    with s3_server({"a.md": b"x"}) as url:
        asyncio.run(go(url))
