"""The folder of the socket, and refused folders."""

import errno
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pincite.errors import DataFolderError
from pincite.store.embedded import address
from pincite.store.embedded.account import Account
from pincite.store.embedded.cluster import Cluster


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short path, independent of the user's name."""
    with tempfile.TemporaryDirectory(prefix="p") as folder:
        yield Path(folder)


def cluster_in(folder: Path) -> Cluster:
    folder.mkdir(exist_ok=True)
    account = Account(os.geteuid(), os.getegid(), os.geteuid(), os.getegid())
    return Cluster(folder, account, "a%b/c", "pincite-test")


def test_the_socket_is_in_the_data_folder_if_the_path_fits(short: Path) -> None:
    assert address.socket_folder(cluster_in(short)) == short / "postgres.socket"
    assert list(short.iterdir()) == []


@pytest.mark.parametrize("name", ["d" * 80, "dé" * 30, "a,b"])
def test_the_socket_is_in_tmp_if_the_path_is_too_long_or_has_a_comma(tmp_path: Path, name: str) -> None:
    assert address.socket_folder(cluster_in(tmp_path / name)) == Path("/tmp/pincite-test")


def test_the_socket_is_in_tmp_if_the_file_system_has_no_sockets(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", lambda _: FailingSocket(errno.EOPNOTSUPP))
    assert address.socket_folder(cluster_in(short)) == Path("/tmp/pincite-test")
    monkeypatch.setattr(socket, "socket", lambda _: FailingSocket(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        address.socket_folder(cluster_in(short))


class FailingSocket(socket.socket):
    """A socket that fails to bind, as on some file systems."""

    def __init__(self, number: int) -> None:
        super().__init__(socket.AF_UNIX)
        self._number = number

    def bind(self, _: object) -> None:
        raise OSError(self._number, os.strerror(self._number))


def test_the_url_survives_odd_characters(tmp_path: Path) -> None:
    folder = tmp_path / "a b&c=d?e#f%20é"
    parts = psycopg.conninfo.conninfo_to_dict(address.url(cluster_in(tmp_path), folder, "pincite"))
    assert parts == {"user": "pincite", "password": "a%b/c", "dbname": "pincite", "host": str(folder), "port": "5432"}


def test_an_own_socket_folder_is_recreated(tmp_path: Path) -> None:
    folder = tmp_path / "postgres.socket"
    folder.mkdir(0o755)
    (folder / ".s.PGSQL.5432.lock").write_text("stale")
    address.prepare(cluster_in(tmp_path), folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.iterdir()) == []


def test_a_symlink_or_file_is_refused_as_socket_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file").write_text("")
    for name in ("link", "file"):
        with pytest.raises(DataFolderError, match="is not a folder of the embedded database: remove it"):
            address.prepare(cluster_in(tmp_path), tmp_path / name)
        assert not address.is_reachable(cluster_in(tmp_path), tmp_path / name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_another_users_folder_is_not_taken(tmp_path: Path) -> None:
    folder = tmp_path / "squatted"
    folder.mkdir(0o700)
    os.chown(folder, 4321, 4321)
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(folder / ".s.PGSQL.5432"))
        trap.listen()
        assert not address.is_reachable(cluster_in(tmp_path), folder)
    with pytest.raises(DataFolderError, match="is not a folder of the embedded database: remove it"):
        address.prepare(cluster_in(tmp_path), folder)
