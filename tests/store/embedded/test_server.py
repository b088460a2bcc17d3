"""The embedded server: started, shared, crashed and misused."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pincite.errors import DataFolderError
from pincite.store.embedded import keeper
from pincite.store.embedded.server import EmbeddedServer

SHARER = """
import sys
from pathlib import Path
from pincite.store.embedded.server import EmbeddedServer
with EmbeddedServer.open(Path(sys.argv[1])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """One server for all tests that change nothing."""
    with EmbeddedServer.open(tmp_path_factory.mktemp("looked at") / "new" / "data") as server:
        yield server


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose server has run once: copying it is faster than creating one."""
    folder = tmp_path_factory.mktemp("made") / "data"
    EmbeddedServer.open(folder).close()
    return folder


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Iterator[Path]:
    """A new data folder with a database."""
    folder = tmp_path / "data"
    shutil.copytree(made, folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def sharer(data: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that shares the server until its input ends or it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", SHARER, str(data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("postgresql://")
        yield process
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(30)


def ask(server: EmbeddedServer, statement: str) -> object:
    with psycopg.connect(server.url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


def socket_folder(server: EmbeddedServer) -> Path:
    return Path(str(conninfo_to_dict(server.url)["host"]))


def is_alive(data: Path) -> bool:
    version = os.open(data / "postgres" / "PG_VERSION", os.O_RDWR)
    try:
        return keeper.is_alive(version)
    finally:
        os.close(version)


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def master(data: Path) -> int:
    return int((data / "postgres" / "postmaster.pid").read_text().split()[0])


def children(pid: int) -> list[int]:
    listing = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=True)
    rows = (line.split() for line in listing.stdout.splitlines())
    return [int(child) for child, parent in rows if int(parent) == pid]


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def crash(data: Path, *, with_children: bool = True) -> None:
    pid = master(data)
    victims = [pid, *(children(pid) if with_children else [])]
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_server_answers(running: EmbeddedServer) -> None:
    assert ask(running, "select 1") == 1
    assert ask(running, "select current_user || ' ' || current_database()") == "pincite pincite"


def test_the_database_lowercases_letters_of_all_languages(running: EmbeddedServer) -> None:
    assert ask(running, "select lower('ÄΩЖ') || ' ' || current_setting('server_encoding')") == "äωж UTF8"


def test_an_acknowledged_upload_is_durable(running: EmbeddedServer) -> None:
    names = ("fsync", "synchronous_commit", "full_page_writes", "data_checksums")
    assert [ask(running, f"show {name}") for name in names] == ["on"] * 4


def test_files_are_private(running: EmbeddedServer) -> None:
    assert mode(running.folder) == 0o700
    assert mode(running.folder / "postgres.secret") == 0o600
    assert mode(running.folder / "postgres.log") == 0o600
    assert mode(running.folder / "postgres") == 0o700
    assert mode(socket_folder(running)) == 0o700
    assert mode(running.folder.parent) & 0o055 == 0o055 & ~current_umask(), "parents are made as usual"


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_server_requires_the_password(running: EmbeddedServer) -> None:
    rules = (running.folder / "postgres" / "pg_hba.conf").read_text()
    assert rules == "local all all scram-sha-256\n"
    secret = (running.folder / "postgres.secret").read_text()
    assert len(bytes.fromhex(secret)) == 32
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(running.url.replace(secret, secret[::-1]))


def test_the_server_does_not_listen_on_the_network(running: EmbeddedServer) -> None:
    assert ask(running, "show listen_addresses") == ""
    assert ask(running, "show unix_socket_directories") == f'"{socket_folder(running)}"'


def test_one_process_can_open_several_shares(data: Path) -> None:
    first = EmbeddedServer.open(data)
    second = EmbeddedServer.open(data)
    pid = master(data)
    first.close()
    first.close()
    assert ask(second, "select 1") == 1
    second.close()
    assert not is_alive(data)
    with EmbeddedServer.open(data, shared_buffers_mb=32) as third:
        assert ask(third, "show shared_buffers") == "32MB"
        assert master(data) != pid


def test_the_server_survives_killed_users_and_stops_after_the_last(data: Path) -> None:
    with sharer(data) as first, sharer(data) as second:
        pid = master(data)
        first.kill()
        first.wait()
        time.sleep(0.5)
        assert is_alive(data)
        with EmbeddedServer.open(data) as server:
            assert ask(server, "select 1") == 1
            assert master(data) == pid
        assert is_alive(data)
        second.kill()
        second.wait()
    assert wait_for(lambda: not is_alive(data))
    assert "database system is shut down" in (data / "postgres.log").read_text()


def test_many_processes_open_a_new_folder_at_once(tmp_path: Path) -> None:
    script = SHARER.replace("sys.stdin.read()", "")
    command = [sys.executable, "-c", script, str(tmp_path / "data")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    urls = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert len(set(urls)) == 1
    assert wait_for(lambda: not is_alive(tmp_path / "data"))


def test_a_killed_keeper_is_replaced(data: Path) -> None:
    with EmbeddedServer.open(data):
        os.kill(keeper_of(data), signal.SIGKILL)
        with sharer(data) as other:
            assert keeper_of(data)
            other.kill()
            other.wait()
        assert is_alive(data)
    assert not is_alive(data)


def keeper_of(data: Path) -> int:
    """Return the keeper process, found by the cluster's name on its command line."""
    arguments = subprocess.run(["ps", "-axwwo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    (name,) = {
        word.removeprefix("cluster_name=")
        for line in arguments.splitlines()
        if f" -D {data}/postgres " in line
        for word in line.split()
        if word.startswith("cluster_name=")
    }
    (pid,) = [int(line.split()[0]) for line in arguments.splitlines() if f"{keeper.__file__} " in line and name in line]
    return pid


def test_a_crashed_server_comes_back_with_what_was_committed(data: Path) -> None:
    with EmbeddedServer.open(data) as first:
        ask(first, "create table kept as select generate_series(1, 1000) as n")
        crash(data)
        with EmbeddedServer.open(data) as second:
            assert second.url == first.url
            assert ask(first, "select sum(n) from kept") == 500500


def test_orphaned_server_processes_are_ended(data: Path) -> None:
    with EmbeddedServer.open(data) as server, closing(psycopg.connect(server.url)) as busy:
        busy.pgconn.send_query(b"select count(*) from generate_series(1, 100000000) a, generate_series(1, 1000) b")
        assert wait_for(lambda: ask(server, "select count(*) from pg_stat_activity where state = 'active'") == 2)
        crash(data, with_children=False)
        time.sleep(0.5)
        assert is_alive(data), "the busy process does not notice"
        with EmbeddedServer.open(data) as again:
            assert ask(again, "select 1") == 1


def test_a_stale_process_id_is_ignored(data: Path) -> None:
    with EmbeddedServer.open(data) as server:
        socket = socket_folder(server) / ".s.PGSQL.5432.lock"
        owner = (data / "postgres").stat().st_uid
        lock = (data / "postgres" / "postmaster.pid").read_text()
        crash(data)
        assert wait_for(lambda: not is_alive(data))
        unrelated = subprocess.Popen(["sleep", "60"], user=owner if os.geteuid() == 0 else None)
        try:
            for path in (data / "postgres" / "postmaster.pid", socket):
                path.write_text(lock.replace(lock.split()[0], str(unrelated.pid), 1))
            with EmbeddedServer.open(data):
                assert ask(server, "select 1") == 1
            assert unrelated.poll() is None
        finally:
            unrelated.kill()
            unrelated.wait()


def test_a_vanished_socket_folder_is_made_again(data: Path) -> None:
    with EmbeddedServer.open(data) as first:
        shutil.rmtree(socket_folder(first))
        with EmbeddedServer.open(data):
            assert ask(first, "select 1") == 1
    assert not socket_folder(first).exists()


def test_a_long_path_gets_a_short_private_socket(data: Path) -> None:
    long = data.parent / ("d" * 100) / ("e" * 100)
    long.parent.mkdir()
    data.rename(long)
    with EmbeddedServer.open(long) as server:
        folder = socket_folder(server)
        assert ask(server, "select 1") == 1
        assert folder.parent == Path("/tmp")
        assert mode(folder) == 0o700
        assert folder.stat().st_uid == (long / "postgres").stat().st_uid
    assert not folder.exists()
    shutil.rmtree(long)


def test_a_copied_folder_is_a_database_of_its_own(data: Path) -> None:
    copy = data.with_name("copy")
    with EmbeddedServer.open(data) as one:
        ask(one, "create table here as select 'one' as name")
        ask(one, "checkpoint")
        shutil.copytree(data, copy, ignore=lambda *_: [".s.PGSQL.5432"])
        with EmbeddedServer.open(copy) as two:
            ask(two, "update here set name = 'two'")
            assert ask(one, "select name from here") == "one"
            assert ask(two, "select name from here") == "two"
        assert ask(one, "select name from here") == "one"
    shutil.rmtree(copy)


def test_a_folder_moved_while_in_use_can_be_opened(data: Path) -> None:
    moved = data.with_name("moved")
    with EmbeddedServer.open(data):
        data.rename(moved)
        with EmbeddedServer.open(moved) as server:
            assert ask(server, "select 1") == 1
    assert not is_alive(moved)
    shutil.rmtree(moved)


def test_a_server_whose_folder_was_deleted_still_stops(data: Path) -> None:
    server = EmbeddedServer.open(data)
    pid = master(data)
    while data.exists():  # the server may write a file meanwhile
        shutil.rmtree(data, ignore_errors=True)
    server.close()
    assert wait_for(lambda: not children(pid) and not exists(pid), 60)


def test_a_database_of_another_version_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("16\n")
    with pytest.raises(DataFolderError, match=r"created by PostgreSQL 16, and this pincite has 18: back it up"):
        EmbeddedServer.open(tmp_path)
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["postgres", "PG_VERSION"]


def test_a_folder_that_is_no_database_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "notes.txt").write_text("mine")
    with pytest.raises(DataFolderError, match="is not a PostgreSQL database"):
        EmbeddedServer.open(tmp_path)
    assert (tmp_path / "postgres" / "notes.txt").read_text() == "mine"


def test_a_file_is_refused_as_data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(DataFolderError, match="is a file, and a folder is needed: choose another folder"):
        EmbeddedServer.open(tmp_path / "data")
    with pytest.raises(DataFolderError, match="a part of the path is a file: choose another folder"):
        EmbeddedServer.open(tmp_path / "data" / "deeper" / "still")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere; see test_account.py for others")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DataFolderError, match=r"cannot be written by .*: make it writable, or choose another folder"):
        EmbeddedServer.open(tmp_path)
    tmp_path.chmod(0o700)


def test_a_full_disk_is_reported_in_one_line(tmp_path: Path) -> None:
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))" + SHARER
    result = subprocess.run(
        [sys.executable, "-c", limited, str(tmp_path / "data")], capture_output=True, text=True, check=False
    )
    assert result.stderr.splitlines()[-1].startswith("pincite.errors.DataFolderError: no database can be created in")
    assert "File too large" in result.stderr.splitlines()[-1]
    assert not (tmp_path / "data" / "postgres.new").exists()
    with EmbeddedServer.open(tmp_path / "data") as server:
        assert ask(server, "select 1") == 1


