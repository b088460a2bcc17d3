"""The reader: parses and chunks files in limited child processes, so that a hostile file cannot hurt."""

import asyncio
import json
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
from pincite.ingest.read.parse_and_chunk import MAX_TEXT, Prepared, from_json
from pincite.ingest.read.reader_process import REPLY, REQUEST, Kind
from pincite.ingest.read.sandbox import WANTED

__all__ = ["Isolation", "Prepared", "Reader", "isolation"]

log = logging.getLogger(__name__)

_START_S = 60
_END_S = 2
_MAX_REPLY = 8 * MAX_TEXT
"""Bytes: the text in UTF-8, and its chunks."""
_MAX_PACE, _MOST_TOLD = 200, 100_000
"""Bytes in which a child tells how far it is, and how often it may."""
_LARGE = 2**20
"""Bytes of a reply from which on it is taken apart in a thread, lest others wait."""

Report = Callable[[str, int, int], Awaitable[None]]
"""Hears what is counted, how many of it are done, and of how many."""


async def _unheard(_what: str, _done: int, _of: int) -> None:
    """Where nobody asks how far a file is."""


_ERRORS: Mapping[str, type[PinciteError]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, PinciteError)
}


class Reader:
    """A small pool of warm child processes, started when needed; each reads one file at a time."""

    def __init__(self, *, children: int, memory_mb: int, timeout_s: float) -> None:
        self.memory_mb = memory_mb
        self.timeout_s = timeout_s
        self._places = asyncio.Semaphore(children)
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()
        self._closed = False

    async def read(
        self,
        data: bytes | Path,
        parser: str,
        chunking: Chunking,
        cuts: Sequence[int] | None = None,
        report: Report = _unheard,
    ) -> Prepared:
        """Text and chunks of a file, as `prepare` has it; `Unreadable` where it cannot be read within the limits."""
        content = data if isinstance(data, bytes) else await asyncio.to_thread(data.read_bytes)
        header = {"parser": parser, "chunking": chunking.model_dump(), "cuts": cuts, "timeout_s": self.timeout_s}
        async with self._places:
            message = await self._ask(json.dumps(header).encode(), content, report)
        try:
            if "failure" not in message:
                return await asyncio.to_thread(from_json, message)
            error = _error(**message["failure"])
        except (LookupError, TypeError, ValueError):
            raise Unreadable("reading it gave no proper result", code="crashed") from None
        raise error

    def _crashed(self, how: str) -> Unreadable:
        """Why a child ended in the middle of a file."""
        if how == "SIGABRT":  # libraries in C have no other way to say that they got no memory
            reason = f"reading it broke off, as it does where a file needs more than {self.memory_mb} MB of memory"
            return Unreadable(f"{reason} ({how})", code="limit")
        killed = ": the system ended it, as it does where memory runs short" if how == "SIGKILL" else ""
        return Unreadable(f"reading it crashed the parser ({how}{killed})", code="crashed")

    async def close(self) -> None:
        """End all children; those that are reading at once."""
        self._closed = True
        idle, self._idle = self._idle, []
        await asyncio.gather(*(child.kill() for child in self._busy), *(child.end() for child in idle))

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("the reader is closed")

    async def _ask(self, header: bytes, content: bytes, report: Report) -> dict[str, Any]:
        """Have a child read the file; where one that was idle is gone, a new one, lest the file be blamed."""
        self._check_open()
        if self._idle:
            try:
                return await self._ask_child(self._idle.pop(), header, content, report)
            except Unreadable as error:
                if error.code != "crashed":
                    raise
        return await self._ask_child(await _start(self.memory_mb), header, content, report)

    async def _ask_child(self, child: "_Child", header: bytes, content: bytes, report: Report) -> dict[str, Any]:
        """Have this child read the file; one that failed to answer is never asked again."""
        self._busy.add(child)
        keep = False
        try:
            self._check_open()  # starting a child takes a while
            async with asyncio.timeout(self.timeout_s):
                leaving, message = await child.ask(header, content, report)
            keep = not leaving and not self._closed
            return message
        except TimeoutError:
            raise Unreadable(f"reading it took longer than {self.timeout_s:g} s", code="limit") from None
        except (asyncio.IncompleteReadError, OSError, ValueError):
            self._check_open()
            raise self._crashed(await child.end()) from None
        finally:
            self._busy.discard(child)
            if keep:
                self._idle.append(child)
            else:
                await child.kill()


