"""The child process of a local embedder, as its parent sees it: start, requests and their answers, end."""

import asyncio
import contextlib
import itertools
import os
import sys
from typing import Any

from pincite.config.settings import environment
from pincite.ingest.child_protocol import FrameError, FrameKind, Limits, pack_json, receive_frame

_CHILD_MODULE = "pincite.ingest.embed.embedder_process"
_REPLY_LIMITS: Limits = {FrameKind.RESULT: 256 * 1024 * 1024}
"""Far above the vectors of one request, which are some MB at most."""
_STDERR_TAIL_BYTES = 4096
"""Bytes at the end of the child's error output that are kept for the error message."""
_EXIT_TIMEOUT_S = 5.0
"""Seconds a child has to exit after its input was closed, before it is killed."""

Message = dict[str, Any]


class ChildDied(Exception):
    """The child ended while a request was open; the message says how."""


class EmbedderChild:
    """A running child process and the requests that it has not answered yet."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._ids = itertools.count()
        self._open_requests: dict[int, asyncio.Future[Message]] = {}
        self._stderr = b""
        self._protocol_error = ""
        self._listening = asyncio.ensure_future(self._listen())
        self.ended = False

    @classmethod
    async def start(cls) -> "EmbedderChild":
        """Start the process with this process's import path; a Ctrl-C in the terminal does not reach it."""
        return cls(
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", _CHILD_MODULE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
                start_new_session=True,
            )
        )

    async def ask(self, request: Message) -> Message:
        """Send a request and wait for its answer; raises `ChildDied` where the child ends before."""
        if self.ended:
            raise ChildDied(self._how_it_ended())
        number = next(self._ids)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._open_requests[number] = answer
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(pack_json(FrameKind.REQUEST, {"id": number, **request}))
            # A broken pipe means that the child died; then `_listen` fails the answer with the reason.
            with contextlib.suppress(ConnectionError):
                await stdin.drain()
            return await answer
        finally:
            self._open_requests.pop(number, None)

    async def stop(self) -> None:
        """Close the child's input, which ends it; kill it where it does not exit in time."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._wait_or_kill()
        await self._listening

    async def _wait_or_kill(self) -> None:
        try:
            async with asyncio.timeout(_EXIT_TIMEOUT_S):
                await self._process.wait()
        except TimeoutError:
            self._kill()
            await self._process.wait()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def _listen(self) -> None:
        """Pass answers on until the child ends; one that breaks the protocol is killed."""
        stderr_reader = asyncio.ensure_future(self._read_stderr())
        try:
            await self._pass_answers_on()
        except (EOFError, ConnectionError):
            pass
        except (FrameError, LookupError, TypeError) as error:
            self._protocol_error = f"it sent an invalid message: {error}"
            self._kill()
            await self._drain_stdout()
        await self._wait_or_kill()
        await asyncio.wait([stderr_reader], timeout=_EXIT_TIMEOUT_S)
        stderr_reader.cancel()
        self.ended = True
        for answer in self._open_requests.values():
            if not answer.done():
                answer.set_exception(ChildDied(self._how_it_ended()))

    async def _pass_answers_on(self) -> None:
        assert self._process.stdout is not None
        while True:
            frame = await receive_frame(self._process.stdout, _REPLY_LIMITS)
            message: Message = frame.json()
            answer = self._open_requests.get(message["id"])
            if answer and not answer.done():
                answer.set_result(message)

    async def _drain_stdout(self) -> None:
        """Read the rest of the output: asyncio waits for ever for a process whose output was not read to its end."""
        assert self._process.stdout is not None
        with contextlib.suppress(ConnectionError):
            while await self._process.stdout.read(2**20):
                pass

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        while some := await self._process.stderr.read(_STDERR_TAIL_BYTES):
            self._stderr = (self._stderr + some)[-_STDERR_TAIL_BYTES:]

    def _how_it_ended(self) -> str:
        """The protocol error, or the signal or exit code and the last line of the error output."""
        if self._protocol_error:
            return self._protocol_error
        code = self._process.returncode or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        return f"{how}: {lines[-1]}" if lines else how
