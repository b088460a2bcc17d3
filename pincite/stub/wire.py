"""Low-level HTTP: read requests, write replies, and break connections."""

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

MAX_BODY_BYTES = 64 * 2**20
BOM = "\ufeff".encode()


class BadRequestLine(ValueError):
    """The received data is not a valid HTTP request."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the JSON body; an invalid body counts as an empty object."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict | list) else {}


class Wire:
    """One connection: reads requests, writes replies, and breaks the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def request(self) -> Request | None:
        """Return the next request; None if the client has disconnected."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except asyncio.LimitOverrunError as error:
            raise BadRequestLine("the request head is too long") from error
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        if (match := re.fullmatch(r"([A-Z]+) (\S+) HTTP/1\.[01]", first)) is None:
            raise BadRequestLine("this is not HTTP/1.1")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not length.isdigit() or int(length) > MAX_BODY_BYTES:
            raise BadRequestLine("send the body with a Content-Length of at most 64 MB")
        try:
            body = await self._reader.readexactly(int(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return Request(match[1], match[2].partition("?")[0], headers, body)

    async def gone(self) -> None:
        """Return when the client disconnects, or sends more data."""
        try:
            await self._reader.read(1)
        except ConnectionError:
            return

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status line and the headers."""
        lines = [
            f"HTTP/1.1 {status} {_reason_phrase(status)}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        await self.send("\r\n".join([*lines, "", ""]).encode())

    async def body(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """Send a whole reply: bytes unchanged, anything else as JSON."""
        data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        kind = {"content-type": "application/json"} | dict(headers or {})
        await self.head(status, kind | {"content-length": str(len(data))})
        await self.send(data)

    async def chunk(self, data: bytes) -> None:
        """Send a chunk of a chunked reply; an empty chunk ends it."""
        await self.send(b"%x\r\n%b\r\n" % (len(data), data))

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        self._writer.write(data)
        await self._writer.drain()

    def reset(self) -> None:
        """Reset the connection."""
        raw: socket.socket = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


def encode_event(value: Any) -> bytes:
    """Encode a server-sent event; text is sent unchanged."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def apply_wire_fault(data: bytes, fault: str, *, first: bool) -> Sequence[bytes]:
    """Encode an event with a harmless transport fault, which a correct parser handles."""
    if fault == "bytes":
        return [data[place : place + 1] for place in range(len(data))]
    if fault == "split":
        wide = [place + 1 for place, byte in enumerate(data) if byte >= 0xC0]  # inside each multi-byte character
        cuts = [0, *(wide or [len(data) // 2]), len(data)]
        return [data[start:end] for start, end in itertools.pairwise(cuts)]
    if fault == "crlf":
        return data.replace(b"\n", b"\r\0\n").split(b"\0")
    if fault == "comments":
        return [b": still here\n\nid: 7\nretry: 100\nevent: message\n" + data + b":\n\n"]
    return [BOM + data if fault == "bom" and first else data]


def _reason_phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
