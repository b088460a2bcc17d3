"""Sections → chunks by length alone: windows of so many characters, each beginning with the end of the one before."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from pincite.config.branches.ingestion import Chunking
from pincite.core.documents.document import Chunk, ChunkLevel, Parsed, Section
from pincite.ingest.chunk.builder import ChunkBuilder
from pincite.text.sentences import sentences, trim
from pincite.text.tokens import Tokenizer

Span = tuple[int, int]

_EARLIEST = 0.8
"""A window may end before it is full, for the sake of a paragraph or a sentence, but not before this share of it."""


def window(parsed: Parsed, sections: Sequence[Section], chunking: Chunking, tokenizer: Tokenizer) -> list[Chunk]:
    """All rows of a document in reading order: itself, then each section followed by the windows that begin in it.

    With `chunking.header_aware` no window reaches beyond its section; without, windows go over headings, and each
    belongs to the section it begins in.
    """
    rows = ChunkBuilder(parsed, tokenizer)
    document = rows.add(ChunkLevel.DOCUMENT, None, (parsed.body_start, len(parsed.text)), ())
    parts = (
        [(section.start, section.end) for section in sections]
        if chunking.header_aware
        else [(parsed.body_start, len(parsed.text))]
    )
    found = [span for part in parts for span in spans(parsed.text, part, chunking)]
    for section in sections:
        row = rows.add(ChunkLevel.SECTION, document, (section.start, section.end), section.heading_path)
        first, after = (bisect_left(found, (offset, 0)) for offset in (section.start, section.end))
        for span in found[first:after]:
            rows.add(ChunkLevel.CHUNK, row, span, section.heading_path)
    return rows.done


def spans(text: str, part: Span, chunking: Chunking) -> Iterator[Span]:
    """Windows over a part of a text, which together hold all of it but white space; at most half of one is overlap."""
    start, end = trim(text, *part)
    size = chunking.window_chars
    overlap = min(chunking.window_overlap_chars, size // 2)
    while end - start > size:
        cut = _cut(text, start, start + size)
        yield trim(text, start, cut)
        start = _word_start(text, max(start + 1, cut - overlap), cut)
    if start < end:
        yield start, end


def _cut(text: str, start: int, limit: int) -> int:
    """Where a window from `start` ends, at `limit` at the latest: after a paragraph, a sentence, a word, or just there."""
    earliest = start + int((limit - start) * _EARLIEST)
    paragraph = text.rfind("\n\n", earliest, limit)
    if paragraph >= 0:
        return paragraph
    last = start + sentences(text[start:limit])[-1][0]
    if last >= earliest:
        return last
    blank = max(text.rfind(space, earliest, limit + 1) for space in "\n\t ")
    return blank if blank >= 0 else limit


def _word_start(text: str, lowest: int, cut: int) -> int:
    """The first word's beginning from `lowest` on; `lowest` itself where one long word goes on to the cut, and beyond."""
    for at in range(lowest, cut + 1):
        if text[at - 1].isspace() and not text[at].isspace():
            return at
    return cut if text[lowest:cut].isspace() or cut - lowest <= 0 else lowest