def test_a_server_that_cannot_start_says_why(data: Path) -> None:
    EmbeddedServer.open(data).close()
    (data / "postgres" / "global" / "pg_control").write_bytes(b"")
    with pytest.raises(DataFolderError, match=r"does not start: (FATAL|PANIC): .*pg_control.* \(more in ") as caught:
        EmbeddedServer.open(data)
    assert "\n" not in str(caught.value)


def test_a_missing_secret_is_reported(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18\n")
    with pytest.raises(DataFolderError, match=r"postgres\.secret is missing"):
        EmbeddedServer.open(tmp_path)


def test_on_windows_the_embedded_database_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(DataFolderError, match="PINCITE_DATABASE_URL"):
        EmbeddedServer.open(tmp_path)


def test_a_server_in_smart_shutdown_is_restarted(tmp_path: Path) -> None:
    """SIGTERM makes PostgreSQL wait for its clients and refuse new ones; pincite must not wait for that."""
    data = tmp_path / "data"
    with EmbeddedServer.open(data) as server, closing(psycopg.connect(server.url)):
        os.kill(int((data / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGTERM)
        time.sleep(0.3)
        with EmbeddedServer.open(data) as again, psycopg.connect(again.url) as fresh:
            assert fresh.execute("select 1").fetchone() == (1,)
