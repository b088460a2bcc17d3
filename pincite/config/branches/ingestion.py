"""Documents: chunking, enrichment, reading files, the web, versions."""

from typing import Literal, get_args

from pydantic import Field

from pincite.config.branches.base import Branch

Enrichable = Literal[
    "summary", "possible_queries", "source_uri", "heading_path", "author", "description", "tags", "content_type"
]  # fmt: skip
"""What may be embedded with a passage."""


class Chunking(Branch):
    """How documents are cut into passages. A change applies to documents added or changed after it."""

    strategy: Literal["structure", "window", "semantic"] = Field(
        default="structure",
        description="Where passages end: with paragraphs, items and tables (`structure`), after so many characters "
        "(`window`), or where the subject changes, tables apart (`semantic`: every sentence is embedded to tell).",
    )
    size: int = Field(
        default=500, ge=20, le=8000, description="Tokens a passage holds at most, by structure or by meaning."
    )
    overlap: int = Field(
        default=50, ge=0, le=4000, description="Tokens a passage shares with the one before, by structure."
    )
    tokenizer: Literal["cl100k_base", "o200k_base"] = Field(
        default="cl100k_base", description="Tokenizer that counts them."
    )
    window_chars: int = Field(default=1000, ge=100, le=20_000, description="Characters a window holds at most.")
    window_overlap_chars: int = Field(
        default=200, ge=0, le=10_000, description="Characters a window shares with the one before, at most half of it."
    )
    header_aware: bool = Field(
        default=True, description="Whether a window ends with its section, or goes on over headings."
    )
    breakpoint_percentile: float = Field(
        default=95,
        ge=50,
        le=99.9,
        description="By meaning, the subject changes where two neighbouring sentences are farther apart than in so many "
        "per cent of all cases in the document.",
    )
    lead: Literal["headings", "labels"] = Field(
        default="headings",
        description="What leads a passage when it is embedded: its title and headings, or lines that say its source, "
        "document, version and section, which makes equal texts of different documents different.",
    )


class Enrichment(Branch):
    """What a model adds to passages so that they are found: for their vectors only, never shown. Applies as for chunking."""

    enabled: bool = Field(
        default=False,
        description="Have the model of `llm` write a summary and possible questions for each passage, a call for each; "
        "see docs/passages.md.",
    )
    # `with` is the name, and to Python a keyword: it cannot be written as the other fields are.
    __annotations__["with"] = tuple[Enrichable, ...]
    vars()["with"] = Field(
        default=get_args(Enrichable),
        description="What is embedded before the passage: any of `summary`, `possible_queries`, `source_uri`, "
        "`heading_path`, `author`, `description`, `tags`, `content_type`.",
    )
    model: str = Field(
        default="", description="Another model to ask the server of `llm` for; empty is the one that answers."
    )

    @property
    def parts(self) -> tuple[Enrichable, ...]:
        """What `with` says."""
        chosen: tuple[Enrichable, ...] = getattr(self, "with")
        return chosen


class Ingest(Branch):
    """How files come in."""

    max_markdown_mb: float = Field(default=10, gt=0, le=1024, description="Largest Markdown or text file.")
    max_html_mb: float = Field(default=10, gt=0, le=1024, description="Largest web page.")
    max_csv_mb: float = Field(default=50, gt=0, le=1024, description="Largest file of comma- or tab-separated values.")
    max_office_mb: float = Field(default=50, gt=0, le=1024, description="Largest Word, PowerPoint or Excel file.")
    max_mail_mb: float = Field(default=50, gt=0, le=1024, description="Largest mail, its attachments included.")
    max_image_mb: float = Field(default=50, gt=0, le=1024, description="Largest image.")
    max_pdf_mb: float = Field(default=50, gt=0, le=4096, description="Largest PDF file.")
    dedupe: bool = Field(default=True, description="Embed equal text of one owner once.")
    workers: int = Field(default=2, ge=0, le=64, description="Documents processed at the same time by one process.")
    parse_memory_mb: int = Field(default=1024, ge=128, le=65536, description="Memory a parser may use.")
    parse_timeout_s: float = Field(default=120, gt=0, le=3600, description="Time a parser may take for one file.")
    attempts: int = Field(default=3, ge=1, le=20, description="Tries for a document whose processing was cut off.")
    patience_s: float = Field(
        default=3600,
        ge=0,
        le=30 * 86400,
        description="How long a document waits for an embedder that cannot be reached, or for room on the disk, before "
        "it ends as an error; tries come ever less often, and do not count as such.",
    )
    lease_s: float = Field(
        default=30, ge=2, le=3600, description="A worker that is silent for so long is taken for dead."
    )


class Web(Branch):
    """Documents added by their address on the web. Off, nothing is ever fetched."""

    enabled: bool = Field(default=False, description="Fetch pages that somebody asks to add by their address.")
    allow_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts of one's own network that may be called, such as `wiki.intranet`, or `wiki.intranet:8080` for "
        "a port of its own. All others must have public addresses and are called on ports 80 and 443.",
    )
    max_mb: float = Field(default=20, gt=0, le=1024, description="Largest page, unpacked.")
    timeout_s: float = Field(default=30, gt=0, le=600, description="Time that fetching one page may take.")
    max_redirects: int = Field(default=5, ge=0, le=20, description="How often an address may lead to another one.")
    max_pages: int = Field(default=500, ge=1, le=100_000, description="Pages of a sitemap that are added at most.")
    delay_s: float = Field(
        default=1,
        ge=0,
        le=600,
        description="Least time between two calls of one host; its robots.txt may ask for more.",
    )


class Versions(Branch):
    """How long earlier versions of documents can be read, compared and asked."""

    keep: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="Versions of a document that are kept, the newest included; 0 keeps all.",
    )
    keep_days: int = Field(
        default=0, ge=0, le=36_500, description="Days a version is kept after a newer one came; 0 for ever."
    )
    standby_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="Days after a switch that the index before stands by for a return; 0 for ever.",
    )
