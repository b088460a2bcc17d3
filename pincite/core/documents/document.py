"""Documents, their versions and sections, and the chunks that are searched."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any, Literal

from pincite.core.documents.pages import Page
from pincite.errors import PinciteError

ContentType = Literal[
    "prose", "table", "code", "code_part", "list", "glossary", "contents", "image_credits", "hypothetical_question"
]  # fmt: skip
"""The type of a chunk's content; `code_part` is a part of a code block that was too long for one chunk."""
HIDDEN_CONTENT_TYPE: ContentType = "hypothetical_question"
"""Questions that a document lists about itself: they are no results, and take no place among the candidates."""
Markup = Literal["markdown", "plain"]
UploadOutcome = Literal["new", "new_version", "again", "unchanged"]
"""The outcome of an upload; `again` means unchanged bytes that are indexed again."""

NO_HEADINGS = "Document"
"""The name of the only section of a document without headings."""


class Status(StrEnum):
    """The processing status of a document; only `ingest.worker` changes it."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    ERROR = "error"


class ChunkLevel(IntEnum):
    """How much of a document a chunk covers."""

    DOCUMENT = 0
    SECTION = 1
    CHUNK = 2


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was uploaded, before any check.

    `readers` may read it besides its owner; None means the readers of its folder.
    """

    name: str
    data: bytes
    folder: str = ""
    source_uri: str | None = None
    title: str | None = None
    author: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    readers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed file: its normalised text and its metadata.

    `pages` are in the order of the text; empty if the positions in the file are unknown. `body_start` is the offset of
    the content after any front matter.
    """

    text: str
    markup: Markup
    title: str | None = None
    author: str | None = None
    description: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    source_urls: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    body_start: int = 0

    @property
    def page_starts(self) -> tuple[int, ...]:
        """The start offsets of the pages, slides or sheets; empty if the file has none."""
        return tuple(page.start for page in self.pages if page.kind != "text")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text up to the next heading; offsets refer to the normalised text.

    `bare` means that no text follows the heading.
    """

    heading_path: tuple[str, ...]
    depth: int
    start: int
    end: int
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of one version: `text` is exactly the slice [start:end] of the normalised text.

    `header` repeats the header row for a later part of a split table; it is not part of `text`. Lines count from 1 as
    in the file; `end_line` is the line of the last character. `parent` is the ordinal of the section or document the
    chunk belongs to; `place` describes its position in words. `vectorized_text` is the embedded text, if it differs.
    """

    ordinal: int
    level: ChunkLevel
    parent: int | None
    text: str
    start: int
    end: int
    start_line: int
    end_line: int
    page: int | None
    heading_path: tuple[str, ...]
    content_type: ContentType
    language: str
    tokens: int
    header: str = ""
    place: str | None = None
    vectorized_text: str | None = None


@dataclass(frozen=True, slots=True)
class About:
    """The metadata of a document; values of the uploader take precedence over values in the file."""

    document_id: str
    version: str
    name: str
    source_uri: str | None
    author: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    title: str | None = None

    def or_else(self, parsed: Parsed) -> "About":
        """Fill values that the uploader did not give with those of the file."""
        return replace(
            self,
            title=self.title or parsed.title,
            author=self.author or parsed.author,
            description=self.description or parsed.description,
            tags=self.tags or parsed.tags,
        )


@dataclass(frozen=True, slots=True)
class Enriched:
    """A summary and questions that a model wrote about a chunk; used for its embedding only."""

    summary: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a document could not be indexed."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Access:
    """The readers of a document."""

    owner: str
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    everyone: bool = False
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document in a folder; its content may change with each version, its id does not."""

    id: str
    name: str
    title: str
    author: str | None
    description: str | None
    status: Status
    progress: float
    stage: str | None
    error: Failure | None
    version: str
    versions: int
    mime: str
    bytes: int
    checksum: str
    folder: str
    tags: tuple[str, ...]
    source_uri: str | None
    source_urls: tuple[str, ...]
    chunks: int
    stale: bool
    access: Access
    created_at: datetime
    updated_at: datetime
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Folder and name: `hr/leave.md`."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of the library; `documents` counts those in it and below it.

    `system_prompt` is added to questions about the folder, `category_label` is its name in answers. `access` are the
    readers of its documents; None means the readers of the parent folder.
    """

    path: str
    system_prompt: str | None = None
    category_label: str | None = None
    documents: int = 0
    access: Access | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a document's content."""

    id: str
    document_id: str
    checksum: str
    bytes: int
    mime: str
    status: Status
    served: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The part of a document to read; the document is given by its id or its source URI."""

    document_id: str | None = None
    source_uri: str | None = None
    section: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document's text, as `read` returns it."""

    document_id: str
    version: str
    title: str
    content: str
    start_line: int
    end_line: int
    total_lines: int
    section: str | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a removal deleted; `verified` means that a second query found nothing left.

    `facts` are the rows of the knowledge graph: mentions, facts and edges; `summaries` those of the summary tree.
    """

    document_id: str
    versions: int
    chunks: int
    vectors: int
    postings: int
    facts: int
    cache_entries: int
    quotes: int
    file: bool
    verified: bool
    summaries: int = 0
    token_vectors: int = 0


@dataclass(frozen=True, slots=True)
class Added:
    """The result of one upload."""

    document: Document
    outcome: UploadOutcome


@dataclass(frozen=True, slots=True)
class AddedAll:
    """The result of adding many files: files added, files refused, and files or URLs skipped, each with the reason."""

    added: list[Added]
    refused: list[tuple[str, PinciteError]]
    skipped: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a long operation: `done` of `total` units; `of` names the unit.

    `in_hand` is the sum of the finished fractions of units in progress; `note` is their stage, or what they wait for.
    """

    stage: str
    done: int
    total: int
    in_hand: float
    of: str = "file"
    note: str = ""


Sort = Literal["name", "title", "size", "changed"]
"""What a list of documents is ordered by; `name` is by folder and name."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Which documents to list in which order, and the cursor of the page."""

    folder: str | None = None
    status: str | None = None
    tags: tuple[str, ...] = ()
    q: str | None = None
    limit: int = 100
    cursor: str | None = None
    stale: bool | None = None
    sort: Sort = "name"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class VersionText:
    """The normalised text of one version, to which the offsets of citations refer."""

    document_id: str
    version: str
    title: str
    mime: str
    text: str
    page_starts: tuple[int, ...]
    body_start: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """Changes to a document; None leaves a value as it is."""

    title: str | None = None
    tags: tuple[str, ...] | None = None
    folder: str | None = None
    name: str | None = None
