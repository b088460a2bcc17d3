"""The HTTP server: one per data folder, running until it is stopped."""

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn

from pincite.api.app import make_app
from pincite.api.middleware.connection_limits import connection_class
from pincite.api.middleware.request_limits import MAX_JSON_BYTES
from pincite.api.workers import Further, further_processes
from pincite.concurrency import cancel_and_wait
from pincite.engine.app import AsyncPincite
from pincite.errors import BadRequest, Conflict
from pincite.tracing.metrics import SharedMetrics

if sys.platform != "win32":
    import fcntl

REQUEST_GRACE_S = 0.5
"""Seconds that requests have to finish when the server stops; streams and sockets are notified at once."""
CANCEL_TIMEOUT_S = 2.0
"""Seconds that cancelled requests have to send their error response."""
CONNECTION_CLOSE_TIMEOUT_S = 5
"""Seconds after which uvicorn closes connections that are still open."""
BACKLOG = 512
"""Connections that the kernel queues until they are accepted."""
MAX_ACCEPTED_AT_ONCE = 2
"""Connections that one of several workers accepts at once, so that those that arrive together are spread."""
ALONE = Further()
METRICS_INTERVAL_S = 1.0
"""Seconds between two writings of a worker's metrics for the others."""


async def serve(
    pincite: AsyncPincite, *, host: str, port: int, ready: Callable[[str], None], further: Further = ALONE
) -> None:
    """Serve until SIGINT, SIGTERM or cancellation; `ready` is called with the URL once the server listens."""
    further.check(pincite.settings.database.pool_size, embedded=pincite.settings.database.url is None)
    with _only_server(pincite.settings.data), _listening_socket(host, port) as listener:
        async with further_processes(further, host, listener, pincite.settings.data):
            await serve_socket(
                pincite,
                listener,
                host=host,
                worker=1 if further.count else None,
                ready=lambda: ready(_url(host, listener)),
            )


async def serve_socket(
    pincite: AsyncPincite, listener: socket.socket, *, host: str, worker: int | None, ready: Callable[[], None]
) -> None:
    """Serve connections of a listening socket, alone or as one of several workers, numbered from 1."""
    app = make_app(pincite, host=host, worker=worker)
    config = uvicorn.Config(
        app,
        http=connection_class(pincite.settings.server.max_connections),
        ws="websockets-sansio",
        ws_max_size=MAX_JSON_BYTES,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG if worker is None else MAX_ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=CONNECTION_CLOSE_TIMEOUT_S,
    )

    def listens() -> None:
        listener.listen(BACKLOG)  # uvicorn has set it to the number of connections accepted at once
        ready()

    server = _Server(config, listens, app.state.stopping.set)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        async with sharing_metrics(pincite, worker):
            await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise


@asynccontextmanager
async def sharing_metrics(pincite: AsyncPincite, worker: int | None) -> AsyncIterator[None]:
    """Let each of several workers report the metrics of all; one alone has nobody to share them with."""
    if worker is None:
        yield
        return
    shared = SharedMetrics(pincite.settings.data, worker)
    pincite.admin.metrics.shared = shared

    async def publish() -> None:
        while True:
            shared.publish(pincite.admin.metrics)
            await asyncio.sleep(METRICS_INTERVAL_S)

    publishing = asyncio.create_task(publish())
    try:
        yield
    finally:
        await cancel_and_wait(publishing)
        shared.remove()


class _Server(uvicorn.Server):
    """uvicorn with callbacks when it listens and when it stops; it cancels requests that outlast the grace period.

    A signal ends `serve` and is not raised again afterwards.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        ending = asyncio.create_task(self._end_requests())
        await super().shutdown(sockets)
        await ending  # clients get their error before the engine closes

    async def _end_requests(self) -> None:
        """Wait for requests to finish, then cancel them and wait for their error responses."""
        tasks = self.server_state.tasks
        for timeout_s in (REQUEST_GRACE_S, CANCEL_TIMEOUT_S):
            if tasks:
                await asyncio.wait(set(tasks), timeout=timeout_s)
            for task in set(tasks):
                task.cancel()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _listening_socket(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        # Connections inherit this option. asyncio sets it only on sockets with an explicit protocol. Without it,
        # every response waits 40 ms for the client to acknowledge its headers.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _enable_keepalive(listener)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Conflict(f"port {port} is in use; choose another with --port") from error
        raise BadRequest(f"cannot listen on {host}, port {port}: {error.strerror}; see --host and --port") from error
    with listener:
        yield listener


def _enable_keepalive(listener: socket.socket) -> None:
    """Enable TCP keepalive, which connections inherit: one whose client vanished ends within about two minutes."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4), ("TCP_USER_TIMEOUT", 90_000)):
        if hasattr(socket, name):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _url(host: str, listener: socket.socket) -> str:
    """The URL under which a browser on this machine reaches the server."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listener.getsockname()[1]}"


@contextmanager
def _only_server(data: Path) -> Iterator[None]:
    """Hold the lock of the data folder's server; the kernel releases it however the process ends."""
    if sys.platform == "win32":  # without flock; two servers then share the work
        yield
        return
    lock = os.open(data / "serve.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            process = os.pread(lock, 20, 0).decode(errors="replace").strip() or "?"
            raise Conflict(f"{data} is already being served by process {process}") from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(lock)
