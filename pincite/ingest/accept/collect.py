"""Finds the files to add from a list of paths, and reads them."""

import hashlib
import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite.core.documents.document import Upload
from pincite.errors import BadRequest, Invalid, NotFound, PinciteError
from pincite.ingest.accept.unsupported import UNSUPPORTED_FORMATS
from pincite.parsers import file_types

DATA_FOLDER_MARK = "postgres.secret"
"""A file that every data folder of pincite holds; folders with it are not searched for documents."""

IGNORED_PREFIXES = (".", "~$")
"""Prefixes of ignored files: hidden files and lock files of Office programs."""

MAX_BATCH_FILES, MAX_BATCH_BYTES = 64, 16 * 1024 * 1024
"""Maximum number and total size in bytes of the files that are uploaded in one batch."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file on this machine and its target folder in the library."""

    path: Path
    folder: str

    @property
    def name(self) -> str:
        """The file's name in NFC, whatever form the file system uses."""
        return unicodedata.normalize("NFC", self.path.name)

    @property
    def size(self) -> int:
        """Size in bytes; 0 where it cannot be read, which `read` then reports."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self) -> tuple[Upload, str]:
        """The file as an upload, and the checksum of its bytes."""
        try:
            data = self.path.read_bytes()
            return Upload(self.name, data, self.folder), hashlib.sha256(data).hexdigest()
        except OSError as error:
            raise BadRequest(f"cannot read {self.path}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Collected:
    """The files to add, the refused paths, and the unsupported files in the folders, each with the reason."""

    files: list[NamedFile]
    refused: list[tuple[str, PinciteError]]
    skipped: list[tuple[str, str]]

    def batches(self) -> Iterator[list[NamedFile]]:
        """The files in batches for upload: several small files, or one large file."""
        batch: list[NamedFile] = []
        size = 0
        for file in self.files:
            if batch and (len(batch) == MAX_BATCH_FILES or size + file.size > MAX_BATCH_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(file)
            size += file.size
        if batch:
            yield batch


ReadFile = tuple[Upload, str] | BadRequest
"""A file as an upload with its checksum, or the reason why it cannot be read."""


def read_all(files: Sequence[NamedFile]) -> list[ReadFile]:
    """Read several files; one that cannot be read does not stop the others."""
    found: list[ReadFile] = []
    for file in files:
        try:
            found.append(file.read())
        except BadRequest as error:
            found.append(error)
    return found


def collect(paths: Sequence[Path], folder: str = "") -> Collected:
    """Collect the named files, and all supported files below the named folders, under the folder's own name.

    Of two files that would become the same document, the second is refused, so that none silently replaces another.
    """
    files: list[NamedFile] = []
    refused: list[tuple[str, PinciteError]] = []
    skipped: list[tuple[str, str]] = []
    for path in paths:
        if "\0" in str(path):
            refused.append((repr(str(path)), Invalid("the path contains a NUL character", code="bad_name")))
        elif _exists(path.is_dir):
            inside = list(_walk(path, folder))
            files.extend(file for file in inside if file.path.suffix.lower() in file_types())
            unsupported = (file.path for file in inside if file.path.suffix.lower() not in file_types())
            skipped.extend((str(one), _why_unsupported(one)) for one in unsupported)
        elif _exists(path.is_file):
            files.append(NamedFile(path, folder))
        else:
            refused.append((str(path), NotFound(f"there is no file or folder {_shortened(path)}")))
    return _without_name_clashes(files, refused, skipped)


def _why_unsupported(path: Path) -> str:
    """Why a file in a folder is skipped: the format and what to do instead, where it is a known one."""
    ending = path.suffix.lower()
    if ending in UNSUPPORTED_FORMATS:
        name, hint = UNSUPPORTED_FORMATS[ending]
        return f"{name}; {hint}"
    return f"files ending in {ending} are not supported" if ending else "its name has no ending"


def _without_name_clashes(
    files: list[NamedFile], refused: list[tuple[str, PinciteError]], skipped: list[tuple[str, str]]
) -> Collected:
    kept: dict[tuple[str, str], NamedFile] = {}
    for file in files:
        known = kept.setdefault((file.folder, file.name), file)
        if known is not file and known.path != file.path:
            reason = f"would replace {known.path}, which has the same name; give one of them another --folder"
            refused.append((str(file.path), Invalid(reason, code="same_name")))
    return Collected(list(kept.values()), refused, skipped)


def under(folder: str, top: Path) -> str:
    """The library folder for a folder on this machine: `folder/name`, or `folder` if that is its name already."""
    above = folder.strip("/")
    return above if above.rpartition("/")[2] == top.name else "/".join(part for part in (above, top.name) if part)


def _walk(top: Path, folder: str) -> Iterator[NamedFile]:
    """Every file below a folder, in a stable order; hidden files, lock files and symbolic links are left out."""
    top = top.resolve()
    for place, names, files in os.walk(top):
        if DATA_FOLDER_MARK in files:  # a data folder of pincite holds no documents to add
            names.clear()
            continue
        names[:] = sorted(name for name in names if not name.startswith("."))
        target = "/".join(part for part in (under(folder, top), *Path(place).relative_to(top).parts) if part)
        target = unicodedata.normalize("NFC", target)
        for name in sorted(files):
            path = Path(place) / name
            if not name.startswith(IGNORED_PREFIXES) and not path.is_symlink() and path.is_file():
                yield NamedFile(path, target)


def _exists(test: Callable[[], bool]) -> bool:
    """Whether a test of a path succeeds; a path that is too long or otherwise impossible does not exist."""
    try:
        return test()
    except OSError:
        return False


def _shortened(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 200 else text[:200] + "…"
