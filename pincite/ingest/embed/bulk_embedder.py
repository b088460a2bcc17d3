"""Embeds passages in bulk, out of the way of questions: a model on this machine gets a niced process of its own."""

import asyncio
import base64
import contextlib
import itertools
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pincite.concurrency import Batcher
from pincite.config.settings import environment
from pincite.core.protocols import Embedder
from pincite.errors import ProviderError, Unavailable

log = logging.getLogger(__name__)

Prefixed = tuple[str, str]
"""A passage's prefix and its text."""

Windows = list[list[float]]
"""The vectors of one passage, one for each window of it."""

Frame = dict[str, Any]

PROVIDERS = "pincite.providers"
_CHILD = "pincite.ingest.embed.embedder_process"
_PART = 16
"""Passages a request to the child holds: few enough for documents that are embedded at once to take turns."""

_IN_FLIGHT = 2
"""Requests one document has under way, so that the child finds the next when it is done with one."""

_TOGETHER = 16
"""Documents that are embedded together at the most: whoever comes next waits for that long."""

_OFF_BY_LITTLE = 0.1
_STDERR_KEPT = 4096
_PATIENCE_S = 5.0


class BulkEmbedder(Protocol):
    """Turns passages into the vectors of their windows; `close` when done."""

    async def embed(self, passages: Sequence[Prefixed]) -> list[Windows]: ...
    async def close(self) -> None: ...


def open_bulk_embedder(embedder: Embedder, *, provider: str, options: Mapping[str, Any], batch: int) -> BulkEmbedder:
    """The lane for this embedder: `provider` and `options` are what a child makes the same one from.

    A remote embedder is asked for `batch` texts at a time. A local one's process starts with the first passage.
    """
    if embedder.local:
        return ProcessLane(embedder.name, provider, options)
    return DirectLane(embedder, batch)


async def embed_passages(embedder: Embedder, passages: Sequence[Prefixed], batch: int) -> list[Windows]:
    """Split passages into windows and embed these, `batch` at a time; refuses vectors that cannot be right."""
    windows = [embedder.windows(text, prefix) for prefix, text in passages]
    texts = list(itertools.chain.from_iterable(windows))
    vectors: list[list[float]] = []
    for first in range(0, len(texts), batch):
        part = texts[first : first + batch]
        vectors += _checked(embedder, await embedder.embed(part, as_query=False), len(part))
    rest = iter(vectors)
    return [list(itertools.islice(rest, len(some))) for some in windows]


def _checked(embedder: Embedder, vectors: Sequence[Sequence[float]], expected: int) -> list[list[float]]:
    def wrong(what: str) -> ProviderError:
        return ProviderError(f"the embedder '{embedder.name}' misbehaved: {what}")

    if len(vectors) != expected:
        raise wrong(f"{len(vectors)} vectors for {expected} texts")
    sizes = {len(vector) for vector in vectors} - {embedder.dimensions}
    if sizes:
        raise wrong(f"a vector of {min(sizes)} dimensions instead of {embedder.dimensions}")
    array = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(array).all():
        raise wrong("a vector with a number that is not finite")
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if (np.abs(lengths - 1) > _OFF_BY_LITTLE).any():
        worst = lengths.flat[np.abs(lengths - 1).argmax()]
        raise wrong(f"a vector of length {worst:.3g} where unit vectors are due")
    return (array / lengths).tolist()  # type: ignore[no-any-return]


class DirectLane:
    """Embeds here and now: the work is done by somebody else's machine."""

    def __init__(self, embedder: Embedder, batch: int) -> None:
        self._embedder = embedder
        self._batch = batch

    async def embed(self, passages: Sequence[Prefixed]) -> list[Windows]:
        """One vector per window of each passage."""
        return await embed_passages(self._embedder, passages, self._batch)

    async def close(self) -> None:
        """Nothing to let go of."""


