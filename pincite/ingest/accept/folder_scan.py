"""The files of a folder that is kept in step, as they are at one moment; in a Git working tree without what it ignores."""

import os
import stat
import subprocess
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pincite.errors import BadRequest, Invalid
from pincite.ingest.accept.collect import LIBRARY_MARK, NamedFile
from pincite.parsers import file_types

GIT_S = 60.0
"""Longest wait for Git to list a tree."""
_NEVER = (".", "~$")
"""What the names of hidden files and of office programs' locks begin with; other temporary files are told by their endings."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file does: times, size, and which file it is."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int


@dataclass(frozen=True, slots=True)
class FolderSnapshot:
    """The files that can be read here, by their path below the root; what lies under `unread` could not be looked at."""

    files: Mapping[str, Stamp]
    unread: tuple[str, ...] = ()

    def knows(self, path: str) -> bool:
        """Whether a path that is not among the files is really not there."""
        return not any(path.startswith(place) for place in self.unread)


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder on this machine and the folder of the library it is kept in step with."""

    path: Path
    folder: str

    @classmethod
    def of(cls, path: Path, folder: str = "") -> "WatchedFolder":
        """The root for a path somebody named; the library's folder is called like it."""
        if not path.is_dir():
            raise Invalid(f"{path} is no folder; only a folder can be watched", code="not_a_folder")
        top = path.resolve()
        parts = [part for part in (folder.strip("/"), top.name) if part]
        return cls(top, unicodedata.normalize("NFC", "/".join(parts)))

    def file(self, path: str) -> NamedFile:
        """One of its files, and where in the library it goes."""
        inside, _, _ = path.rpartition("/")
        folder = "/".join(part for part in (self.folder, unicodedata.normalize("NFC", inside)) if part)
        return NamedFile(self.path / path, folder)

    def identity(self) -> tuple[int, int]:
        """Which folder this is, whatever it is called: another one mounted in its place is another."""
        found = os.stat(self.path)
        return found.st_dev, found.st_ino

    def look(self) -> FolderSnapshot:
        """The files as they are now; `OSError` where the folder itself is gone."""
        os.stat(self.path)
        paths, unread = _listed(self.path) if _in_git(self.path) else _walked(self.path)
        files: dict[str, Stamp] = {}
        open_folders: dict[str, bool] = {}
        top, endings = f"{self.path}/", tuple(file_types())
        for path in paths:
            folder, _, name = path.rpartition("/")
            if not name.lower().endswith(endings) or name.startswith(_NEVER):
                continue
            if not _is_open(self.path, folder, open_folders):
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


def _is_open(top: Path, folder: str, known: dict[str, bool]) -> bool:
    """Whether files of a folder may be documents: it is not hidden, nor in a data folder of ours."""
    if folder not in known:
        above, _, name = folder.rpartition("/")
        known[folder] = (
            not name.startswith(".")
            and not (top / folder / LIBRARY_MARK).exists()
            and (folder == "" or _is_open(top, above, known))
        )
    return known[folder]


def _walked(top: Path) -> tuple[Iterator[str], list[str]]:
    unread: list[str] = []

    def missed(error: OSError) -> None:
        unread.append(os.path.relpath(error.filename, top) + "/")

    def walk() -> Iterator[str]:
        for place, names, files in os.walk(top, onerror=missed):
            names[:] = [name for name in names if not name.startswith(".")]
            inside = os.path.relpath(place, top).replace(os.sep, "/")
            yield from files if inside == "." else (f"{inside}/{name}" for name in files)

    return walk(), unread


def _in_git(top: Path) -> bool:
    return any((folder / ".git").exists() for folder in (top, *top.parents))


def _listed(top: Path) -> tuple[Iterator[str], list[str]]:
    """What Git tracks or would track; where it could not look everywhere, nothing is known to be gone."""
    # A repository's own settings may name a program to run: not here.
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(top), "ls-files", "-z", "-co", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=GIT_S)
    except FileNotFoundError:
        raise BadRequest(
            f"{top} is in a Git working tree, and without git it cannot be known what is ignored there; install git",
            code="no_git",
        ) from None
    except subprocess.TimeoutExpired:
        raise BadRequest(f"git took longer than {GIT_S:g} s to list {top}", code="git") from None
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise BadRequest(f"git cannot list {top}: {told[0] if told else f'exit code {done.returncode}'}", code="git")
    paths = (os.fsdecode(name) for name in done.stdout.split(b"\0") if name)
    return paths, [""] if done.stderr else []
