"""The framing of messages between this process and its child processes: a kind, a length, then the body.

Bodies are JSON or raw bytes, never pickled objects, so a child taken over by a hostile file can send nothing but data.
The receiver names the kinds it accepts and the size limit of each. Any other frame is a `FrameError`; the receiver
then ends the child.
"""

import asyncio
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, BinaryIO

FRAME_HEADER = struct.Struct(">BI")
"""One byte of kind and four bytes of length, big-endian."""
MAX_BODY_BYTES = 2**32 - 1
"""The longest body that four bytes of length can announce; the limit for frames from a trusted sender."""
_LARGE_BODY_BYTES = 2**20
"""Bodies above this size are decoded in a thread, so that the event loop stays responsive."""


class FrameKind(IntEnum):
    """What a frame holds; `LAST_RESULT` also says that the child exits after it."""

    PROGRESS = 0
    RESULT = 1
    LAST_RESULT = 2
    REQUEST = 3
    FILE = 4


Limits = Mapping[FrameKind, int]
"""The kinds that a receiver accepts, each with the maximum size of its body in bytes."""


class FrameError(ValueError):
    """The other process broke the protocol: a kind that is not accepted, a body over its limit, or invalid JSON."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message as it was received."""

    kind: FrameKind
    body: bytes

    def json(self) -> Any:
        """The decoded JSON body."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise FrameError("the frame does not hold valid JSON") from error

    async def json_in_thread(self) -> Any:
        """The decoded JSON body; a large one is decoded in a thread."""
        return await asyncio.to_thread(self.json) if len(self.body) > _LARGE_BODY_BYTES else self.json()


def pack_header(kind: FrameKind, size: int) -> bytes:
    """The header of a frame with a body of `size` bytes; a large body can be written after it without a copy."""
    return FRAME_HEADER.pack(kind, size)


def pack_frame(kind: FrameKind, body: bytes) -> bytes:
    """The bytes of a frame."""
    return pack_header(kind, len(body)) + body


def pack_json(kind: FrameKind, message: object) -> bytes:
    """The bytes of a frame with a JSON body."""
    return pack_frame(kind, json.dumps(message).encode())


def write_frame(stream: BinaryIO, frame: bytes) -> None:
    """Write a packed frame to a blocking stream, also to an unbuffered one, which may write a part at a time."""
    rest = memoryview(frame)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.flush()


def read_frame(stream: BinaryIO, limits: Limits) -> Frame:
    """Read the next frame from a blocking stream; EOFError where the stream ends before the frame is complete."""
    kind, size = unpack_header(_read_exactly(stream, FRAME_HEADER.size), limits)
    return Frame(kind, _read_exactly(stream, size))


async def receive_frame(stream: asyncio.StreamReader, limits: Limits) -> Frame:
    """Read the next frame from an asynchronous stream; EOFError where it ends before the frame is complete."""
    kind, size = unpack_header(await stream.readexactly(FRAME_HEADER.size), limits)
    return Frame(kind, await stream.readexactly(size))


def unpack_header(header: bytes, limits: Limits) -> tuple[FrameKind, int]:
    """The kind and body size that a header announces, checked against the limits before any of the body is read."""
    number, size = FRAME_HEADER.unpack(header)
    limit = next((limit for kind, limit in limits.items() if kind == number), None)
    if limit is None:
        raise FrameError(f"a frame of kind {number} is not accepted here")
    if size > limit:
        raise FrameError(f"the frame has {size} bytes; at most {limit} are accepted")
    return FrameKind(number), size


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the stream ended within a frame")
    return data
