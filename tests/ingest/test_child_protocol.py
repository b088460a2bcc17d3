"""Frames between a process and its children: what arrives is what was sent, and nothing else is accepted."""

import asyncio
import io
import json

import pytest

from pincite.ingest.child_protocol import (
    FRAME_HEADER,
    MAX_BODY_BYTES,
    Frame,
    FrameError,
    FrameKind,
    Limits,
    pack_frame,
    pack_json,
    read_frame,
    receive_frame,
    write_frame,
)

LIMITS: Limits = {FrameKind.PROGRESS: 20, FrameKind.RESULT: 1000, FrameKind.FILE: MAX_BODY_BYTES}


def received(data: bytes, limits: Limits = LIMITS) -> Frame:
    """The first frame of some bytes, read by both readers, which must agree."""

    async def receive() -> Frame:
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        return await receive_frame(stream, limits)

    blocking = read_frame(io.BytesIO(data), limits)
    assert asyncio.run(receive()) == blocking
    return blocking


@pytest.mark.parametrize("body", [b"", b"x", b"\0\xff" * 3000])
def test_a_frame_arrives_as_it_was_sent(body: bytes):
    assert received(pack_frame(FrameKind.FILE, body)) == Frame(FrameKind.FILE, body)


def test_frames_are_read_one_after_the_other_until_the_stream_ends():
    stream = io.BytesIO()
    write_frame(stream, pack_json(FrameKind.PROGRESS, ["page", 1, 2]))
    write_frame(stream, pack_json(FrameKind.RESULT, {"text": "Größe"}))
    stream.seek(0)
    assert read_frame(stream, LIMITS).json() == ["page", 1, 2]
    assert read_frame(stream, LIMITS).json() == {"text": "Größe"}
    with pytest.raises(EOFError):
        read_frame(stream, LIMITS)


class Trickle(io.BytesIO):
    """A stream that writes at most three bytes at a time, as an unbuffered pipe may."""

    def write(self, data: memoryview) -> int:  # type: ignore[override]
        return super().write(data[:3])


def test_a_stream_that_writes_parts_gets_the_whole_frame():
    stream, frame = Trickle(), pack_json(FrameKind.RESULT, {"a": "b" * 50})
    write_frame(stream, frame)
    assert stream.getvalue() == frame


@pytest.mark.parametrize("size", [1, 4, 5, 20])
def test_half_a_frame_is_the_end_of_the_stream(size: int):
    half = pack_frame(FrameKind.RESULT, b"x" * 100)[:size]
    with pytest.raises(EOFError):
        received(half)

    async def receive() -> Frame:
        stream = asyncio.StreamReader()
        stream.feed_data(half)
        stream.feed_eof()
        return await receive_frame(stream, LIMITS)

    with pytest.raises(EOFError):
        asyncio.run(receive())


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (FRAME_HEADER.pack(FrameKind.REQUEST, 1), "kind 3 is not accepted"),
        (FRAME_HEADER.pack(120, 1), "kind 120 is not accepted"),
        (FRAME_HEADER.pack(FrameKind.PROGRESS, 21), "21 bytes; at most 20"),
        (FRAME_HEADER.pack(FrameKind.RESULT, MAX_BODY_BYTES), "at most 1000"),
    ],
)
def test_a_frame_of_another_kind_or_over_its_limit_is_refused_before_its_body_is_read(header: bytes, message: str):
    async def receive() -> Frame:
        stream = asyncio.StreamReader()
        stream.feed_data(header)  # no body follows: whoever waited for one would wait for ever
        return await receive_frame(stream, LIMITS)

    with pytest.raises(FrameError, match=message):
        read_frame(io.BytesIO(header), LIMITS)
    with pytest.raises(FrameError, match=message):
        asyncio.run(asyncio.wait_for(receive(), 5))


@pytest.mark.parametrize("body", [b"", b"nonsense", b"\x80\x04}.", b"[" * 100_000, b"\xff\xfe\xfd"])
def test_a_body_that_is_no_json_is_an_error_of_the_protocol(body: bytes):
    with pytest.raises(FrameError, match="valid JSON"):
        Frame(FrameKind.RESULT, body).json()


def test_a_large_body_is_decoded_as_well():
    message = ["x" * 1000] * 2000
    frame = Frame(FrameKind.RESULT, json.dumps(message).encode())
    assert asyncio.run(frame.json_in_thread()) == message
