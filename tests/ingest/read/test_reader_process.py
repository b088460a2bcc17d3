"""How a reader process answers a request, and when it exits."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pincite.errors import Unreadable
from pincite.ingest.child_protocol import MAX_BODY_BYTES, FrameKind, pack_frame, pack_json, read_frame
from pincite.ingest.read import reader_process as child

OPTIONS: dict[str, Any] = {
    "parser": "plain",
    "chunking": {"size": 50, "overlap": 0},
    "timeout_s": 5,
    "cuts": None,
    "window": 0,
}


def raising(error: BaseException) -> Callable[..., object]:
    def fail(*_: object) -> object:
        raise error

    return fail


def request(options: dict[str, Any], data: bytes) -> bytes:
    return pack_json(FrameKind.REQUEST, options) + pack_frame(FrameKind.FILE, data)


def test_a_file_is_answered_with_its_text():
    exits, reply = child._answer(OPTIONS, b"hello", 100)
    assert not exits
    assert json.loads(reply)["parsed"]["text"] == "hello"


@pytest.mark.parametrize(
    ("error", "must_exit", "code"),
    [
        (Unreadable("because", code="broken"), False, "broken"),
        (MemoryError(), True, "limit"),
        (ZeroDivisionError("words of the document"), True, "crashed"),
        (RecursionError("words of the document"), True, "crashed"),
    ],
)
def test_failures_are_reported_and_unexpected_ones_end_the_child(
    error: BaseException, must_exit: bool, code: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(child, "parse_and_chunk", raising(error))
    exits, reply = child._answer(OPTIONS, b"x", 100)
    assert exits == must_exit
    assert json.loads(reply)["failure"]["code"] == code
    assert b"words of the document" not in reply


def test_requests_come_one_after_the_other_until_the_input_ends():
    stream = io.BytesIO(request(OPTIONS, b"one") + request(OPTIONS, b"two"))
    assert [(options["parser"], data) for options, data in child._requests(stream)] == [
        ("plain", b"one"),
        ("plain", b"two"),
    ]


@pytest.mark.parametrize("cut", [1, 7, 20, -1])
def test_half_a_request_is_ignored(cut: int):
    assert list(child._requests(io.BytesIO(request(OPTIONS, b"data")[:cut]))) == []


@pytest.mark.slow
def test_the_process_says_it_is_ready_answers_and_ends_with_its_input():
    done = subprocess.run(
        [sys.executable, "-m", "pincite.ingest.read.reader_process", "256"],
        input=request(OPTIONS, b"hello"),
        capture_output=True,
        timeout=60,
        check=True,
    )
    stdout = io.BytesIO(done.stdout)
    ready, result = (read_frame(stdout, {FrameKind.RESULT: MAX_BODY_BYTES}).json() for _ in range(2))
    assert stdout.read() == b""
    assert "no writing to files" in ready["holds"]
    assert result["parsed"]["text"] == "hello"
