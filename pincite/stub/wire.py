"""HTTP to the byte: requests in, replies out, and every way to get a reply wrong."""

import asyncio
import itertools
import json
import re
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

LARGEST_BODY = 64 * 2**20
BOM = "\ufeff".encode()


class BadRequestLine(ValueError):
    """What came in is no HTTP request that the stub understands."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, read; anything but an object is taken for an empty one."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict | list) else {}


class Wire:
    """One connection: reads requests, writes replies whole or in chunks, breaks off in every way."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def request(self) -> Request | None:
        """The next request; None once the client has gone."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except asyncio.LimitOverrunError as error:
            raise BadRequestLine("the head of the request is too long") from error
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        if (match := re.fullmatch(r"([A-Z]+) (\S+) HTTP/1\.[01]", first)) is None:
            raise BadRequestLine("this is not HTTP/1.1")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not length.isdigit() or int(length) > LARGEST_BODY:
            raise BadRequestLine("send the body with a Content-Length of at most 64 MB")
        try:
            body = await self._reader.readexactly(int(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return Request(match[1], match[2].partition("?")[0], headers, body)

    async def gone(self) -> None:
        """Returns when the client has closed its side; one that sends more instead is taken for gone too."""
        try:
            await self._reader.read(1)
        except ConnectionError:
            return

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        """The status line and the headers."""
        lines = [f"HTTP/1.1 {status} {_phrase(status)}", *(f"{name}: {value}" for name, value in headers.items())]
        await self.send("\r\n".join([*lines, "", ""]).encode())

    async def body(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """A whole reply: bytes as they are, anything else as JSON."""
        data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        kind = {"content-type": "application/json"} | dict(headers or {})
        await self.head(status, kind | {"content-length": str(len(data))})
        await self.send(data)

    async def chunk(self, data: bytes) -> None:
        """A part of a reply whose length nobody knows yet; none at all ends it."""
        await self.send(b"%x\r\n%b\r\n" % (len(data), data))

    async def send(self, data: bytes) -> None:
        """Bytes, as they are."""
        self._writer.write(data)
        await self._writer.drain()

    def reset(self) -> None:
        """Break the connection off: the client sees it reset, not ended."""
        plug: socket.socket = self._writer.get_extra_info("socket")
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        """End the connection."""
        self._writer.close()


def event(value: Any) -> bytes:
    """One server-sent event; text stands as it is."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def dressed(data: bytes, fault: str, *, first: bool) -> Sequence[bytes]:
    """An event as a harmless fault sends it: the same to a careful reader, in other pieces."""
    if fault == "bytes":
        return [data[place : place + 1] for place in range(len(data))]
    if fault == "split":
        wide = [place + 1 for place, byte in enumerate(data) if byte >= 0xC0]  # inside each character of several bytes
        cuts = [0, *(wide or [len(data) // 2]), len(data)]
        return [data[start:end] for start, end in itertools.pairwise(cuts)]
    if fault == "crlf":
        return data.replace(b"\n", b"\r\0\n").split(b"\0")
    if fault == "comments":
        return [b": still here\n\nid: 7\nretry: 100\nevent: message\n" + data + b":\n\n"]
    return [BOM + data if fault == "bom" and first else data]


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
