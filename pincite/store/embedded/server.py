"""Starts, finds and stops the embedded PostgreSQL: processes share one server, and the last to leave stops it.

Three locks in the data folder order this, released by the kernel however a process ends:
`postgres.lock` lets one process at a time make or start the database; `postgres.share` is held in common by all
who use it; `postgres.keeper` belongs to the keeper, a small process that stops the server once nobody shares it.
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
"""Seconds to wait for another process that is starting or stopping the server; longer than that may take."""

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
    """A share in the embedded server of a data folder; the server stops when the last share is given back."""

    def __init__(self, cluster: "Cluster", socket: Path, share: int) -> None:
        self.folder = cluster.folder
        self.url = address.url(cluster, socket, "pincite")
        self._name = cluster.name
        self._socket = socket
        # Open from now on: the data folder may be moved or deleted before the share is given back.
        self._version = cluster.open_version()
        self._share: int | None = share

    @classmethod
    def open(cls, data: Path, *, shared_buffers_mb: int = 128) -> Self:
        """Take a share in the data folder's server; made, repaired and started as needed.

        The memory set aside for pages counts for the one who starts the server. Opening again brings a crashed
        server back at the same address, so that connections of others can be made anew.
        """
        if sys.platform == "win32":
            raise DataFolderError(
                "the embedded database does not run on Windows: point PINCITE_DATABASE_URL at a PostgreSQL server, "
                "or run pincite in WSL"
            )
        folder = Path(os.path.realpath(data))
        try:
            _check_folder(folder)
            with _start_lock(folder) as door:
                cluster = find_cluster(folder, door)
                socket = address.socket_folder(cluster)
                return cls(cluster, socket, _join(cluster, socket, shared_buffers_mb))
        except OSError as error:
            reason = REASONS.get(error.errno or 0, f"{error.strerror or error}: {OTHER_FOLDER}")
            raise DataFolderError(f"{error.filename or folder} cannot be used, {reason}") from error

    def close(self) -> None:
        """Give the share back; the last one waits until the server has stopped."""
        share, self._share = self._share, None
        if share is None:
            return
        try:
            if keeper.try_lock(share, keeper.EXCLUSIVE):
                if keeper.stop(self._version, self._name):  # if not, the keeper tries next
                    with suppress(OSError):  # moved or deleted with the data folder
                        self._socket.rmdir()
            else:
                keeper.wait_lock(
                    share, keeper.SHARED, LOCK_TIMEOUT_S
                )  # at once among sharers; else the keeper is at work
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
    """Make the data folder, or refuse one that cannot be used, before anything in it is touched."""
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
    """Take a share of a running server, with a keeper beside it."""
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
    """Start a keeper unless there is one; before the server, so that no server is ever without."""
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
            raise DataFolderError(f"the process that would stop the database cannot be started: see {cluster.log}")
    finally:
        os.close(share)
        os.close(lock)


@contextmanager
def _start_lock(folder: Path) -> Iterator[int]:
    """Be the only process that makes or starts this database."""
    door = _open_lock(folder / "postgres.lock")
    try:
        _wait(door, keeper.EXCLUSIVE, folder)
        yield door
    finally:
        os.close(door)


def _wait(lock: int, mode: int, folder: Path) -> None:
    if not keeper.wait_lock(lock, mode, LOCK_TIMEOUT_S):
        raise DataFolderError(
            f"another process has been starting or stopping the database in {folder} for {LOCK_TIMEOUT_S:.0f} s: "
            "end it, and try again"
        )


def _open_lock(path: Path) -> int:
    owner = path.parent.stat()
    return open_file(path, os.O_RDWR | os.O_CREAT, (owner.st_uid, owner.st_gid))