class ProcessLane:
    """Embeds in a child process, started with the first passage and again should it die."""

    def __init__(self, name: str, provider: str, options: Mapping[str, Any]) -> None:
        self._name = name
        plain = {key: str(value) if isinstance(value, Path) else value for key, value in options.items()}
        self._hello: Frame = {"provider": provider, "options": plain}
        self._child: _Child | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self._together = Batcher(self._embed_all, max_batch=_TOGETHER)

    async def embed(self, passages: Sequence[Prefixed]) -> list[Windows]:
        """One vector per window of each passage; raises ProviderError where the child failed twice.

        Documents that come while others are being embedded are the next to be, together: so they are done at the same
        time, too, and can be written in one go.
        """
        return await self._together(passages)

    async def _embed_all(self, asked: Sequence[Sequence[Prefixed]]) -> list[list[Windows] | Exception]:
        try:
            found = iter(await self._embed([passage for passages in asked for passage in passages]))
        except ProviderError as error:
            if len(asked) == 1:
                return [error]
            return [one for passages in asked for one in await self._embed_all([passages])]
        return [list(itertools.islice(found, len(passages))) for passages in asked]

    async def _embed(self, passages: Sequence[Prefixed]) -> list[Windows]:
        firsts = iter(range(0, len(passages), _PART))
        answers: dict[int, list[Windows]] = {}

        async def ask_on() -> None:
            for first in firsts:
                answers[first] = await self._ask(passages[first : first + _PART])

        asking = [asyncio.ensure_future(ask_on()) for _ in range(_IN_FLIGHT)]
        try:
            await asyncio.gather(*asking)
        finally:
            for one in asking:
                one.cancel()
        return [windows for first in sorted(answers) for windows in answers[first]]

    async def close(self) -> None:
        """End the child; what is still under way fails."""
        self._closed = True
        async with self._starting:
            if self._child:
                await self._child.stop()

    async def _ask(self, passages: Sequence[Prefixed]) -> list[Windows]:
        request: Frame = {"passages": passages}
        try:
            answer = await (await self._running()).ask(request)
        except _ChildDied as error:
            log.warning("the embedding process died (%s); it is started again", error)
            try:
                answer = await (await self._running()).ask(request)
            except _ChildDied as again:
                raise ProviderError(f"the embedding process of '{self._name}' died twice: {again}") from again
        return _unpack(self._answered(answer))

    async def _running(self) -> "_Child":
        async with self._starting:
            if self._closed:
                raise Unavailable("the embedding process was closed")
            if self._child is None or self._child.ended:
                self._child = await self._greeted(await _Child.start())
            return self._child

    async def _greeted(self, child: "_Child") -> "_Child":
        try:
            found = self._answered(await child.ask(self._hello))["name"]
            if found != self._name:
                raise ProviderError(f"the embedding process made '{found}' where '{self._name}' was asked for")
        except BaseException:
            await child.stop()
            raise
        return child

    def _answered(self, answer: Frame) -> Frame:
        if "error" in answer:
            raise ProviderError(f"the embedding process of '{self._name}' failed: {answer['error']}")
        return answer


class _ChildDied(Exception):
    """The child ended with a request under way; the message says how."""


class _Child:
    """A running process and the requests it has not answered yet."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Frame]] = {}
        self._stderr = b""
        self._listening = asyncio.ensure_future(self._listen())
        self.ended = False

    @classmethod
    async def start(cls) -> "_Child":
        """Start the process: on this one's import path, and out of reach of a Ctrl-C meant for this one."""
        return cls(
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", _CHILD),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
                start_new_session=True,
            )
        )

    async def ask(self, request: Frame) -> Frame:
        """Send a request and wait for its answer."""
        if self.ended:
            raise _ChildDied(self._how_it_ended())
        number = next(self._numbers)
        answer: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(pack_frame({"id": number, **request}))
            # A broken pipe means that it died, and then `_listen` fails the answer with the reason.
            with contextlib.suppress(ConnectionError):
                await stdin.drain()
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def stop(self) -> None:
        """Ask it to end by closing its input; kill it where it does not."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._wait_or_kill()
        await self._listening

    async def _wait_or_kill(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        errors = asyncio.ensure_future(self._keep_stderr())
        while (frame := await read_frame(self._process.stdout)) is not None:
            answer = self._waiting.get(frame["id"])
            if answer and not answer.done():
                answer.set_result(frame)
        await self._wait_or_kill()
        await asyncio.wait([errors], timeout=_PATIENCE_S)
        errors.cancel()
        self.ended = True
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(_ChildDied(self._how_it_ended()))

    async def _keep_stderr(self) -> None:
        assert self._process.stderr is not None
        while some := await self._process.stderr.read(_STDERR_KEPT):
            self._stderr = (self._stderr + some)[-_STDERR_KEPT:]

    def _how_it_ended(self) -> str:
        code = self._process.returncode or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        return f"{how}: {lines[-1]}" if lines else how


def pack_frame(frame: Frame) -> bytes:
    """A message as it goes through the pipe: four bytes of length, then JSON."""
    body = json.dumps(frame).encode()
    return len(body).to_bytes(4, "big") + body


async def read_frame(source: asyncio.StreamReader) -> Frame | None:
    """The next message; None where the other end is gone."""
    try:
        size = int.from_bytes(await source.readexactly(4), "big")
        frame: Frame = json.loads(await source.readexactly(size))
        return frame
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def pack_vectors(passages: Sequence[Windows]) -> Frame:
    """The part of an answer that holds the vectors: float32, all in a row, and how many belong to each passage."""
    flat = np.array([vector for windows in passages for vector in windows], dtype="<f4")
    return {"counts": [len(windows) for windows in passages], "vectors": base64.b64encode(flat.tobytes()).decode()}


def _unpack(answer: Frame) -> list[Windows]:
    counts: list[int] = answer["counts"]
    rows = np.frombuffer(base64.b64decode(answer["vectors"]), dtype="<f4").reshape(sum(counts), -1).tolist()
    rest = iter(rows)
    return [list(itertools.islice(rest, count)) for count in counts]
