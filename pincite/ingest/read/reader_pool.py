"""The pool of child processes that parse and chunk files: a hostile file can harm only a confined child."""

import asyncio
import io
import logging
import os
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pincite import errors
from pincite.config.branches.ingestion import Chunking
from pincite.errors import PinciteError, Unavailable, Unreadable
from pincite.ingest.child_protocol import (
    FrameError,
    FrameKind,
    Limits,
    pack_header,
    pack_json,
    read_frame,
    receive_frame,
)
from pincite.ingest.read.parse_and_chunk import MAX_TEXT_CHARS, Prepared, from_json
from pincite.ingest.read.sandbox import WANTED

__all__ = ["Isolation", "Prepared", "Reader", "isolation"]

log = logging.getLogger(__name__)

_START_TIMEOUT_S = 60
"""Seconds a child has to confine itself and report that it is ready."""
_EXIT_TIMEOUT_S = 2
"""Seconds a child has to exit after its input was closed, before it is killed."""
_MAX_RESULT_BYTES = 8 * MAX_TEXT_CHARS
"""Size limit of a result: the text in UTF-8 and its chunks."""
_REPLY_LIMITS: Limits = {
    FrameKind.PROGRESS: 200,
    FrameKind.RESULT: _MAX_RESULT_BYTES,
    FrameKind.LAST_RESULT: _MAX_RESULT_BYTES,
}
_MAX_PROGRESS_FRAMES = 100_000
"""Progress frames a child may send for one file; a child that sends more is killed."""
_DRAIN_BYTES = 2**20
"""Bytes read at a time from the pipe of a killed child."""

ProgressCallback = Callable[[str, int, int], Awaitable[None]]
"""Called with the name of the counted thing (`page`, `row`), the number done, and the total."""


async def _ignore_progress(_what: str, _done: int, _of: int) -> None:
    """The default progress callback."""


_ERRORS: Mapping[str, type[PinciteError]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, PinciteError)
}


class Reader:
    """A pool of child processes, started on demand and reused; each reads one file at a time."""

    def __init__(self, *, children: int, memory_mb: int, timeout_s: float) -> None:
        self.memory_mb = memory_mb
        self.timeout_s = timeout_s
        self._slots = asyncio.Semaphore(children)
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()
        self._closed = False

    async def read(
        self,
        data: bytes | Path,
        parser: str,
        chunking: Chunking,
        cuts: Sequence[int] | None = None,
        report: ProgressCallback = _ignore_progress,
        window: int = 0,
    ) -> Prepared:
        """Parse and chunk a file; raises `Unreadable` where that is not possible within the limits.

        The result is that of `parse_and_chunk` with the same arguments.
        """
        content = data if isinstance(data, bytes) else await asyncio.to_thread(data.read_bytes)
        given = {"parser": parser, "chunking": chunking.model_dump(), "cuts": cuts, "window": window}
        options = given | {"timeout_s": self.timeout_s}
        request = pack_json(FrameKind.REQUEST, options)
        async with self._slots:
            message = await self._ask(request, content, report)
        try:
            if "failure" not in message:
                return await asyncio.to_thread(from_json, message)
            error = _error(**message["failure"])
        except (LookupError, TypeError, ValueError):
            raise Unreadable("reading it gave an invalid result", code="crashed") from None
        raise error

    def _crashed(self, how: str) -> Unreadable:
        """The error for a child that ended while it read a file."""
        if how == "SIGABRT":  # C libraries abort when an allocation fails
            reason = f"reading it was aborted; it probably needs more than {self.memory_mb} MB of memory"
            return Unreadable(f"{reason} ({how})", code="limit")
        killed = ": the system ended it, probably because memory runs short" if how == "SIGKILL" else ""
        return Unreadable(f"reading it crashed the parser ({how}{killed})", code="crashed")

    async def close(self) -> None:
        """End all children; those that read a file are killed."""
        self._closed = True
        idle, self._idle = self._idle, []
        await asyncio.gather(*(child.kill() for child in self._busy), *(child.end() for child in idle))

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("the reader is closed")

    async def _ask(self, request: bytes, content: bytes, report: ProgressCallback) -> dict[str, Any]:
        """Send the file to an idle child; if that child crashes, to a new one.

        The idle child may have died before it got the file, so one crash does not condemn the file.
        """
        self._check_open()
        if self._idle:
            try:
                return await self._ask_child(self._idle.pop(), request, content, report)
            except Unreadable as error:
                if error.code != "crashed":
                    raise
        return await self._ask_child(await _start(self.memory_mb), request, content, report)

    async def _ask_child(
        self, child: "_Child", request: bytes, content: bytes, report: ProgressCallback
    ) -> dict[str, Any]:
        """Send the file to this child; a child that fails to answer properly is killed."""
        self._busy.add(child)
        keep = False
        try:
            self._check_open()  # the reader may have been closed while the child started
            async with asyncio.timeout(self.timeout_s):
                exits, message = await child.ask(request, content, report)
            keep = not exits and not self._closed
            return message
        except TimeoutError:
            raise Unreadable(f"reading it took longer than {self.timeout_s:g} s", code="limit") from None
        except (EOFError, OSError, ValueError):
            self._check_open()
            raise self._crashed(await child.end()) from None
        finally:
            self._busy.discard(child)
            if keep:
                self._idle.append(child)
            else:
                await child.kill()


