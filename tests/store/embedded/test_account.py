"""The account of the server: for ordinary users, and for root, which PostgreSQL refuses."""

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import pincite
from pincite.errors import DataFolderError
from pincite.store.embedded import cluster, postmaster
from pincite.store.embedded.account import account_for
from pincite.store.embedded.server import EmbeddedServer

SHARER = """
import sys
from pathlib import Path
import psycopg
from pincite.errors import DataFolderError
from pincite.store.embedded.server import EmbeddedServer
try:
    with EmbeddedServer.open(Path(sys.argv[1])) as server, psycopg.connect(server.url) as connection:
        print(*connection.execute("select 'in'").fetchone(), flush=True)
        sys.stdin.read()
except DataFolderError as error:
    print(error)
"""
LIBRARIES = f"{Path(pincite.__file__).parents[1]}:{Path(psycopg.__file__).parents[1]}"

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as several users")


@pytest.fixture(scope="module")
def open_to_all() -> Iterator[Path]:
    """A folder that every user can access; pytest's own folders are private."""
    folder = Path(tempfile.mkdtemp(prefix="test-pincite-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def python() -> str:
    """A Python interpreter with the installed packages that other users can run."""
    for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        trial = [candidate, "-c", "import pincite.store.embedded.server"]
        try:
            if (
                subprocess.run(trial, user="nobody", env={"PYTHONPATH": LIBRARIES}, cwd="/", check=False).returncode
                == 0
            ):
                return candidate
        except OSError:
            continue
    pytest.skip("no interpreter here can be run by another user")


def folder_of(user: str, base: Path) -> Path:
    folder = Path(tempfile.mkdtemp(dir=base))
    shutil.chown(folder, user)
    return folder


def sharer(python: str, user: str | int, data: Path) -> subprocess.Popen[str]:
    group = user if isinstance(user, int) else pwd.getpwnam(user).pw_gid
    return subprocess.Popen(
        [python, "-c", SHARER, str(data)],
        user=user,
        group=group,
        extra_groups=[],
        env={"PYTHONPATH": LIBRARIES},
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=60)[0].strip()


@root_only
@pytest.mark.slow
def test_two_users_and_root_do_not_disturb_each_other(python: str, open_to_all: Path, tmp_path: Path) -> None:
    users = ("nobody", "daemon")
    folders = [folder_of(user, open_to_all) / "data" for user in users]
    processes = [sharer(python, user, folder) for user, folder in zip(users, folders, strict=True)]
    with EmbeddedServer.open(tmp_path) as server, psycopg.connect(server.url) as connection:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "in\n"
        assert connection.execute("select 1").fetchone() == (1,)
        for user, folder in zip(users, folders, strict=True):
            assert {path.owner() for path in folder.iterdir()} == {user}
    assert [said(process) for process in processes] == ["", ""]


@root_only
@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_refused(python: str, open_to_all: Path) -> None:
    closed = folder_of("daemon", open_to_all)
    closed.chmod(0o755)
    assert said(sharer(python, "nobody", closed)).startswith(
        f"{closed} belongs to daemon and cannot be written by nobody: make it writable, or choose another folder"
    )
    assert "permission denied" in said(sharer(python, "nobody", closed / "data"))
    assert "permission denied" in said(sharer(python, "nobody", Path("/root/data")))


@root_only
@pytest.mark.slow
def test_a_user_without_a_name_is_refused(python: str, open_to_all: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir=open_to_all))
    os.chown(folder, 12345, 12345)
    assert said(sharer(python, 12345, folder)).startswith("user 12345 has no name on this machine")


@root_only
@pytest.mark.slow
def test_root_shares_a_users_server_without_changing_owners(python: str, open_to_all: Path) -> None:
    data = folder_of("nobody", open_to_all)
    with EmbeddedServer.open(data) as server:
        assert {path.owner() for path in data.iterdir()} == {"nobody"}
        assert said(sharer(python, "nobody", data)) == "in"
        with psycopg.connect(server.url) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
    assert said(sharer(python, "nobody", data)) == "in"


@root_only
@pytest.mark.slow
def test_root_runs_the_server_as_an_ordinary_user_in_closed_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs and data are in folders that the user cannot enter, and their permissions stay unchanged."""
    package = cluster.programs().parents[1]
    programs = tmp_path / "closed" / package.name / cluster.programs().parent.name / "bin"
    shutil.copytree(cluster.programs().parent, programs.parent)
    shutil.copytree(package.with_name(f"{package.name}.libs"), tmp_path / "closed" / f"{package.name}.libs")
    (tmp_path / "closed").chmod(0o700)
    for module in (cluster, postmaster):
        monkeypatch.setattr(module, "programs", lambda: programs)
    with EmbeddedServer.open(tmp_path / "closed" / "data") as server, psycopg.connect(server.url) as connection:
        connection.execute("create extension vector")
        owner = (server.folder / "postgres").stat().st_uid
        assert owner != 0
        assert {path.stat().st_uid for path in (server.folder / "postgres").rglob("*")} == {owner}
        assert (server.folder / "postgres.secret").stat().st_uid == 0
    for folder in (tmp_path / "closed", tmp_path / "closed" / "data"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@root_only
def test_root_uses_the_account_of_an_existing_database(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    os.chown(tmp_path / "postgres", 4321, 4321)
    account = account_for(tmp_path, tmp_path / "postgres")
    assert (account.uid, account.gid, account.owner_uid) == (4321, 4321, 0)


def test_a_database_of_another_user_in_our_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "postgres").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(DataFolderError, match=r"belongs to .*: run pincite as that user"):
        account_for(tmp_path, tmp_path / "postgres")
