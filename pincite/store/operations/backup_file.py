"""The file format of backups: a compressed tar of files and tables, and last a manifest with their digest."""

import gzip
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

from pincite.core.operations import BACKUP_FORMAT, BackupManifest, BackupTable
from pincite.errors import Unreadable

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 64 * 2**20
"""Bytes of a manifest that are read at most."""
BLOCK_BYTES = 2**20
"""Bytes that are read at a time."""
MEMBER = re.compile(
    r"tables/(?P<table>[a-z_]{1,63})/\d{6}|files/(?P<document>[A-Za-z0-9_-]{1,64})/(?P<version>[A-Za-z0-9_-]{1,64})"
)
"""The names that a backup may contain: only ids and table names, so that no name can be used as a path."""
Member = tuple[re.Match[str], Callable[[], bytes]]
"""A member's name and the function that reads it, which works until the next member is requested."""
LIBRARY_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
NOT_A_BACKUP = "is not a backup of pincite, or is damaged"
UNKNOWN_CONTENT = "it has unknown content"


class Writer:
    """Writes a backup member by member, and computes the digest."""

    def __init__(self, file: IO[bytes]) -> None:
        self._gzip = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, filename="")
        self._tar = tarfile.open(fileobj=self._gzip, mode="w|")  # noqa: SIM115 - leaving ends it
        self._digest = _Digest()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tar.close()
        self._gzip.close()

    def add(self, name: str, data: bytes) -> None:
        """Add a member from bytes."""
        self._add(name, len(data), io.BytesIO(data))

    def add_file(self, name: str, path: Path) -> None:
        """Add a member from a file, a block at a time."""
        with open(path, "rb") as file:
            self._add(name, path.stat().st_size, file)

    def seal(self, manifest: BackupManifest) -> None:
        """Add the manifest as the last member; without it, the file is not a backup."""
        values = {**asdict(manifest), "members": self._digest.members, "sha256": self._digest.hexdigest()}
        data = json.dumps(values, indent=1).encode()
        self._tar.addfile(_header(MANIFEST, len(data)), io.BytesIO(data))

    def _add(self, name: str, size: int, file: IO[bytes]) -> None:
        assert MEMBER.fullmatch(name), name
        self._digest.begin(name, size)
        self._tar.addfile(_header(name, size), _Digested(file, self._digest))  # type: ignore[arg-type]


def members(path: Path) -> Iterator[Member]:
    """Yield the members of a backup that was checked before."""
    with tarfile.open(path, "r|gz") as tar:
        for member in tar:
            found = MEMBER.fullmatch(member.name)
            file = tar.extractfile(member)
            if found is not None and file is not None:
                yield found, file.read


def check(path: Path, report: Callable[[int, int], None]) -> BackupManifest:
    """Verify a whole backup and return its manifest; `Unreadable` if any bit differs from what was written."""
    digest, whole, manifest = _Digest(), path.stat().st_size, None
    try:
        with (
            open(path, "rb") as file,
            gzip.GzipFile(fileobj=file) as unpacked,
            tarfile.open(fileobj=unpacked, mode="r|") as tar,
        ):
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                if content is None or manifest is not None:
                    raise Unreadable(f"{path} {NOT_A_BACKUP}: {UNKNOWN_CONTENT}")
                if member.name == MANIFEST:
                    manifest = _manifest(path, content.read(MAX_MANIFEST_BYTES))
                elif MEMBER.fullmatch(member.name):
                    digest.take(member, content)
                else:
                    raise Unreadable(f"{path} {NOT_A_BACKUP}: {UNKNOWN_CONTENT}")
                report(file.tell(), whole)
            while unpacked.read(BLOCK_BYTES):  # to the end, where gzip verifies its checksum
                pass
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise Unreadable(f"{path} {NOT_A_BACKUP}: {error}") from error
    if manifest is None:
        raise Unreadable(f"{path} {NOT_A_BACKUP}: its end is missing")
    if (manifest.members, manifest.sha256) != (digest.members, digest.hexdigest()):
        raise Unreadable(f"{path} {NOT_A_BACKUP}: its content differs from what was written")
    return manifest


def _manifest(path: Path, data: bytes) -> BackupManifest:
    try:
        values: dict[str, Any] = json.loads(data)
        if values.get("format") != BACKUP_FORMAT:
            raise Unreadable(
                f"{path} has format {values.get('format')}, and this pincite reads {BACKUP_FORMAT}: install a newer one"
            )
        tables = tuple(
            BackupTable(str(one["name"]), tuple(one["columns"]), int(one["rows"])) for one in values.pop("tables")
        )
        manifest = BackupManifest(**{**values, "missing": tuple(values["missing"]), "tables": tables})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Unreadable(f"{path} {NOT_A_BACKUP}: its manifest cannot be read") from error
    if not LIBRARY_ID.fullmatch(manifest.library):
        raise Unreadable(f"{path} {NOT_A_BACKUP}: its manifest has no valid library id")
    return manifest


class _Digest:
    """One digest of the names, sizes and bytes of all members in order."""

    def __init__(self) -> None:
        self.members = 0
        self._hash = hashlib.sha256()
        self.update, self.hexdigest = self._hash.update, self._hash.hexdigest

    def begin(self, name: str, size: int) -> None:
        self.members += 1
        self.update(f"{name} {size}\n".encode())

    def take(self, member: tarfile.TarInfo, content: IO[bytes]) -> None:
        self.begin(member.name, member.size)
        while block := content.read(BLOCK_BYTES):
            self.update(block)


class _Digested:
    """A file whose bytes are added to the digest as it is read."""

    def __init__(self, file: IO[bytes], digest: _Digest) -> None:
        self._file, self._digest = file, digest

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        self._digest.update(block)
        return block


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, 0o600
    return header
