"""Sources that documents are synchronised with: a mailbox, a WebDAV folder, a bucket, a feed, a query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

SourceKind = Literal["imap", "webdav", "s3", "feed", "sql"]
SourceState = Literal["new", "running", "ok", "failed"]


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file of a source: its key there, a stamp that changes with its content, and its folder and name here."""

    key: str
    stamp: str
    name: str
    folder: str = ""
    uri: str | None = None


class RemoteSource(Protocol):
    """Lists and reads the files of a source. If it `lists_all`, what is missing in the list was deleted there."""

    @property
    def lists_all(self) -> bool:
        """Whether the list is complete; known after `items`."""
        ...

    async def items(self) -> Sequence[SourceItem]:
        """The files of the source. A listing that breaks off raises an error."""
        ...

    async def read(self, item: SourceItem) -> bytes:
        """The content of a file; `NotFound` if it was deleted meanwhile."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """Where a source is: URL, options of its kind, and the credentials, which are never printed."""

    url: str
    options: Mapping[str, str]
    secret: str = field(default="", repr=False)
    timeout_s: float = 30.0
    max_bytes: int = 100 * 1024 * 1024
    max_items: int = 100_000


@dataclass(frozen=True, slots=True)
class NewSource:
    """A source to store. `secret_env` names the environment variable with its credentials."""

    name: str
    kind: SourceKind
    url: str
    folder: str
    options: Mapping[str, str]
    secret_env: str = ""
    every_minutes: int = 0


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A source with the result of its last synchronisation; `every_minutes` 0 means on request only."""

    id: str
    owner: str
    name: str
    kind: SourceKind
    url: str
    folder: str
    options: Mapping[str, str]
    secret_env: str
    every_minutes: int
    state: SourceState
    error: str | None
    documents: int
    started_at: datetime | None
    finished_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A file at its last synchronisation; without a document, its user removed it, or it could not be added."""

    stamp: str
    document_id: str | None


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The result of a synchronisation: counts, and the files that could not be added with the reason."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    refused: tuple[tuple[str, str], ...] = ()
