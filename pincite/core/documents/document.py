"""What we keep: documents, their versions, sections and the chunks we search."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any, Literal

from pincite.core.documents.pages import Page
from pincite.errors import PinciteError

ContentType = Literal[
    "prose", "table", "code", "list", "glossary", "contents", "image_credits", "hypothetical_question"
]  # fmt: skip
"""What a passage is made of, or what it is for where that is not to be read."""
Markup = Literal["markdown", "plain"]
UploadOutcome = Literal["new", "new_version", "again", "unchanged"]
"""What an upload turned out to be; `again` is the same bytes, to be indexed anew."""


NO_HEADINGS = "Document"
"""What the one section of a document without headings is called."""


class Status(StrEnum):
    """Where a document stands; only `ingest.worker` moves it."""

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
    """A file as somebody handed it in, before anything was decided about it.

    `readers` may read it besides its owner; None: whoever may read what lies in its folder.
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
    """A file as text: normalised, with what the file says about itself.

    `pages` are in the order of the text; empty where nothing is known of where its pieces stand in the file.
    `body_start` is where the content begins, after any front matter.
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
        """Where page n + 1, or the slide or sheet of that number, begins; empty where the file has none of these."""
        return tuple(page.start for page in self.pages if page.kind != "text")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it up to the next heading; offsets into the normalised text."""

    heading_path: tuple[str, ...]
    depth: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of one version: `text` is exactly the normalised text's slice [start:end].

    `header` is a table's header repeated for a part that lost it; it is never part of `text`.
    Lines count from 1 and are the file's own; `end_line` is the line of the last character.
    `parent` is the ordinal of the section or document this passage belongs to; `place` is where it stands in words.
    `vectorized_text` is what was embedded, where that was worded otherwise.
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
    """What is known about a document besides its text; what its uploader said wins over what the file says."""

    document_id: str
    version: str
    name: str
    source_uri: str | None
    author: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    title: str | None = None

    def or_else(self, parsed: Parsed) -> "About":
        """The same, with what the file says where nobody said otherwise."""
        return replace(
            self, title=self.title or parsed.title, author=self.author or parsed.author,
            description=self.description or parsed.description, tags=self.tags or parsed.tags,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Enriched:
    """What a model wrote about a passage, for its vector only."""

    summary: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a document could not be indexed."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Access:
    """Who may read a document."""

    owner: str
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    everyone: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A named thing in a folder; its bytes may change, its id never does."""

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


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of the library, what it tells the model, what it is called in answers, and what lies in and below it.

    `access` is who may read what lies in it; None: whoever may read what lies in the folder above.
    """

    path: str
    system_prompt: str | None = None
    category_label: str | None = None
    documents: int = 0
    access: Access | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a document's bytes."""

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
    """What to read: a document by id or by where it came from, and which part of it."""

    document_id: str | None = None
    source_uri: str | None = None
    section: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """Part of a document's text as `read` returns it."""

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
    """What a deletion removed; `verified` means the store was asked again and found nothing."""

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


@dataclass(frozen=True, slots=True)
class Added:
    """What became of one upload."""

    document: Document
    outcome: UploadOutcome


@dataclass(frozen=True, slots=True)
class AddedAll:
    """What became of many files: taken in, refused with the reason, and passed over in folders."""

    added: list[Added]
    refused: list[tuple[str, PinciteError]]
    skipped: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something long is: files, or whatever it is `of`, done of all, and the parts of those in hand, added up.

    `note` is what those in hand are at, or wait for.
    """

    stage: str
    done: int
    total: int
    in_hand: float
    of: str = "file"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Which documents to list, and where to go on."""

    folder: str | None = None
    status: str | None = None
    tags: tuple[str, ...] = ()
    q: str | None = None
    limit: int = 100
    cursor: str | None = None
    stale: bool | None = None


@dataclass(frozen=True, slots=True)
class VersionText:
    """One version's normalised text, as citations point into it."""

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
    """What shall be otherwise about a document; None is left as it is."""

    title: str | None = None
    tags: tuple[str, ...] | None = None
    folder: str | None = None
    name: str | None = None
