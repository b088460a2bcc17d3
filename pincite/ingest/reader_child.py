"""The child process that reads files: confines itself, then answers one request after the other.

A request is two lengths, a JSON object and the file's bytes; a reply is a flag, a length and a JSON object.
The first reply says that the child is ready, the flag that it leaves. It ends with its input.
"""

import json
import os
import signal
import struct
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from pincite.errors import PinciteError, Unreadable
from pincite.ingest import language
from pincite.ingest.prepare import prepare, to_json
from pincite.settings import Chunking

REQUEST = struct.Struct(">II")
REPLY = struct.Struct(">?I")

_FILES_PER_CHILD = 1000
"""After so many files a child makes room for a fresh one, in case a library leaks."""
_ORPHAN_GRACE_S = 5
_OPEN_FILES = 32
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000

_Request = tuple[Mapping[str, Any], bytes]


def main() -> None:
    """Confine this process, say what holds, and read files until the input ends."""
    memory_mb = int(sys.argv[1])
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write into the replies
    _send(replies, json.dumps({"holds": confine(memory_mb)}).encode())
    for count, (header, data) in enumerate(_requests(sys.stdin.buffer), 1):
        _alarm(int(header["timeout_s"]) + _ORPHAN_GRACE_S)  # for a child whose parent died meanwhile
        leaving, reply = _answer(header, data, memory_mb)
        _alarm(0)
        leaving = leaving or count == _FILES_PER_CHILD
        _send(replies, reply, leaving=leaving)
        if leaving:
            return


def confine(memory_mb: int) -> list[str]:
    """Take from this process what reading a file does not need; returns, in words, what holds."""
    holds = ["no network"] if _leave_network() else []  # first: refused to a process with threads
    _warm()
    if sys.platform != "win32":
        import resource

        os.nice(5)
        used = _address_space()
        if used and _limit(resource.RLIMIT_AS, used + memory_mb * 1024 * 1024):
            holds.append(f"{memory_mb} MB of memory")
        if _limit(resource.RLIMIT_FSIZE, 0):
            holds.append("no writing to files")
        if _limit(resource.RLIMIT_NOFILE, _OPEN_FILES) and _limit(resource.RLIMIT_CORE, 0):
            holds.append("few open files")
    return holds


def _answer(header: Mapping[str, Any], data: bytes, memory_mb: int) -> tuple[bool, bytes]:
    """Read one file; whether this process should leave, and the reply."""
    try:
        return False, to_json(prepare(data, header["parser"], Chunking(**header["chunking"]), header["cuts"]))
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


def _send(stream: BinaryIO, reply: bytes, *, leaving: bool = False) -> None:
    stream.write(REPLY.pack(leaving, len(reply)) + reply)
    stream.flush()


def _warm() -> None:
    """Load what files need, so that the limits count a file's own use and not that of the libraries."""
    import pypdfium2  # noqa: F401

    language.warm()
    prepare(b"# Ready\n", "markdown", Chunking())


def _leave_network() -> bool:
    """Move to a network with nobody else in it, by right or in a user namespace; False where neither is allowed."""
    if sys.platform != "linux":
        return False
    import ctypes

    unshare = ctypes.CDLL(None, use_errno=True).unshare
    return 0 in (unshare(flags) for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def _address_space() -> int:
    """Bytes of address space in use; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _limit(which: int, value: int) -> bool:
    import resource

    try:
        resource.setrlimit(which, (value, value))
    except (ValueError, OSError):
        return False
    return True


def _alarm(seconds: int) -> None:
    if sys.platform != "win32":
        signal.alarm(seconds)


if __name__ == "__main__":
    main()
