"""The socket of the embedded server: in a private folder, with a path short enough for a socket."""

import errno
import os
import shutil
import socket
import stat
from pathlib import Path
from urllib.parse import quote

from pincite.errors import DataFolderError
from pincite.store.embedded.cluster import Cluster

PORT = 5432
"""Part of the socket's name only: the server does not listen on TCP."""

MAX_SOCKET_PATH_BYTES = 103
"""Bytes in the path of a socket at most, on macOS; Linux allows four more."""

NO_SOCKET_ERRORS = (errno.EOPNOTSUPP, errno.EPERM, errno.EINVAL, errno.ENOSYS)
"""Errors of file systems without sockets, such as some that a container shares with its host."""


def socket_folder(cluster: Cluster) -> Path:
    """Return the folder of the socket: in the data folder, or in /tmp if its path or file system is unsuitable.

    The data folder is preferred because all processes that share the server see it; a service or a container often has
    its own /tmp.
    """
    inside = cluster.folder / "postgres.socket"
    fits = len(os.fsencode(_socket(inside))) <= MAX_SOCKET_PATH_BYTES
    if fits and "," not in str(inside) and _supports_sockets(cluster.folder):  # a comma would separate two hosts
        return inside
    return Path("/tmp", cluster.name)  # noqa: S108 - prepare() refuses a folder of others


def url(cluster: Cluster, folder: Path, database: str) -> str:
    """Return the superuser's address of a database, with the password."""
    host = quote(os.fsencode(folder), safe="")
    return f"postgresql://pincite:{quote(cluster.secret, safe='')}@/{database}?host={host}&port={PORT}"


def prepare(cluster: Cluster, folder: Path) -> None:
    """Recreate the socket's folder without leftovers of a crashed server or a copy; refuse a folder of another user."""
    if os.path.lexists(folder):
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (cluster.account.uid, os.geteuid()):
            raise DataFolderError(f"{folder} is not a folder of the embedded database: remove it")
        shutil.rmtree(folder)
    folder.mkdir(0o700)
    cluster.account.give_folder(folder)


def is_reachable(cluster: Cluster, folder: Path) -> bool:
    """Whether a server answers at the socket, in a folder that only its account can write."""
    if not os.path.lexists(folder) or not _is_private(cluster, folder):
        return False
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(str(_socket(folder)))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except TimeoutError:
            return True  # the server is too busy to answer
    return True


def _socket(folder: Path) -> Path:
    return folder / f".s.PGSQL.{PORT}"


def _is_private(cluster: Cluster, folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == cluster.account.uid and not found.st_mode & 0o077


def _supports_sockets(folder: Path) -> bool:
    trial = folder / "postgres.trial"
    trial.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.bind(str(trial))
        except OSError as error:
            if error.errno in NO_SOCKET_ERRORS:
                return False
            raise
    trial.unlink()
    return True
