"""Which files a person means by a list of paths."""

import hashlib
import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite.core.documents.document import Upload
from pincite.errors import BadRequest, Invalid, NotFound, PinciteError
from pincite.parsers import file_types

LIBRARY_MARK = "postgres.secret"


AT_ONCE, AT_ONCE_BYTES = 16, 16 * 1024 * 1024
"""How many files are taken in at the same time, and how much of them."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file on this machine and the folder of the library it goes to."""

    path: Path
    folder: str

    @property
    def name(self) -> str:
        """The file's name as the library spells it: one way, whatever the file system does."""
        return unicodedata.normalize("NFC", self.path.name)

    @property
    def size(self) -> int:
        """Bytes; 0 where the system does not tell, and reading it will."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self) -> tuple[Upload, str]:
        """The file's bytes, ready to be taken in, and their checksum."""
        try:
            data = self.path.read_bytes()
            return Upload(self.name, data, self.folder), hashlib.sha256(data).hexdigest()
        except OSError as error:
            raise BadRequest(f"cannot read {self.path}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Collected:
    """The files to add, those refused with the reason, and how many others the folders hold."""

    files: list[NamedFile]
    refused: list[tuple[str, PinciteError]]
    skipped: int

    def parts(self) -> Iterator[list[NamedFile]]:
        """The files in parts that are read and taken in at once: a few small ones, or one that is large."""
        part: list[NamedFile] = []
        size = 0
        for file in self.files:
            if part and (len(part) == AT_ONCE or size + file.size > AT_ONCE_BYTES):
                yield part
                part, size = [], 0
            part.append(file)
            size += file.size
        if part:
            yield part


ReadFile = tuple[Upload, str] | BadRequest
"""A file ready to be taken in, with its checksum; or why it cannot be read."""


def read_all(files: Sequence[NamedFile]) -> list[ReadFile]:
    """Read several files, each for itself."""
    found: list[ReadFile] = []
    for file in files:
        try:
            found.append(file.read())
        except BadRequest as error:
            found.append(error)
    return found


def collect(paths: Sequence[Path], folder: str = "") -> Collected:
    """Named files as they are; folders with all that is readable below them, under the folder's own name.

    Two files that would become one document are refused: neither may silently replace the other.
    """
    files: list[NamedFile] = []
    refused: list[tuple[str, PinciteError]] = []
    skipped = 0
    for path in paths:
        if "\0" in str(path):
            refused.append((repr(str(path)), Invalid("the path holds a NUL character", code="bad_name")))
        elif _is(path.is_dir):
            inside = list(_walk(path, folder))
            files.extend(file for file in inside if file.path.suffix.lower() in file_types())
            skipped += sum(file.path.suffix.lower() not in file_types() for file in inside)
        elif _is(path.is_file):
            files.append(NamedFile(path, folder))
        else:
            refused.append((str(path), NotFound(f"there is no file or folder {_short(path)}")))
    return _distinct(files, refused, skipped)


def _distinct(files: list[NamedFile], refused: list[tuple[str, PinciteError]], skipped: int) -> Collected:
    kept: dict[tuple[str, str], NamedFile] = {}
    for file in files:
        known = kept.setdefault((file.folder, file.name), file)
        if known is not file and known.path != file.path:
            reason = f"would take the place of {known.path}, which has the same name; give one of them another --folder"
            refused.append((str(file.path), Invalid(reason, code="same_name")))
    return Collected(list(kept.values()), refused, skipped)


def _walk(top: Path, folder: str) -> Iterator[NamedFile]:
    """Every file below a folder in a stable order; hidden ones are left alone, links are not followed."""
    top = top.resolve()
    for place, names, files in os.walk(top):
        if LIBRARY_MARK in files:  # a data folder of ours: its log and its copies are nobody's documents
            names.clear()
            continue
        names[:] = sorted(name for name in names if not name.startswith("."))
        inside = (top.name, *Path(place).relative_to(top).parts)
        target = unicodedata.normalize("NFC", "/".join(part for part in (folder.strip("/"), *inside) if part))
        for name in sorted(files):
            path = Path(place) / name
            if not name.startswith(".") and not path.is_symlink() and path.is_file():
                yield NamedFile(path, target)


def _is(test: Callable[[], bool]) -> bool:
    """A path too long or otherwise impossible is simply not there."""
    try:
        return test()
    except OSError:
        return False


def _short(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 200 else text[:200] + "…"
