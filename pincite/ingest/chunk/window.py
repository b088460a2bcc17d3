"""Window chunking: windows of a fixed number of characters, each overlapping the one before."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pincite.config.branches.ingestion import Chunking
from pincite.core.documents.document import Chunk, ChunkLevel, Parsed, Section
from pincite.ingest.chunk.builder import ChunkBuilder
from pincite.text.sentences import sentences, trim
from pincite.text.tokens import Tokenizer

Span = tuple[int, int]

_MIN_FILL = 0.8
"""Share of its size that a window must have before it may end at a paragraph or a sentence."""


def window_chunks(parsed: Parsed, sections: Sequence[Section], chunking: Chunking, tokenizer: Tokenizer) -> list[Chunk]:
    """All chunks of a document in reading order: the document, then each section with the windows that start in it.

    No window extends beyond its page, so that each has one. With `chunking.header_aware` none extends beyond its
    section. Without it, windows continue across headings, and each belongs to the section in which it starts.
    """
    chunks = ChunkBuilder(parsed, tokenizer)
    document = chunks.add(ChunkLevel.DOCUMENT, None, (parsed.body_start, len(parsed.text)), ())
    parts = (
        [(section.start, section.end) for section in sections]
        if chunking.header_aware
        else [(parsed.body_start, len(parsed.text))]
    )
    found = [
        span
        for part in parts
        for on_page in _by_page(part, parsed.page_starts)
        for span in window_spans(parsed.text, on_page, chunking)
    ]
    for section in sections:
        row = chunks.add(ChunkLevel.SECTION, document, (section.start, section.end), section.heading_path)
        first, after = (bisect_left(found, (offset, 0)) for offset in (section.start, section.end))
        for span in found[first:after]:
            chunks.add(ChunkLevel.CHUNK, row, span, section.heading_path)
    return chunks.done


def _by_page(part: Span, page_starts: Sequence[int]) -> list[Span]:
    """The parts of a span on each page."""
    start, end = part
    edges = [start, *(at for at in page_starts if start < at < end), end]
    return list(pairwise(edges))


def window_spans(text: str, part: Span, chunking: Chunking) -> Iterator[Span]:
    """Windows that together cover a part of a text; the overlap is at most half a window."""
    start, end = trim(text, *part)
    size = chunking.window_chars
    overlap = min(chunking.window_overlap_chars, size // 2)
    while end - start > size:
        cut = _window_end(text, start, start + size)
        yield trim(text, start, cut)
        start = _word_start(text, max(start + 1, cut - overlap), cut)
    if start < end:
        yield start, end


def _window_end(text: str, start: int, limit: int) -> int:
    """The end of a window, at most `limit`: after a paragraph, else a sentence, else a word, else at `limit`."""
    earliest = start + int((limit - start) * _MIN_FILL)
    paragraph = text.rfind("\n\n", earliest, limit)
    if paragraph >= 0:
        return paragraph
    last = start + sentences(text[start:limit])[-1][0]
    if last >= earliest:
        return last
    blank = max(text.rfind(space, earliest, limit + 1) for space in "\n\t ")
    return blank if blank >= 0 else limit


def _word_start(text: str, lowest: int, cut: int) -> int:
    """The start of the first word from `lowest` on; `lowest` itself where one long word extends to the cut."""
    for at in range(lowest, cut + 1):
        if text[at - 1].isspace() and not text[at].isspace():
            return at
    return cut if text[lowest:cut].isspace() or cut - lowest <= 0 else lowest