class _Child:
    """A child process and the frames to and from it."""

    def __init__(self, process: Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a child needs pipes")
        self.process, self.requests, self.replies = process, process.stdin, process.stdout

    async def ask(self, header: bytes, content: bytes, report: Report) -> tuple[bool, dict[str, Any]]:
        """Send a request; whether the child leaves after it, and what became of the file."""
        self.requests.writelines([REQUEST.pack(len(header), len(content)), header, content])
        await self.requests.drain()
        for _ in range(_MOST_TOLD):
            kind, message = await self.reply()
            if kind is not Kind.PACE:
                return kind is Kind.LEAVING, message
            what, done, of = message
            await report(str(what), int(done), int(of))
        raise ValueError("it tells more often how far it is than it should")

    async def reply(self) -> tuple[Kind, Any]:
        """The next reply."""
        kind, size = REPLY.unpack(await self.replies.readexactly(REPLY.size))
        if size > (_MAX_PACE if kind == Kind.PACE else _MAX_REPLY):
            raise ValueError("the reply is too large")
        said = await self.replies.readexactly(size)
        return Kind(kind), await asyncio.to_thread(json.loads, said) if size > _LARGE else json.loads(said)

    async def end(self) -> str:
        """Let the child go, which ends with its input, and say how it ended."""
        self.requests.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await self.process.wait()
        return await self.kill()

    async def kill(self) -> str:
        """Make sure the child is gone, and say how it ended."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.requests.close()
        with suppress(RuntimeError):  # whoever waits for a reply reads it to its end
            while await self.replies.read(_LARGE):  # a pipe that nobody does would be waited for without an end
                pass
        status = await self.process.wait()
        return signal.Signals(-status).name if status < 0 else f"exit code {status}"


async def _start(memory_mb: int) -> _Child:
    """A child that has confined itself and is ready."""
    command, environment = _command(memory_mb)
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=environment,
        cwd="/",
        start_new_session=True,  # Ctrl-C is for the parent, who then ends its children
    )
    child = _Child(process)
    try:
        async with asyncio.timeout(_START_S):
            await child.reply()
    except (TimeoutError, asyncio.IncompleteReadError) as error:
        raise Unavailable(f"the process that reads files does not start ({await child.kill()})") from error
    except BaseException:
        await child.kill()
        raise
    return child


def _command(memory_mb: int) -> tuple[list[str], dict[str, str]]:
    """How to start a child: with none of our environment, where keys may be, but with the same packages."""
    command = [sys.executable, "-m", "pincite.ingest.read.reader_process", str(memory_mb)]
    packages = os.pathsep.join(filter(None, sys.path))
    return command, {"PYTHONPATH": packages, "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def _error(kind: str, code: str, message: str, trace: str) -> PinciteError:
    """The error that was raised in the child."""
    if trace:
        log.error("a file could not be read; in the child:\n%s", trace)
    return _ERRORS[kind](message, code=code)


@dataclass(frozen=True, slots=True)
class Isolation:
    """What holds for the processes that read files, and what should and cannot on this machine, in words."""

    holds: tuple[str, ...]
    lacks: tuple[str, ...] = ()


def isolation(memory_mb: int = 1024) -> Isolation:
    """What holds for the processes that read files on this machine."""
    command, environment = _command(memory_mb)
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, cwd="/", timeout=_START_S, check=False
    )
    if done.returncode or len(done.stdout) < REPLY.size:
        raise Unavailable(f"the process that reads files does not start (exit code {done.returncode})")
    holds = tuple(json.loads(done.stdout[REPLY.size :])["holds"])
    return Isolation(holds, tuple(one for one in WANTED if one not in holds))
