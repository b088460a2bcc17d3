"""The raw bytes of every version, on disk under a path made of ids only."""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from pincite.errors import DataFolderError


class BlobFiles:
    """`<data>/files/<library>/<document>/<version>`, all of them ids: names given by users never become paths.

    `place` names this folder among all that may serve one database.
    """

    def __init__(self, data: Path, library: str) -> None:
        self._folder = folder = data / "files" / library
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.place = _place(folder / ".place")
        except OSError as error:
            raise DataFolderError(
                f"cannot write to {folder}: {error.strerror}; choose another folder with --data"
            ) from error

    def path(self, document_id: str, version_id: str) -> Path:
        """Where one version's bytes are."""
        return self._folder / document_id / version_id

    def write(self, document_id: str, version_id: str, data: bytes) -> None:
        """Keep the bytes: whole and on the disk when this returns, or not there at all."""
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
                _sync(folder)
        except OSError as error:
            part.unlink(missing_ok=True)
            target.unlink(missing_ok=True)
            why = "the disk is full; free some space" if error.errno == errno.ENOSPC else error.strerror
            raise DataFolderError(f"cannot keep the file in {self._folder}: {why}") from error

    def read(self, document_id: str, version_id: str) -> bytes:
        """One version's bytes."""
        return self.path(document_id, version_id).read_bytes()

    def remove(self, document_id: str, version_id: str) -> bool:
        """Forget one version's bytes, and the document's folder once it is empty; true when they are gone."""
        path = self.path(document_id, version_id)
        path.unlink(missing_ok=True)
        with suppress(OSError):  # another version is there, or somebody else was quicker
            path.parent.rmdir()
        return not path.exists()

    def stray(self, known: set[tuple[str, str]], *, older_than: float) -> list[tuple[str, str]]:
        """Files no version knows, left by a process that died between writing one and recording it."""
        found = []
        for path in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):  # files come and go while we look
                if path.stat().st_mtime < older_than and (path.parent.name, path.name) not in known:
                    found.append((path.parent.name, path.name))
        return found


def _place(file: Path) -> str:
    """The name of this folder, made up when it is first used."""
    with suppress(FileExistsError), open(file, "x", encoding="ascii") as new:
        new.write(secrets.token_hex(16))
    return file.read_text(encoding="ascii")


def _sync(folder: Path) -> None:
    """Make a new name in a folder outlive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
