"""The original bytes of every version, on disk under a path made of ids only."""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from pincite.errors import DataFolderError


class BlobFiles:
    """Stores files as `<data>/files/<library>/<document>/<version>`, all ids: names from users never become paths.

    `place` is the id of this folder, to tell it from the data folders of other machines on the same database.
    """

    def __init__(self, data: Path, library: str) -> None:
        self._folder = folder = data / "files" / library
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.place = _folder_id(folder / ".place")
        except OSError as error:
            raise DataFolderError(
                f"cannot write to {folder}: {error.strerror}; choose another folder with --data"
            ) from error

    def path(self, document_id: str, version_id: str) -> Path:
        """Return the path of a version's file."""
        return self._folder / document_id / version_id

    def write(self, document_id: str, version_id: str, data: bytes) -> None:
        """Write a version's bytes; afterwards the file is complete and on disk, or it does not exist."""
        target = self.path(document_id, version_id)
        part = target.with_name(f".{version_id}.part")
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
            for folder in (target.parent, self._folder):
                _sync_folder(folder)
        except OSError as error:
            part.unlink(missing_ok=True)
            target.unlink(missing_ok=True)
            why = "the disk is full; free some space" if error.errno == errno.ENOSPC else error.strerror
            raise DataFolderError(f"cannot write the file to {self._folder}: {why}") from error

    def read(self, document_id: str, version_id: str) -> bytes:
        """Return a version's bytes."""
        return self.path(document_id, version_id).read_bytes()

    def remove(self, document_id: str, version_id: str) -> bool:
        """Remove a version's file, and the document's folder once it is empty; return whether the file is gone."""
        path = self.path(document_id, version_id)
        path.unlink(missing_ok=True)
        with suppress(OSError):  # the folder has another version, or another process removed it
            path.parent.rmdir()
        return not path.exists()

    def stray(self, known: set[tuple[str, str]], *, older_than: float) -> list[tuple[str, str]]:
        """Return the files without a version, left by a process that died between writing and recording them."""
        found = []
        for path in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):  # another process may remove files meanwhile
                if path.stat().st_mtime < older_than and (path.parent.name, path.name) not in known:
                    found.append((path.parent.name, path.name))
        return found


def _folder_id(file: Path) -> str:
    """Return the id of this folder, which is created on first use."""
    with suppress(FileExistsError), open(file, "x", encoding="ascii") as new:
        new.write(secrets.token_hex(16))
    return file.read_text(encoding="ascii")


def _sync_folder(folder: Path) -> None:
    """Flush a folder to disk, so that a new file name in it survives a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
