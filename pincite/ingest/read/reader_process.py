"""The child process that reads files: confines itself, then answers one request after the other.

A request is two lengths, a JSON object and the file's bytes; a reply is its kind, a length and a JSON object.
The first reply says that the child is ready; while it reads, it tells how far it is; the last one of a file is its
outcome, which also says whether the child leaves after it. It ends with its input.
"""

import json
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, BinaryIO

from pincite.config.branches.ingestion import Chunking
from pincite.core import progress
from pincite.errors import PinciteError, Unreadable
from pincite.ingest.read.parse_and_chunk import parse_and_chunk, to_json
from pincite.ingest.read.sandbox import address_space, confine, leave_network
from pincite.text import language


class Kind(IntEnum):
    """What a reply is: how far the child is, the outcome of a file, or the last outcome before it leaves."""

    PACE = 0
    DONE = 1
    LEAVING = 2


REQUEST = struct.Struct(">II")
REPLY = struct.Struct(">BI")

_FILES_PER_CHILD = 1000
"""After so many files a child makes room for a fresh one, in case a library leaks."""
_SWOLLEN = 512 * 1024
"""The same when it keeps more than this for each MB that it may use, which is half: the next file shall have its share."""
_ORPHAN_GRACE_S = 5
_TELL_S = 0.25
"""How often it is told how far a file is, at most."""

_Request = tuple[Mapping[str, Any], bytes]


def main() -> None:
    """Confine this process, say what holds, and read files until the input ends."""
    memory_mb = int(sys.argv[1])
    sys.dont_write_bytecode = True
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write into the replies
    networkless = leave_network()
    _warm()
    _send(replies, json.dumps({"holds": confine(memory_mb, networkless=networkless)}).encode())
    swollen = address_space() + memory_mb * _SWOLLEN
    for count, (header, data) in enumerate(_requests(sys.stdin.buffer), 1):
        _alarm(int(header["timeout_s"]) + _ORPHAN_GRACE_S)  # for a child whose parent died meanwhile
        with progress.progress_listener(_Teller(replies)):
            leaving, reply = _answer(header, data, memory_mb)
        _alarm(0)
        leaving = leaving or count == _FILES_PER_CHILD or address_space() > swollen
        _send(replies, reply, Kind.LEAVING if leaving else Kind.DONE)
        if leaving:
            return


class _Teller:
    """Passes on how far a file is, now and then."""

    def __init__(self, replies: BinaryIO) -> None:
        self._replies = replies
        self._next = time.monotonic() + _TELL_S

    def __call__(self, what: str, done: int, of: int) -> None:
        if time.monotonic() >= self._next:
            _send(self._replies, json.dumps([what, done, of]).encode(), Kind.PACE)
            self._next = time.monotonic() + _TELL_S


def _answer(header: Mapping[str, Any], data: bytes, memory_mb: int) -> tuple[bool, bytes]:
    """Read one file; whether this process should leave, and the reply."""
    try:
        return False, to_json(parse_and_chunk(data, header["parser"], Chunking(**header["chunking"]), header["cuts"]))
    except PinciteError as error:
        return False, _failure(error)
    except MemoryError:
        return True, _failure(Unreadable(f"it needs more than {memory_mb} MB of memory to be read", code="limit"))
    except Exception as error:
        message = f"reading it failed ({type(error).__name__}); please report this with the file"
        # Code lines only: an exception's own words may hold words of the document.
        return True, _failure(Unreadable(message, code="crashed"), "".join(traceback.format_tb(error.__traceback__)))


def _failure(error: PinciteError, trace: str = "") -> bytes:
    failure = {"kind": type(error).__name__, "code": error.code, "message": str(error), "trace": trace}
    return json.dumps({"failure": failure}).encode()


def _requests(stream: BinaryIO) -> Iterator[_Request]:
    while len(lengths := stream.read(REQUEST.size)) == REQUEST.size:
        header_size, data_size = REQUEST.unpack(lengths)
        header, data = stream.read(header_size), stream.read(data_size)
        if len(data) < data_size:
            return
        yield json.loads(header), data


def _send(stream: BinaryIO, reply: bytes, kind: Kind = Kind.DONE) -> None:
    stream.write(REPLY.pack(kind, len(reply)) + reply)
    stream.flush()


def _warm() -> None:
    """Load what files need, so that the limits count a file's own use and not that of the libraries."""
    import pypdfium2  # noqa: F401

    language.warm()
    parse_and_chunk(b"# Ready\n", "markdown", Chunking())


def _alarm(seconds: int) -> None:
    if sys.platform != "win32":
        signal.alarm(seconds)


if __name__ == "__main__":
    main()
