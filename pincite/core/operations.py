"""Values of operating a library: setting changes, index builds, backups, checks, purges."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

BACKUP_FORMAT = 1


ChangeKind = Literal["set", "reset", "undo", "apply"]


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One key that changed: from what to what, by whom, and whether that was taken back since."""

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
    """One index: what it was made by, and whether it is searched; `failures` are documents it lacks, and why."""

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
    """How far the index that is built is: documents in all, those that have their part, and those that wait for it."""

    documents: int
    built: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Backup:
    """What was backed up; `missing` are files of versions that were not there to be copied."""

    path: Path
    bytes: int
    documents: int
    files: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BackupTable:
    """One table of a backup: its columns as they were written, and how many rows."""

    name: str
    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What a backup says of itself; `tables` stand in the order in which they can be put back."""

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
    """What was looked at, what is wrong, each in a line, and how many files no version knows."""

    documents: int
    files: int
    searched: int
    stray: int
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """What was written anew; `log` tells whether the log was, too, which only the embedded server lets us do."""

    tables: int
    bytes_before: int
    bytes_after: int
    log: bool
