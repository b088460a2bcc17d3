"""Settings of documents: chunking, enrichment, parsing, web pages and versions."""

from typing import Literal, get_args

from pydantic import Field

from pincite.config.branches.base import Branch

Enrichable = Literal[
    "summary", "possible_queries", "source_uri", "heading_path", "author", "description", "tags", "content_type"
]
"""The kinds of text that can be embedded together with a chunk."""


class Chunking(Branch):
    """How documents are split into chunks. A change applies to documents that are added or changed afterwards."""

    strategy: Literal["structure", "window", "semantic"] = Field(
        default="structure",
        description="Where chunks end: at paragraphs, list items and tables (`structure`), after a fixed number of "
        "characters (`window`), or where the topic changes (`semantic`: every sentence is embedded; tables are "
        "separate chunks).",
    )
    size: int = Field(
        default=500, ge=20, le=8000, description="Maximum chunk size in tokens (`structure` and `semantic`)."
    )
    overlap: int = Field(
        default=50, ge=0, le=4000, description="Overlap with the previous chunk in tokens (`structure`)."
    )
    tokenizer: Literal["cl100k_base", "o200k_base"] = Field(
        default="cl100k_base", description="Tokenizer that counts these tokens."
    )
    window_chars: int = Field(
        default=1000, ge=100, le=20_000, description="Maximum chunk size in characters (`window`)."
    )
    window_overlap_chars: int = Field(
        default=200,
        ge=0,
        le=10_000,
        description="Overlap with the previous chunk in characters, at most half of it (`window`).",
    )
    header_aware: bool = Field(
        default=True,
        description="Whether a chunk ends at the end of its section, or continues past headings (`window`).",
    )
    breakpoint_percentile: float = Field(
        default=95,
        ge=50,
        le=99.9,
        description="Percentile of the distances between adjacent sentences of a document; the topic changes where "
        "the distance is larger (`semantic`).",
    )
    lead: Literal["headings", "labels"] = Field(
        default="headings",
        description="Prefix of a chunk when it is embedded: its title and headings, or lines with its source, "
        "document, version and section. With `labels`, equal texts of different documents get different embeddings.",
    )


class Enrichment(Branch):
    """Text that a model adds to a chunk's embedding to improve retrieval; never shown. Applies as for chunking."""

    enabled: bool = Field(
        default=False,
        description="Let the model of `llm` write a summary and possible queries for each chunk, one call per chunk; "
        "see docs/passages.md.",
    )
    # The key `with` is a Python keyword, so this field cannot be declared like the others.
    __annotations__["with"] = tuple[Enrichable, ...]
    vars()["with"] = Field(
        default=get_args(Enrichable),
        description="Texts embedded before the chunk: any of `summary`, `possible_queries`, `source_uri`, "
        "`heading_path`, `author`, `description`, `tags`, `content_type`.",
    )
    model: str = Field(
        default="", description="Another model of the server in `llm`; empty uses the model that answers."
    )

    @property
    def parts(self) -> tuple[Enrichable, ...]:
        """The value of the setting `enrichment.with`."""
        chosen: tuple[Enrichable, ...] = getattr(self, "with")
        return chosen


class Ingest(Branch):
    """File size limits, workers and retries of document processing."""

    max_markdown_mb: float = Field(default=10, gt=0, le=1024, description="Maximum size of a Markdown or text file.")
    max_html_mb: float = Field(default=10, gt=0, le=1024, description="Maximum size of an HTML file.")
    max_csv_mb: float = Field(default=50, gt=0, le=1024, description="Maximum size of a CSV or TSV file.")
    max_office_mb: float = Field(
        default=50, gt=0, le=1024, description="Maximum size of a Word, PowerPoint or Excel file."
    )
    max_mail_mb: float = Field(
        default=50, gt=0, le=1024, description="Maximum size of an email, including attachments."
    )
    max_image_mb: float = Field(default=50, gt=0, le=1024, description="Maximum size of an image.")
    max_pdf_mb: float = Field(default=50, gt=0, le=4096, description="Maximum size of a PDF file.")
    dedupe: bool = Field(default=True, description="Embed identical chunks of one owner only once.")
    workers: int = Field(default=2, ge=0, le=64, description="Documents that one process works on at the same time.")
    parse_memory_mb: int = Field(default=1024, ge=128, le=65536, description="Memory limit of a parser process.")
    parse_timeout_s: float = Field(default=120, gt=0, le=3600, description="Timeout for parsing one file.")
    attempts: int = Field(
        default=3, ge=1, le=20, description="Attempts for a document whose processing was interrupted."
    )
    patience_s: float = Field(
        default=3600,
        ge=0,
        le=30 * 86400,
        description="How long a document waits for an unreachable embedder or for free disk space before it fails. "
        "Retries back off, and do not count as attempts.",
    )
    lease_s: float = Field(
        default=30,
        ge=2,
        le=3600,
        description="Lease of a job; a worker that does not renew it in time is considered dead.",
    )


class Web(Branch):
    """Documents added by URL. When disabled, pincite never fetches a page."""

    enabled: bool = Field(default=False, description="Allow users to add pages by URL.")
    allow_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts of the internal network that may be fetched, such as `wiki.intranet`, or "
        "`wiki.intranet:8080` for a specific port. All other hosts must have public addresses and are fetched on "
        "ports 80 and 443 only.",
    )
    max_mb: float = Field(default=20, gt=0, le=1024, description="Maximum size of a page after decompression.")
    timeout_s: float = Field(default=30, gt=0, le=600, description="Timeout for fetching one page.")
    max_redirects: int = Field(default=5, ge=0, le=20, description="Maximum number of redirects.")
    max_pages: int = Field(default=500, ge=1, le=100_000, description="Maximum number of pages added from a sitemap.")
    delay_s: float = Field(
        default=1,
        ge=0,
        le=600,
        description="Minimum delay between two requests to one host; its robots.txt may ask for more.",
    )


class Versions(Branch):
    """Retention of earlier document versions and of the previous index."""

    keep: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="Number of versions kept per document, including the newest; 0 keeps all.",
    )
    keep_days: int = Field(
        default=0, ge=0, le=36_500, description="Days a version is kept after it was superseded; 0 keeps it forever."
    )
    standby_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="Days the previous index is kept for a rollback after a switch; 0 keeps it forever.",
    )
