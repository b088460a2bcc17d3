"""Parses a file's bytes and cuts the text into chunks: one pure function, and the JSON form of its result."""

import json
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from pincite import plugins
from pincite.config.branches.ingestion import Chunking
from pincite.core.documents.document import Chunk, ChunkLevel, Parsed, Section
from pincite.core.documents.pages import Page
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.ingest.chunk.positions import with_positions
from pincite.ingest.chunk.sections import join_bare_headings, sections
from pincite.ingest.chunk.semantic import Run, semantic_chunks, sentence_runs
from pincite.ingest.chunk.structure import structure_chunks
from pincite.ingest.chunk.window import window_chunks
from pincite.parsers import PARSERS
from pincite.text.tokens import Tokenizer

MAX_TEXT_CHARS = 64 * 1024 * 1024
"""Maximum length of a document's text, in characters."""
_MAX_PAGE_POINTS = 1e6
"""Maximum width and height of a page in points; a PDF may claim any number."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file as text and as chunks of all levels, in reading order.

    With semantic chunking the first result has no chunks but `runs`, whose vectors must be compared first.
    """

    parsed: Parsed
    chunks: tuple[Chunk, ...]
    runs: tuple[Run, ...] = ()


def parse_and_chunk(
    data: bytes, parser: str, chunking: Chunking, cuts: Collection[int] | None = None, window: int = 0
) -> Prepared:
    """Parse the bytes with the parser of this name and cut the text into chunks.

    `cuts` are the offsets at which the subject changes, for semantic chunking. `window` is the embedder's maximum input
    in tokens: a code block that fits into it stays whole.
    """
    parsed = _with_storable_metadata(plugins.load(Parser, PARSERS, parser, {}).parse(data))
    if len(parsed.text) > MAX_TEXT_CHARS:
        raise Unreadable(f"its text has more than {MAX_TEXT_CHARS} characters; split the file", code="limit")
    tokenizer, parts = _tokenizer(chunking.tokenizer), join_bare_headings(sections(parsed))
    if (
        chunking.strategy == "semantic"
        and cuts is None
        and (found := sentence_runs(parsed, parts, chunking, tokenizer))
    ):
        return Prepared(parsed, (), found)
    rows = _cut(parsed, parts, chunking, tokenizer, cuts or (), window)
    if not rows:
        raise Unreadable("there is no text in the file", code="empty")
    return Prepared(parsed, with_positions(rows, parsed))


def _cut(
    parsed: Parsed,
    parts: Sequence[Section],
    chunking: Chunking,
    tokenizer: Tokenizer,
    cuts: Collection[int],
    window: int,
) -> list[Chunk]:
    if chunking.strategy == "window":
        return window_chunks(parsed, parts, chunking, tokenizer)
    if chunking.strategy == "semantic":
        return semantic_chunks(parsed, parts, chunking, tokenizer, cuts, window)
    return structure_chunks(
        parsed, parts, size=chunking.size, overlap=chunking.overlap, tokenizer=tokenizer, window=window
    )


def _with_storable_metadata(parsed: Parsed) -> Parsed:
    """The parsed file with metadata that the database can store: without NUL characters and lone surrogates."""
    return replace(
        parsed,
        title=_storable_text(parsed.title) or None,
        author=_storable_text(parsed.author) or None,
        description=_storable_text(parsed.description) or None,
        category=_storable_text(parsed.category) or None,
        tags=tuple(map(_storable_text, parsed.tags)),
        source_urls=tuple(map(_storable_text, parsed.source_urls)),
        pages=tuple(
            replace(page, name=_storable_text(page.name), width=_page_size(page.width), height=_page_size(page.height))
            for page in parsed.pages
        ),
    )


def _page_size(points: float) -> float:
    """A page's width or height; 0 where the file gives an impossible one."""
    return points if 0 <= points <= _MAX_PAGE_POINTS else 0.0


def _storable_text(text: str | None) -> str:
    return (text or "").encode("utf-8", "replace").decode().replace("\0", " ")


def to_json(prepared: Prepared) -> bytes:
    """A prepared file as JSON; the chunks' texts are left out, because they are slices of the whole text."""
    rows = [_row(chunk) for chunk in prepared.chunks]
    pages = [
        [page.start, page.kind, page.name, page.width, page.height, b64encode(page.marks).decode()]
        for page in prepared.parsed.pages
    ]
    parsed = asdict(replace(prepared.parsed, pages=()))
    message = {"parsed": parsed, "pages": pages, "chunks": rows, "runs": prepared.runs}
    return json.dumps(message, ensure_ascii=False).encode()


def from_json(message: Mapping[str, Any]) -> Prepared:
    """The prepared file from the JSON that `to_json` wrote."""
    fields: dict[str, Any] = message["parsed"]
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    pages = tuple(
        Page(start, kind, name, width, height, b64decode(marks))
        for start, kind, name, width, height, marks in message["pages"]
    )
    parsed = Parsed(**fields | lists | {"pages": pages})
    found = tuple(tuple((start, end) for start, end in run) for run in message["runs"])
    return Prepared(parsed, tuple(_chunk(row, parsed.text) for row in message["chunks"]), found)


_FIELDS = tuple(name for name in Chunk.__slots__ if name != "text")


def _row(chunk: Chunk) -> list[Any]:
    return [getattr(chunk, name) for name in _FIELDS]


def _chunk(row: list[Any], text: str) -> Chunk:
    fields = dict(zip(_FIELDS, row, strict=True))
    fields["level"] = ChunkLevel(fields["level"])
    fields["heading_path"] = tuple(fields["heading_path"])
    return Chunk(text=text[fields["start"] : fields["end"]], **fields)


@cache
def _tokenizer(name: str) -> Tokenizer:
    return Tokenizer(name)
