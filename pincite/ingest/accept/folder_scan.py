"""Takes snapshots of a watched folder's files; files that Git ignores are left out."""

import os
import stat
import subprocess
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pincite.errors import BadRequest, Invalid
from pincite.ingest.accept.collect import DATA_FOLDER_MARK, IGNORED_PREFIXES, NamedFile, under
from pincite.parsers import file_types

GIT_TIMEOUT_S = 60.0
"""Timeout in seconds of Git's list of files."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The attributes by which a change of a file is detected: times, size and inode."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int


@dataclass(frozen=True, slots=True)
class FolderSnapshot:
    """The supported files by their path below the watched folder, and the path prefixes that could not be read."""

    files: Mapping[str, Stamp]
    unread: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        """Whether the snapshot covers a path: one that is covered and not among the files does not exist."""
        return not any(path.startswith(prefix) for prefix in self.unread)


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder on this machine and the library folder that mirrors it."""

    path: Path
    folder: str

    @classmethod
    def of(cls, path: Path, folder: str = "") -> "WatchedFolder":
        """The watched folder for a path; its library folder has the same name, below `folder`."""
        if not path.is_dir():
            raise Invalid(f"{path} is not a folder; only a folder can be watched", code="not_a_folder")
        top = path.resolve()
        return cls(top, unicodedata.normalize("NFC", under(folder, top)))

    def file(self, path: str) -> NamedFile:
        """One of its files, with its target folder in the library."""
        inside, _, _ = path.rpartition("/")
        folder = "/".join(part for part in (self.folder, unicodedata.normalize("NFC", inside)) if part)
        return NamedFile(self.path / path, folder)

    def identity(self) -> tuple[int, int]:
        """Device and inode of the folder; they change when another folder is mounted at its path."""
        found = os.stat(self.path)
        return found.st_dev, found.st_ino

    def snapshot(self) -> FolderSnapshot:
        """A snapshot of the files as they are now; `OSError` where the folder itself is gone."""
        os.stat(self.path)
        paths, unread = _git_files(self.path) if _is_in_git(self.path) else _walk(self.path)
        files: dict[str, Stamp] = {}
        open_folders: dict[str, bool] = {}
        top, endings = f"{self.path}/", tuple(file_types())
        for path in paths:
            folder, _, name = path.rpartition("/")
            if not name.lower().endswith(endings) or name.startswith(IGNORED_PREFIXES):
                continue
            if not _is_scanned(self.path, folder, open_folders):
                continue
            try:
                found = os.lstat(top + path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                unread.append(path)
                continue
            if stat.S_ISREG(found.st_mode):
                files[path] = Stamp(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        return FolderSnapshot(files, tuple(unread))


def _is_scanned(top: Path, folder: str, known: dict[str, bool]) -> bool:
    """Whether a folder is scanned: it is neither hidden nor in a data folder of pincite."""
    if folder not in known:
        above, _, name = folder.rpartition("/")
        known[folder] = (
            not name.startswith(".")
            and not (top / folder / DATA_FOLDER_MARK).exists()
            and (folder == "" or _is_scanned(top, above, known))
        )
    return known[folder]


def _walk(top: Path) -> tuple[Iterator[str], list[str]]:
    unread: list[str] = []

    def note_unread(error: OSError) -> None:
        unread.append(os.path.relpath(error.filename, top) + "/")

    def walk() -> Iterator[str]:
        for place, names, files in os.walk(top, onerror=note_unread):
            names[:] = [name for name in names if not name.startswith(".")]
            inside = os.path.relpath(place, top).replace(os.sep, "/")
            yield from files if inside == "." else (f"{inside}/{name}" for name in files)

    return walk(), unread


def _is_in_git(top: Path) -> bool:
    return any((folder / ".git").exists() for folder in (top, *top.parents))


def _git_files(top: Path) -> tuple[Iterator[str], list[str]]:
    """The files that Git tracks or would track. If Git reports a problem, no path counts as covered."""
    # A repository's own settings may name a program to run (core.fsmonitor): it is switched off.
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(top), "ls-files", "-z", "-co", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=GIT_TIMEOUT_S)
    except FileNotFoundError:
        raise BadRequest(
            f"{top} is in a Git working tree, and only git knows which files are ignored there; install git",
            code="no_git",
        ) from None
    except subprocess.TimeoutExpired:
        raise BadRequest(f"git took longer than {GIT_TIMEOUT_S:g} s to list {top}", code="git") from None
    if done.returncode:
        errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise BadRequest(
            f"git cannot list {top}: {errors[0] if errors else f'exit code {done.returncode}'}", code="git"
        )
    paths = (os.fsdecode(name) for name in done.stdout.split(b"\0") if name)
    return paths, [""] if done.stderr else []
