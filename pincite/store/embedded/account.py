"""The account that the embedded server runs as: PostgreSQL refuses root, and files must keep their owners."""

import os
import pwd
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite.errors import DataFolderError
from pincite.store.embedded import launch

SYSTEM_USERS = ("pincite", "postgres", "nobody")
"""Users that root runs the server as, in this order, when root owns the data folder."""


@dataclass(frozen=True, slots=True)
class Account:
    """The user the server runs as, and the user who owns the rest of the data folder."""

    uid: int
    gid: int
    owner_uid: int
    owner_gid: int

    def run(self, command: Sequence[str], needed: Sequence[Path], keep: int, timeout_s: float) -> str:
        """Run a program of PostgreSQL with the file `keep` open; return its error output, empty on success."""
        result = subprocess.run(
            self._line("wait", command, needed),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(keep,),
            timeout=timeout_s,
            text=True,
            errors="replace",
            check=False,
        )
        return "" if result.returncode == 0 else result.stderr or f"exit status {result.returncode}"

    def start(self, command: Sequence[str], needed: Sequence[Path], keep: int, log: int) -> None:
        """Start a program of PostgreSQL as a detached process that writes to `log`."""
        subprocess.run(
            self._line("stay", command, needed),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(keep,),
            start_new_session=True,
            check=False,
        )

    def check_name(self) -> None:
        """Refuse a user without a name, as in a container that runs with a numeric id: initdb needs a name."""
        try:
            pwd.getpwuid(self.uid)
        except KeyError:
            raise DataFolderError(
                f"user {self.uid} has no name on this machine, and PostgreSQL needs one: add the user to "
                "/etc/passwd, run pincite as an existing user, or point PINCITE_DATABASE_URL at another server"
            ) from None

    def give_folder(self, path: Path) -> None:
        """Make the server's account the owner of a folder that pincite created."""
        if os.geteuid() != 0:
            return
        try:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)
        except OSError as error:
            raise DataFolderError(
                f"root may not give {path} to {user_name(self.uid)}, who would run the database "
                f"({error.strerror}): {launch.ADVICE}"
            ) from error

    def give_tree(self, path: Path) -> None:
        """Make the server's account the owner of a folder with its content; the folder last, so it can be resumed."""
        for base, folders, files in os.walk(path, topdown=False):
            for name in folders + files:
                self.give_folder(Path(base, name))
        self.give_folder(path)

    def _line(self, mode: str, command: Sequence[str], needed: Sequence[Path]) -> list[str]:
        script = [sys.executable, "-I", "-S", launch.__file__]
        return [*script, str(self.uid), str(self.gid), mode, *map(str, needed), "--", *command]


def account_for(folder: Path, cluster: Path) -> Account:
    """Return the account: the current user; for root the owner of the data folder, or a system user if root owns it."""
    owner = folder.stat()
    found = cluster.lstat() if cluster.exists() else owner
    if os.geteuid() == 0 and owner.st_uid == 0:
        uid, gid = (found.st_uid, found.st_gid) if found.st_uid else _system_user()
        return Account(uid, gid, 0, 0)
    uid, gid = (owner.st_uid, owner.st_gid) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    if cluster.exists() and found.st_uid != uid:
        raise DataFolderError(
            f"{cluster} belongs to {user_name(found.st_uid)}: run pincite as that user, "
            "or choose another folder with --data or PINCITE_DATA"
        )
    return Account(uid, gid, owner.st_uid, owner.st_gid)


def user_name(uid: int) -> str:
    """Return the name of a user, or `user` and its number if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _system_user() -> tuple[int, int]:
    for name in SYSTEM_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    raise DataFolderError(
        f"PostgreSQL does not run as root, and this machine has none of the users {', '.join(SYSTEM_USERS)}: "
        f"add one, {launch.ADVICE}"
    )