class _Child:
    """A child process and its pipes."""

    def __init__(self, process: Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a child process needs pipes for its input and output")
        self.process, self.requests, self.replies = process, process.stdin, process.stdout

    async def ask(self, request: bytes, content: bytes, report: ProgressCallback) -> tuple[bool, dict[str, Any]]:
        """Send a packed request and a file; return whether the child exits afterwards, and its result."""
        self.requests.writelines([request, pack_header(FrameKind.FILE, len(content)), content])
        await self.requests.drain()
        for _ in range(_MAX_PROGRESS_FRAMES):
            kind, message = await self.reply()
            if kind is not FrameKind.PROGRESS:
                return kind is FrameKind.LAST_RESULT, message
            what, done, of = message
            await report(str(what), int(done), int(of))
        raise FrameError(f"the child sent more than {_MAX_PROGRESS_FRAMES} progress frames")

    async def reply(self) -> tuple[FrameKind, Any]:
        """The kind and message of the next reply."""
        frame = await receive_frame(self.replies, _REPLY_LIMITS)
        return frame.kind, await frame.json_in_thread()

    async def end(self) -> str:
        """Close the child's input, wait until it exits, and return how it ended."""
        self.requests.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_TIMEOUT_S):
                await self.process.wait()
        return await self.kill()

    async def kill(self) -> str:
        """Kill the child if it still runs, and return how it ended: a signal or an exit code."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.requests.close()
        # asyncio waits for ever for a process whose output was not read to its end.
        # RuntimeError: another task is reading it.
        with suppress(RuntimeError):
            while await self.replies.read(_DRAIN_BYTES):
                pass
        status = await self.process.wait()
        return signal.Signals(-status).name if status < 0 else f"exit code {status}"


async def _start(memory_mb: int) -> _Child:
    """Start a child and wait until it has confined itself and is ready."""
    command, environment = _command(memory_mb)
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=environment,
        cwd="/",
        start_new_session=True,  # Ctrl-C reaches the parent only, which then ends its children
    )
    child = _Child(process)
    try:
        async with asyncio.timeout(_START_TIMEOUT_S):
            await child.reply()
    except (TimeoutError, EOFError) as error:
        raise Unavailable(f"the process that reads files does not start ({await child.kill()})") from error
    except BaseException:
        await child.kill()
        raise
    return child


def _command(memory_mb: int) -> tuple[list[str], dict[str, str]]:
    """The command and environment of a child: the same packages, but no variables of ours, which may hold API keys."""
    command = [sys.executable, "-m", "pincite.ingest.read.reader_process", str(memory_mb)]
    packages = os.pathsep.join(filter(None, sys.path))
    return command, {"PYTHONPATH": packages, "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def _error(kind: str, code: str, message: str, trace: str) -> PinciteError:
    """The error that was raised in the child, made again here."""
    if trace:
        log.error("a file could not be read; traceback of the child process:\n%s", trace)
    return _ERRORS[kind](message, code=code)


@dataclass(frozen=True, slots=True)
class Isolation:
    """The restrictions that hold for the processes that read files, and those that this machine does not support."""

    holds: tuple[str, ...]
    lacks: tuple[str, ...] = ()


def isolation(memory_mb: int = 1024) -> Isolation:
    """Start a reader process and return which restrictions hold for it on this machine."""
    command, environment = _command(memory_mb)
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        cwd="/",
        timeout=_START_TIMEOUT_S,
        check=False,
    )
    try:
        ready = read_frame(io.BytesIO(done.stdout), _REPLY_LIMITS) if done.returncode == 0 else None
    except (EOFError, FrameError):
        ready = None
    if ready is None:
        raise Unavailable(f"the process that reads files does not start (exit code {done.returncode})")
    holds = tuple(ready.json()["holds"])
    return Isolation(holds, tuple(one for one in WANTED if one not in holds))
