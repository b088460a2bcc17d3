"""The raw bytes of every version, on disk under a path made of ids only."""

import errno
import os
import shutil
from pathlib import Path

from pincite.errors import DataFolderError


class Files:
    """`<data>/files/<document id>/<version id>`: names given by users never become paths."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
        except OSError as error:
            part.unlink(missing_ok=True)
            why = "the disk is full; free some space" if error.errno == errno.ENOSPC else error.strerror
            raise DataFolderError(f"cannot keep the file in {self._folder}: {why}") from error

    def read(self, document_id: str, version_id: str) -> bytes:
        """One version's bytes."""
        return self.path(document_id, version_id).read_bytes()

    def remove_version(self, document_id: str, version_id: str) -> None:
        """Forget one version's bytes, and the folder once it is empty."""
        self.path(document_id, version_id).unlink(missing_ok=True)
        folder = self._folder / document_id
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

    def remove(self, document_id: str) -> bool:
        """Forget every version's bytes; true when nothing is left."""
        folder = self._folder / document_id
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()

    def stray(self, known: set[tuple[str, str]], *, older_than: float) -> list[tuple[str, str]]:
        """Files no version knows, left by a process that died between writing one and recording it."""
        found = (path for path in self._folder.glob("*/*") if path.stat().st_mtime < older_than)
        return [pair for path in found if (pair := (path.parent.name, path.name)) not in known]
