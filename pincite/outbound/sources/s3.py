"""A bucket of an S3-compatible store; requests are signed with AWS Signature Version 4."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from lxml import etree

from pincite.core.documents.sources import SourceAddress, SourceItem
from pincite.errors import Invalid, ProviderError
from pincite.outbound.sources.http import MAX_LISTING_BYTES, SourceServer

OPTIONS = frozenset({"access_key", "region", "prefix"})
_PAGE_KEYS = 1000


class Source:
    """Lists and reads the objects of a bucket below a prefix; `url` is `https://host/bucket`."""

    lists_all = True

    def __init__(self, address: SourceAddress) -> None:
        self._server = SourceServer(address)
        bucket = self._server.path.strip("/")
        if not bucket or "/" in bucket:
            raise Invalid("the URL must name the bucket: https://host/bucket", code="bad_address")
        self._bucket, self._prefix = f"/{quote(bucket)}", address.options.get("prefix", "")
        self._signer = Signer(
            address.options.get("access_key", ""), address.secret, address.options.get("region", "us-east-1")
        )
        self._max_items = address.max_items

    async def items(self) -> Sequence[SourceItem]:
        """All objects below the prefix."""
        found: list[SourceItem] = []
        token = ""
        while True:
            query = {"list-type": "2", "max-keys": str(_PAGE_KEYS), "prefix": self._prefix}
            page = await self._send(
                self._bucket, query | ({"continuation-token": token} if token else {}), listing=True
            )
            objects, token = _objects(page)
            found += [self._item(key, stamp) for key, stamp in objects if not key.endswith("/")]
            if len(found) > self._max_items:
                raise Invalid(f"the bucket has more than {self._max_items:,} objects; give a prefix")
            if not token:
                return found

    async def read(self, item: SourceItem) -> bytes:
        """The content of an object."""
        return await self._send(f"{self._bucket}/{quote(item.key, safe='/~')}", {})

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    def _item(self, key: str, stamp: str) -> SourceItem:
        folder, _, name = key.removeprefix(self._prefix).strip("/").rpartition("/")
        return SourceItem(key, stamp, name, folder, f"{self._server.origin}{self._bucket}/{quote(key, safe='/~')}")

    async def _send(self, path: str, query: Mapping[str, str], *, listing: bool = False) -> bytes:
        text = canonical_query(query)
        host = self._server.origin.partition("://")[2]
        headers = self._signer.headers("GET", host, path, text, datetime.now(UTC))
        limit = MAX_LISTING_BYTES if listing else None
        return await self._server.send("GET", f"{path}?{text}" if text else path, headers=headers, max_bytes=limit)


def canonical_query(query: Mapping[str, str]) -> str:
    """The query in the order and form that is signed."""
    return "&".join(f"{quote(name, safe='-_.~')}={quote(query[name], safe='-_.~')}" for name in sorted(query))


class Signer:
    """Signs requests without a body; without an access key, requests are anonymous."""

    def __init__(self, access_key: str, secret_key: str, region: str) -> None:
        self._access_key, self._secret_key, self._region = access_key, secret_key, region

    def headers(self, method: str, host: str, path: str, query: str, now: datetime) -> dict[str, str]:
        """The headers of a signed request."""
        if not self._access_key:
            return {}
        time, payload = now.strftime("%Y%m%dT%H%M%SZ"), hashlib.sha256(b"").hexdigest()
        signed = {"host": host, "x-amz-content-sha256": payload, "x-amz-date": time}
        canonical = "\n".join(
            [method, path, query, *(f"{name}:{value}" for name, value in signed.items()), "", ";".join(signed), payload]
        )
        scope = f"{time[:8]}/{self._region}/s3/aws4_request"
        to_sign = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.new(self._key(time[:8]), to_sign.encode(), hashlib.sha256).hexdigest()
        authorization = (
            f"AWS4-HMAC-SHA256 Credential={self._access_key}/{scope}, SignedHeaders={';'.join(signed)}, "
            f"Signature={signature}"
        )
        return {"x-amz-content-sha256": payload, "x-amz-date": time, "authorization": authorization}

    def _key(self, day: str) -> bytes:
        key = f"AWS4{self._secret_key}".encode()
        for part in (day, self._region, "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key


def _objects(body: bytes) -> tuple[list[tuple[str, str]], str]:
    """The keys and stamps of a listing, and the token of the next page."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        raise ProviderError("the bucket sent a listing that is not XML") from None
    objects = [
        (one.findtext("{*}Key") or "", f"{one.findtext('{*}ETag')} {one.findtext('{*}Size')}")
        for one in tree.iter("{*}Contents")
    ]
    return objects, tree.findtext("{*}NextContinuationToken") or ""
