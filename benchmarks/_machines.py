"""PostgreSQL servers, replicas and poolers of their own, on TCP, as an operator would run them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import psycopg

from pincite.store.embedded import launch
from pincite.store.embedded.account import account_for
from pincite.store.embedded.cluster import programs

PoolMode = Literal["session", "transaction", "statement"]
MEMORY = Path("/dev/shm")
START_TIMEOUT_S = 120.0
HOST = "127.0.0.1"
QUICK = {
    "fsync": "off",  # the machine does not lose power in a trial; processes are killed, and the kernel keeps their writes
    "shared_buffers": "32MB",
    "max_connections": "80",
    "wal_level": "replica",
    "hot_standby": "on",
    "max_wal_senders": "8",
    "unix_socket_directories": "",
    "jit": "off",
    "max_wal_size": "192MB",
}
"""Settings of the servers."""


@contextmanager
def place() -> Iterator[Path]:
    """Yield a folder that the account of PostgreSQL can enter; it is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pincite-machines-", dir=MEMORY if MEMORY.is_dir() else None))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as trial:
        trial.bind((HOST, 0))
        return int(trial.getsockname()[1])


class Machine:
    """A process that stands for a machine: it is started, ended, and killed with its children."""

    def __init__(self, folder: Path, host: str = HOST, enter: Sequence[str] = ()) -> None:
        folder.mkdir(exist_ok=True, mode=0o700)
        self.folder, self.host, self.port = folder, host, free_port()
        self._enter = tuple(enter)
        self._account = account_for(folder.parent, folder)
        self._account.give_folder(folder)
        self._process: subprocess.Popen[bytes] | None = None

    def line(self, *command: str) -> list[str]:
        """Return the command line that runs a program as the account, in the machine's network."""
        script = [sys.executable, "-I", "-S", launch.__file__, str(self._account.uid), str(self._account.gid), "wait"]
        return [*self._enter, *script, str(self.folder), "--", *command]

    def begin(self, *command: str) -> None:
        """Start the program; its output goes to `log` beside the folder."""
        with open(self.folder.with_suffix(".log"), "ab") as log:
            self._process = subprocess.Popen(
                self.line(*command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def end(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the program and wait for it."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(how)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """Kill the program and its children at once, as a power cut does."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            children = _children(self._process.pid)
            os.kill(self._process.pid, signal.SIGKILL)
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        self._process.wait()
        self._process = None

    @property
    def log(self) -> str:
        """What the program wrote."""
        return self.folder.with_suffix(".log").read_text(errors="replace")


class Postgres(Machine):
    """A PostgreSQL server with pgvector; the superuser `postgres` needs no password."""

    def make(self) -> None:
        """Create an empty server and start it."""
        self._run("initdb", "-D", str(self.folder), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        with (self.folder / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n")
        self.start()

    def replica(
        self, folder: Path, name: str, host: str = HOST, enter: Sequence[str] = (), *, port: int | None = None
    ) -> "Postgres":
        """Create a streaming replica and start it; it tells the primary its name."""
        copy = Postgres(folder, host, enter)
        copy.port = port or copy.port
        source = f"host={self.host} port={self.port} user=postgres application_name={name}"
        copy._run("pg_basebackup", "-d", source, "-D", str(folder), "-R", "-X", "stream", "--no-sync", "-c", "fast")
        copy.start()
        return copy

    def start(self, **settings: str) -> None:
        """Start the server and wait until it answers."""
        (self.folder / "postmaster.pid").unlink(missing_ok=True)
        values = {**QUICK, "listen_addresses": self.host, "port": str(self.port), **settings}
        options = [f"--{name}={value}" for name, value in values.items()]
        self.begin(str(programs() / "postgres"), "-D", str(self.folder), *options)
        self.wait()

    def wait(self) -> None:
        """Wait until the server accepts connections."""
        end = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError as error:
                if time.monotonic() > end:
                    raise TimeoutError(f"{error}\n{self.log[-2000:]}") from error
                time.sleep(0.05)

    def url(self, database: str = "library", login: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://{login}@{self.host}:{self.port}/{database}"

    def run(self, *statements: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run statements as the superuser, each in a transaction of its own; return the last one's rows."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                found = connection.execute(statement.encode())
            return found.fetchall() if found.description else []

    def promote(self) -> None:
        """Make a replica the primary, which waits for no replica of its own."""
        self.run("alter system set synchronous_standby_names = ''", "select pg_reload_conf()", "select pg_promote()")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(self.line(str(programs() / program), *arguments), check=True, capture_output=True, timeout=300)


class Bouncer(Machine):
    """A pgbouncer in front of a server."""

    @staticmethod
    def missing() -> bool:
        """Whether pgbouncer is not installed."""
        return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None

    def start(self, server: Postgres, mode: PoolMode, *, size: int = 4) -> None:
        """Start it and wait until it answers."""
        login, rules = self.folder / "users.txt", self.folder / "pgbouncer.ini"
        login.write_text('"postgres" ""\n')
        rules.write_text(
            f"[databases]\n* = host={server.host} port={server.port}\n[pgbouncer]\nlisten_addr = {self.host}\n"
            f"listen_port = {self.port}\nunix_socket_dir =\nauth_type = any\nauth_file = {login}\npool_mode = {mode}\n"
            f"default_pool_size = {size}\nmax_client_conn = 400\nignore_startup_parameters = extra_float_digits\n"
        )
        for file in (login, rules):
            os.chmod(file, 0o644)
        rules.write_text(rules.read_text().replace("* = ", "* = user=postgres "))
        self.begin(shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", str(rules))
        end = time.monotonic() + START_TIMEOUT_S
        while True:
            with suppress(OSError), socket.create_connection((self.host, self.port), timeout=1):
                return
            if time.monotonic() > end:
                raise TimeoutError(self.log)
            time.sleep(0.05)

    def url(self, database: str = "library") -> str:
        """Return the address of a database through the pooler."""
        return f"postgresql://postgres@{self.host}:{self.port}/{database}"


def _children(pid: int) -> list[int]:
    """Return the direct children of a process."""
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
