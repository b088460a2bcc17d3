"""The embedded server's main process: start it, wait for it, and report why it does not start."""

import os
import sys
import time
from pathlib import Path

import psycopg

from pincite.errors import DataFolderError
from pincite.store.embedded import address, keeper
from pincite.store.embedded.cluster import Cluster, error_line, programs

START_TIMEOUT_S = 300.0
"""Seconds for the server to become ready: after a crash, it first replays up to `max_wal_size` of WAL."""

MAX_ATTEMPTS = 3
"""Attempts to start the server and to connect to it."""
LOCK_TIMEOUT_S = 5.0
"""Seconds to wait for the lock on the files of the database."""
MAX_LOG_BYTES = 4 * 2**20
"""Size of the server's log above which it is truncated at the next start."""
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - PostgreSQL makes private files there
MIN_SHARED_MEMORY_BYTES = 256 * 2**20
"""Size of the shared memory file system below which PostgreSQL uses files instead."""

SETTINGS = {
    "listen_addresses": "",
    "port": str(address.PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "jit": "off",
    "scram_iterations": "1",
    # Durable: acknowledged changes survive a power failure, whatever a configuration file says.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # This server has no replica, so its WAL contains only what recovery needs.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
    # A library may be filled in minutes and closed again: without statistics, its searches would have bad plans.
    "autovacuum": "on",
    "autovacuum_naptime": "10s",
    # The log is about the server only: errors of statements go to the client, and their texts are not written to files.
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
    "log_autovacuum_min_duration": "-1",
}


def serve(cluster: Cluster, socket: Path, shared_buffers_mb: int) -> None:
    """Make sure that the server runs, can be reached, and has its database."""
    for trial in range(1, MAX_ATTEMPTS + 1):
        _ensure_running(cluster, socket, shared_buffers_mb)
        try:
            _ensure_database(cluster, socket)
            break
        except psycopg.Error as error:
            if trial == MAX_ATTEMPTS:
                reason = " ".join(str(error).split())
                raise DataFolderError(f"the database in {cluster.files} refuses the connection: {reason}") from error
            time.sleep(0.1)  # the server may have been stopping during the check


def _ensure_running(cluster: Cluster, socket: Path, shared_buffers_mb: int) -> None:
    """Start the server unless it runs; restart it if it runs but cannot be reached."""
    with cluster.version() as version:
        if keeper.is_alive(version) and _becomes_ready(cluster, version):
            if address.is_reachable(cluster, socket):
                return
            if not keeper.stop(version, cluster.name):
                raise DataFolderError(
                    f"{cluster.files} is in use by a server that can be neither reached nor stopped from here: "
                    "stop it where it was started, perhaps in another container"
                )
        log_size = _start(cluster, socket, shared_buffers_mb)
        if not _becomes_ready(cluster, version):
            output = cluster.log.read_bytes()[log_size:].decode(errors="replace")
            raise DataFolderError(
                f"the database in {cluster.files} does not start: {error_line(output)} (more in {cluster.log})"
            )


def _ensure_database(cluster: Cluster, socket: Path) -> None:
    """Create the database if it is missing."""
    login = address.url(cluster, socket, "postgres")
    with psycopg.connect(login, autocommit=True, connect_timeout=30) as connection:
        if not connection.execute("select 1 from pg_database where datname = 'pincite'").fetchone():
            connection.execute("create database pincite")


def _start(cluster: Cluster, socket: Path, shared_buffers_mb: int) -> int:
    """Start the server; return the size of its log before."""
    with cluster.version() as version, cluster.opened_log() as log:
        if not keeper.wait_lock(version, keeper.EXCLUSIVE, LOCK_TIMEOUT_S):
            raise DataFolderError(f"{cluster.files} is in use by another server: stop it, and try again")
        # With the lock, files of a dead server are stale, even if its process id is in use again.
        (cluster.files / "postmaster.pid").unlink(missing_ok=True)
        address.prepare(cluster, socket)
        if os.fstat(log).st_size > MAX_LOG_BYTES:
            os.ftruncate(log, 0)
        log_size = os.fstat(log).st_size
        command = _command(cluster, socket, shared_buffers_mb)
        cluster.account.start(command, (cluster.files, socket), version, log)
    return log_size


def _command(cluster: Cluster, socket: Path, shared_buffers_mb: int) -> list[str]:
    quoted = str(socket).replace('"', '""')
    own = {"cluster_name": cluster.name, "unix_socket_directories": f'"{quoted}"'}
    settings = SETTINGS | _memory(shared_buffers_mb) | own
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return [str(programs() / "postgres"), "-D", str(cluster.files), *options]


def _becomes_ready(cluster: Cluster, version: int) -> bool:
    """Wait until the server is ready; return false if it ends instead."""
    end = time.monotonic() + START_TIMEOUT_S
    while keeper.is_alive(version):
        if (state := _state(cluster)) == b"ready":
            return True
        if state == b"stopping":  # a smart shutdown would wait for open connections without limit
            keeper.stop(version, cluster.name)
            continue
        if time.monotonic() > end:
            raise DataFolderError(
                f"the database in {cluster.files} is not ready after {START_TIMEOUT_S:.0f} s: "
                f"see {cluster.log}, and try again"
            )
        time.sleep(keeper.POLL_S)
    return False


def _state(cluster: Cluster) -> bytes:
    """Return the last line of the server's own lock file: starting, ready or stopping."""
    try:
        return b"".join((cluster.files / "postmaster.pid").read_bytes().split()[-1:])
    except FileNotFoundError:
        return b""


def _memory(shared_buffers_mb: int) -> dict[str, str]:
    settings = {"shared_buffers": f"{shared_buffers_mb}MB"}
    if sys.platform == "linux" and _is_too_small(SHARED_MEMORY):
        settings["dynamic_shared_memory_type"] = "mmap"
    return settings


def _is_too_small(shared_memory: Path) -> bool:
    """Whether the shared memory is too small for a parallel index build, as in containers, which often have 64 MB."""
    if not shared_memory.is_dir():
        return True
    found = os.statvfs(shared_memory)
    return found.f_blocks * found.f_frsize < MIN_SHARED_MEMORY_BYTES
