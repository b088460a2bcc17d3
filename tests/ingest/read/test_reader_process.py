"""What a child process does with a request, and how it ends."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pincite.errors import Unreadable
from pincite.ingest.read import reader_process as child

HEADER: dict[str, Any] = {"parser": "plain", "chunking": {"size": 50, "overlap": 0}, "timeout_s": 5, "cuts": None}


def raising(error: BaseException) -> Callable[..., object]:
    def fail(*_: object) -> object:
        raise error

    return fail


def request(header: dict[str, Any], data: bytes) -> bytes:
    encoded = json.dumps(header).encode()
    return child.REQUEST.pack(len(encoded), len(data)) + encoded + data


def test_a_file_is_answered_with_its_text():
    leaving, reply = child._answer(HEADER, b"hello", 100)
    assert not leaving
    assert json.loads(reply)["parsed"]["text"] == "hello"


@pytest.mark.parametrize(
    ("error", "leaves", "code"),
    [
        (Unreadable("because", code="broken"), False, "broken"),
        (MemoryError(), True, "limit"),
        (ZeroDivisionError("words of the document"), True, "crashed"),
        (RecursionError("words of the document"), True, "crashed"),
    ],
)
def test_failures_are_told_and_those_of_unknown_effect_end_the_child(
    error: BaseException, leaves: bool, code: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(child, "parse_and_chunk", raising(error))
    leaving, reply = child._answer(HEADER, b"x", 100)
    assert leaving == leaves
    assert json.loads(reply)["failure"]["code"] == code
    assert b"words of the document" not in reply


def test_requests_come_one_after_the_other_until_the_input_ends():
    stream = io.BytesIO(request(HEADER, b"one") + request(HEADER, b"two"))
    assert [(header["parser"], data) for header, data in child._requests(stream)] == [
        ("plain", b"one"),
        ("plain", b"two"),
    ]


@pytest.mark.parametrize("cut", [1, 7, 20, -1])
def test_half_a_request_is_none(cut: int):
    assert list(child._requests(io.BytesIO(request(HEADER, b"data")[:cut]))) == []


@pytest.mark.slow
def test_the_process_says_it_is_ready_answers_and_ends_with_its_input():
    done = subprocess.run(
        [sys.executable, "-m", "pincite.ingest.read.reader_process", "256"],
        input=request(HEADER, b"hello"),
        capture_output=True,
        timeout=60,
        check=True,
    )
    replies, at = [], 0
    while at < len(done.stdout):
        kind, size = child.REPLY.unpack_from(done.stdout, at)
        at += child.REPLY.size
        replies.append((kind, json.loads(done.stdout[at : at + size])))
        at += size
    assert [kind for kind, _ in replies] == [child.Kind.DONE, child.Kind.DONE]
    assert "no writing to files" in replies[0][1]["holds"]
    assert replies[1][1]["parsed"]["text"] == "hello"
