"""Further processes of a server, which accept connections from the same socket; one that ends is replaced.

The first process is the server of the data folder: it binds the socket, holds the lock, processes files and starts the
others. These end with it, however it ends.
"""

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from pincite.concurrency import cancel_and_wait
from pincite.errors import PinciteError, SettingsError
from pincite.tracing.metrics import SharedMetrics

log = logging.getLogger(__name__)

FIRST_PAUSE_S, MAX_PAUSE_S = 0.2, 30.0
"""Seconds before an ended process is replaced; the pause doubles while the processes end soon after their start."""
STABLE_S = 10.0
"""Seconds after which a process counts as running, and the pause begins anew."""
STOP_TIMEOUT_S = 15.0
"""Seconds that a process has to end its requests before it is killed."""
EMBEDDED_CONNECTIONS, OTHER_CONNECTIONS = 95, 3
"""Connections that the embedded database accepts, and those of a process besides its pool."""


@dataclass(frozen=True, slots=True)
class Further:
    """How many processes serve besides the first, and the data folder and settings that they are opened with."""

    count: int = 0
    data: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def check(self, pool_size: int, *, embedded: bool) -> None:
        """Raise `SettingsError` where the processes together need more connections than the database accepts."""
        needed = (self.count + 1) * (pool_size + OTHER_CONNECTIONS)
        if self.count and embedded and needed > EMBEDDED_CONNECTIONS:
            most = EMBEDDED_CONNECTIONS // (self.count + 1) - OTHER_CONNECTIONS
            raise SettingsError(
                f"{self.count + 1} workers with database.pool_size={pool_size} need {needed} connections, and the "
                f"embedded database accepts {EMBEDDED_CONNECTIONS}; set database.pool_size={most}, or fewer workers"
            )


@asynccontextmanager
async def further_processes(further: Further, host: str, listener: socket.socket, data: Path) -> AsyncIterator[None]:
    """Run the further processes; at the end, all of them are stopped. `data` is the data folder."""
    keeping = [
        asyncio.create_task(_keep_running(number, further, host, listener, SharedMetrics(data, number)))
        for number in range(2, further.count + 2)
    ]
    try:
        yield
    finally:
        await asyncio.gather(*(cancel_and_wait(task) for task in keeping))


async def _keep_running(
    number: int, further: Further, host: str, listener: socket.socket, metrics: SharedMetrics
) -> None:
    """Start a process, and start it again whenever it ends; stop it when this task is cancelled."""
    spawn, loop, pause = multiprocessing.get_context("spawn"), asyncio.get_running_loop(), FIRST_PAUSE_S
    while True:
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_run, args=(number, further, host, listener, theirs), name=f"pincite-{number}")
        started = loop.time()
        with ours:
            with theirs:
                process.start()
            try:
                await _ended(process)
            except asyncio.CancelledError:
                await _stop(process)
                raise
            finally:
                metrics.remove()  # a killed process has left them
        pause = FIRST_PAUSE_S if loop.time() - started > STABLE_S else min(MAX_PAUSE_S, 2 * pause)
        log.warning("worker %d ended with code %s; it is started again", number, process.exitcode)
        process.close()
        await asyncio.sleep(pause)


async def _ended(process: BaseProcess) -> None:
    """Wait until a process has ended."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process.sentinel, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)
    process.join()


async def _stop(process: BaseProcess) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await _ended(process)
    except TimeoutError:
        process.kill()
        await _ended(process)
    process.close()


# --- in the further processes ---------------------------------------------------------------------------------


def _run(number: int, further: Further, host: str, listener: socket.socket, first: Connection) -> None:
    """Serve until SIGTERM, SIGINT, or the end of the first process."""
    for one in (signal.SIGINT, signal.SIGTERM):  # until the server listens, and handles them itself
        signal.signal(one, lambda *_: os._exit(0))
    try:
        asyncio.run(_serve(number, further, host, listener, first))
    except PinciteError as error:
        log.error("worker %d cannot serve: %s", number, error)
        raise SystemExit(error.exit_code) from None


async def _serve(number: int, further: Further, host: str, listener: socket.socket, first: Connection) -> None:
    from pincite.api.server import serve_socket  # it imports this module
    from pincite.engine.app import AsyncPincite
    from pincite.tracing import logs

    pincite = AsyncPincite(further.data, settings=further.settings)
    with logs.configure_logging(pincite.settings.logs):
        async with pincite:
            serving = asyncio.create_task(serve_socket(pincite, listener, host=host, worker=number, ready=lambda: None))
            asyncio.get_running_loop().add_reader(first.fileno(), serving.cancel)  # readable when the first has ended
            with suppress(asyncio.CancelledError):
                await serving
