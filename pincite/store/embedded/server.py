"""Starts, finds and stops the embedded PostgreSQL: processes share one server, and the last one stops it.

Three file locks in the data folder coordinate this; the kernel releases them however a process ends:
`postgres.lock` lets one process at a time create or start the database; `postgres.share` is a shared lock of all
processes that use it; `postgres.keeper` belongs to the keeper, a small process that stops the server after the last.
"""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from pincite.errors import DataFolderError

if sys.platform != "win32":
    from pincite.store.embedded import address, keeper, postmaster
    from pincite.store.embedded.account import user_name
    from pincite.store.embedded.cluster import Cluster, check_version, find_cluster, open_file

LOCK_TIMEOUT_S = 400.0
"""Seconds to wait for another process that starts or stops the server; longer than either can take."""

OTHER_FOLDER = "choose another folder with --data or PINCITE_DATA"
REASONS = {
    errno.ENOSPC: f"its disk is full: free some space, or {OTHER_FOLDER} on another disk",
    errno.EDQUOT: f"your disk quota is used up: free some space, or {OTHER_FOLDER} on another disk",
    errno.EROFS: f"its file system is read-only: {OTHER_FOLDER}",
    errno.EACCES: f"permission denied: run pincite as its owner, or {OTHER_FOLDER}",
    errno.EPERM: f"permission denied: run pincite as its owner, or {OTHER_FOLDER}",
    errno.ENOTDIR: f"a part of the path is a file: {OTHER_FOLDER}",
    errno.EEXIST: f"a part of the path is a file: {OTHER_FOLDER}",
}


class EmbeddedServer:
    """A share in the embedded server of a data folder; the server stops when the last share is closed."""

    def __init__(self, cluster: "Cluster", socket: Path, share: int) -> None:
        self.folder = cluster.folder
        self.url = address.url(cluster, socket, "pincite")
        self._name = cluster.name
        self._socket = socket
        # Kept open, because the data folder may be moved or deleted before the share is closed.
        self._version = cluster.open_version()
        self._share: int | None = share

    @classmethod
    def open(cls, data: Path, *, shared_buffers_mb: int = 128) -> Self:
        """Open a share in the data folder's server, which is created, repaired and started as needed.

        `shared_buffers_mb` takes effect only for the process that starts the server. Opening again restarts a crashed
        server at the same address, so that other processes can reconnect.
        """
        if sys.platform == "win32":
            raise DataFolderError(
                "the embedded database does not run on Windows: point PINCITE_DATABASE_URL at a PostgreSQL server, "
                "or run pincite in WSL"
            )
        folder = Path(os.path.realpath(data))
        try:
            _check_folder(folder)
            with _start_lock(folder) as lock:
                cluster = find_cluster(folder, lock)
                socket = address.socket_folder(cluster)
                return cls(cluster, socket, _join(cluster, socket, shared_buffers_mb))
        except OSError as error:
            reason = REASONS.get(error.errno or 0, f"{error.strerror or error}: {OTHER_FOLDER}")
            raise DataFolderError(f"{error.filename or folder} cannot be used, {reason}") from error

    def close(self) -> None:
        """Close the share; the last one waits until the server has stopped."""
        share, self._share = self._share, None
        if share is None:
            return
        try:
            if keeper.try_lock(share, keeper.EXCLUSIVE):
                if keeper.stop(self._version, self._name):  # otherwise the keeper tries next
                    with suppress(OSError):  # the data folder may have been moved or deleted
                        self._socket.rmdir()
            else:
                keeper.wait_lock(share, keeper.SHARED, LOCK_TIMEOUT_S)  # immediate unless the keeper stops the server
        finally:
            os.close(share)
            os.close(self._version)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check_folder(folder: Path) -> None:
    """Create the data folder, or refuse an unusable one, before anything in it is changed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        folder.mkdir(0o700, exist_ok=True)
    if not folder.is_dir():
        raise DataFolderError(f"{folder} is a file, and a folder is needed: {OTHER_FOLDER}")
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(folder))
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        owner, me = user_name(folder.stat().st_uid), user_name(os.geteuid())
        raise DataFolderError(
            f"{folder} belongs to {owner} and cannot be written by {me}: make it writable, or {OTHER_FOLDER}"
        )
    check_version(folder / "postgres")


def _join(cluster: "Cluster", socket: Path, shared_buffers_mb: int) -> int:
    """Take a share in the server, and make sure that the server and a keeper run."""
    share = _open_lock(cluster.folder / "postgres.share")
    try:
        _wait(share, keeper.SHARED, cluster.folder)
        _ensure_keeper(cluster)
        postmaster.serve(cluster, socket, shared_buffers_mb)
    except BaseException:
        os.close(share)
        raise
    return share


def _ensure_keeper(cluster: "Cluster") -> None:
    """Start a keeper unless one runs; before the server, so that no server runs without a keeper."""
    lock = _open_lock(cluster.folder / "postgres.keeper")
    share = _open_lock(cluster.folder / "postgres.share")
    try:
        if not keeper.try_lock(lock, keeper.EXCLUSIVE):
            return
        with cluster.version() as version, cluster.opened_log() as log:
            files = (share, lock, version)
            started = subprocess.run(
                [sys.executable, "-I", "-S", keeper.__file__, *map(str, files), cluster.name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=files,
                start_new_session=True,
                check=False,
            )
        if started.returncode != 0:
            raise DataFolderError(f"the process that stops the database later cannot be started: see {cluster.log}")
    finally:
        os.close(share)
        os.close(lock)


@contextmanager
def _start_lock(folder: Path) -> Iterator[int]:
    """Hold the lock to create or start this database; yield its file descriptor."""
    lock = _open_lock(folder / "postgres.lock")
    try:
        _wait(lock, keeper.EXCLUSIVE, folder)
        yield lock
    finally:
        os.close(lock)


def _wait(lock: int, mode: int, folder: Path) -> None:
    if not keeper.wait_lock(lock, mode, LOCK_TIMEOUT_S):
        raise DataFolderError(
            f"another process has been starting or stopping the database in {folder} for {LOCK_TIMEOUT_S:.0f} s: "
            "end it, and try again"
        )


def _open_lock(path: Path) -> int:
    owner = path.parent.stat()
    return open_file(path, os.O_RDWR | os.O_CREAT, (owner.st_uid, owner.st_gid))
