"""Where the embedded server's socket is: in a folder nobody else can enter, with a path short enough for one."""

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
"""Only a part of the socket's name: the server does not listen on TCP."""

MAX_SOCKET_PATH_BYTES = 103
"""Bytes in the path of a socket on macOS; Linux allows four more."""

NO_SOCKET_ERRORS = (errno.EOPNOTSUPP, errno.EPERM, errno.EINVAL, errno.ENOSYS)
"""What file systems without sockets answer, such as some that a container shares with its host."""


def socket_folder(cluster: Cluster) -> Path:
    """Choose the folder: in the data folder, or in /tmp if the path or the file system there cannot hold a socket.

    The data folder is preferred because all who share the server see it; of /tmp, a service or a container often
    has its own.
    """
    inside = cluster.folder / "postgres.socket"
    fits = len(os.fsencode(_socket(inside))) <= MAX_SOCKET_PATH_BYTES
    if fits and "," not in str(inside) and _supports_sockets(cluster.folder):  # a comma would make two hosts of it
        return inside
    return Path("/tmp", cluster.name)  # noqa: S108 - prepare() refuses it unless it is ours and private


def url(cluster: Cluster, folder: Path, database: str) -> str:
    """The superuser's address of a database, password included."""
    host = quote(os.fsencode(folder), safe="")
    return f"postgresql://pincite:{quote(cluster.secret, safe='')}@/{database}?host={host}&port={PORT}"


def prepare(cluster: Cluster, folder: Path) -> None:
    """Make the folder anew, with nothing in it that a crashed server or a copy left; refuse to take another's."""
    if os.path.lexists(folder):
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (cluster.account.uid, os.geteuid()):
            raise DataFolderError(f"{folder} should be a folder of the embedded database, but is another's: remove it")
        shutil.rmtree(folder)
    folder.mkdir(0o700)
    cluster.account.give_folder(folder)


def is_reachable(cluster: Cluster, folder: Path) -> bool:
    """Whether a server answers at the socket, and nobody else can have put it there."""
    if not os.path.lexists(folder) or not _is_private(cluster, folder):
        return False
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(str(_socket(folder)))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except TimeoutError:
            return True  # too busy to answer, but there
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
