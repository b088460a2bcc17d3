"""The child process that reads files: it confines itself, then answers one request after the other.

A request is a `REQUEST` frame with options and a `FILE` frame with the file's bytes (see `child_protocol`). The first
frame that the child sends is a `RESULT` with the limits in force: the child is ready. While it reads a file it sends
`PROGRESS` frames, then one `RESULT`, or a `LAST_RESULT` where it exits afterwards. It also exits when its input ends.
"""

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from pincite.config.branches.ingestion import Chunking
from pincite.core import progress
from pincite.errors import PinciteError, Unreadable
from pincite.ingest.child_protocol import (
    MAX_BODY_BYTES,
    FrameKind,
    Limits,
    pack_frame,
    pack_json,
    read_frame,
    write_frame,
)
from pincite.ingest.read.parse_and_chunk import parse_and_chunk, to_json
from pincite.ingest.read.sandbox import address_space, confine, leave_network
from pincite.text import language

_REQUEST_LIMITS: Limits = {FrameKind.REQUEST: MAX_BODY_BYTES, FrameKind.FILE: MAX_BODY_BYTES}
_MAX_FILES = 1000
"""Files after which a child exits and is replaced, in case a library leaks memory."""
_MAX_KEPT_BYTES_PER_MB = 512 * 1024
"""Bytes that a child may keep after a file, for each MB of its memory limit: half of the limit. Beyond it, the child
exits, so that the next file has its full share."""
_ORPHAN_GRACE_S = 5
"""Seconds after a file's timeout until a child whose parent died ends itself."""
_PROGRESS_INTERVAL_S = 0.25
"""Minimum time between two progress frames, in seconds."""

_Request = tuple[Mapping[str, Any], bytes]


def main() -> None:
    """Confine this process, report the limits in force, and read files until the input ends."""
    memory_mb = int(sys.argv[1])
    sys.dont_write_bytecode = True
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write into the replies
    network_left = leave_network()
    _load_libraries()
    limits = confine(memory_mb, network_left=network_left)
    write_frame(replies, pack_json(FrameKind.RESULT, {"holds": limits}))
    max_address_space = address_space() + memory_mb * _MAX_KEPT_BYTES_PER_MB
    for count, (options, data) in enumerate(_requests(sys.stdin.buffer), 1):
        _set_alarm(int(options["timeout_s"]) + _ORPHAN_GRACE_S)
        with progress.progress_listener(_ProgressSender(replies)):
            exits, reply = _answer(options, data, memory_mb)
        _set_alarm(0)
        exits = exits or count == _MAX_FILES or address_space() > max_address_space
        write_frame(replies, pack_frame(FrameKind.LAST_RESULT if exits else FrameKind.RESULT, reply))
        if exits:
            return


class _ProgressSender:
    """Sends the progress of a file to the parent, at most once per interval."""

    def __init__(self, replies: BinaryIO) -> None:
        self._replies = replies
        self._next = time.monotonic() + _PROGRESS_INTERVAL_S

    def __call__(self, what: str, done: int, of: int) -> None:
        if time.monotonic() >= self._next:
            write_frame(self._replies, pack_json(FrameKind.PROGRESS, [what, done, of]))
            self._next = time.monotonic() + _PROGRESS_INTERVAL_S


def _answer(options: Mapping[str, Any], data: bytes, memory_mb: int) -> tuple[bool, bytes]:
    """Read one file; return whether this process must exit, and the JSON reply."""
    try:
        chunking = Chunking(**options["chunking"])
        return False, to_json(parse_and_chunk(data, options["parser"], chunking, options["cuts"], options["window"]))
    except PinciteError as error:
        return False, _failure(error)
    except MemoryError:
        return True, _failure(Unreadable(f"reading it needs more than {memory_mb} MB of memory", code="limit"))
    except Exception as error:
        message = f"reading it failed ({type(error).__name__}); please report this with the file"
        # Code lines only: the exception's message may quote the document.
        return True, _failure(Unreadable(message, code="crashed"), "".join(traceback.format_tb(error.__traceback__)))


def _failure(error: PinciteError, trace: str = "") -> bytes:
    failure = {"kind": type(error).__name__, "code": error.code, "message": str(error), "trace": trace}
    return json.dumps({"failure": failure}).encode()


def _requests(stream: BinaryIO) -> Iterator[_Request]:
    """Options and bytes of each file, until the input ends."""
    while True:
        try:
            options = read_frame(stream, _REQUEST_LIMITS)
            file = read_frame(stream, _REQUEST_LIMITS)
        except EOFError:
            return
        yield options.json(), file.body


def _load_libraries() -> None:
    """Load the libraries that files need, so that the memory limit counts a file's own use only."""
    import pypdfium2  # noqa: F401

    language.warm()
    parse_and_chunk(b"# Ready\n", "markdown", Chunking())


def _set_alarm(seconds: int) -> None:
    """End this process after `seconds`, in case the parent died; 0 cancels the alarm."""
    if sys.platform != "win32":
        signal.alarm(seconds)


if __name__ == "__main__":
    main()
