"""Data classes of operations: setting changes, stored flows, index builds, backups, integrity checks, purges."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

BACKUP_FORMAT = 1
"""The version of the backup file format."""

ChangeKind = Literal["set", "reset", "undo", "apply"]


@dataclass(frozen=True, slots=True)
class SettingChange:
    """The change of one setting: old and new value, who made it, and whether it was undone since."""

    batch: int
    kind: ChangeKind
    key: str
    before: Any
    after: Any
    profile: str | None
    undoes: int | None
    person: str
    key_id: str | None
    changed_at: datetime
    undone: bool = False


BuildState = Literal["building", "serving", "standby"]


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """One index: its settings and its state; `failures` maps documents that could not be indexed to the reason."""

    id: int
    signature: str
    settings: Mapping[str, Any]
    state: BuildState
    held: bool
    failures: Mapping[str, str]
    created_at: datetime
    switched_at: datetime | None


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """The progress of an index build: documents in total, indexed, and waiting."""

    documents: int
    built: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written; `missing` are files of versions that did not exist when they were to be copied."""

    path: Path
    bytes: int
    documents: int
    files: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BackupTable:
    """One table of a backup: its columns in the order written, and its number of rows."""

    name: str
    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """The manifest of a backup; `tables` are in the order in which they can be restored."""

    pincite: str
    schema: int
    library: str
    made_at: str
    documents: int
    tables: tuple[BackupTable, ...]
    sequences: Mapping[str, int]
    missing: tuple[str, ...]
    members: int = 0
    sha256: str = ""
    format: int = BACKUP_FORMAT


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """The result of an integrity check: counts, one line per fault, and the number of `stray` files."""

    documents: int
    files: int
    searched: int
    stray: int
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """The result of a purge: tables rewritten; `log` is whether the write-ahead log was too (embedded server only)."""

    tables: int
    bytes_before: int
    bytes_after: int
    log: bool


@dataclass(frozen=True, slots=True)
class StoredFlow:
    """One version of a stored flow; `versions` is the number of the newest one."""

    name: str
    version: int
    versions: int
    created_at: datetime
    definition: Mapping[str, Any]
