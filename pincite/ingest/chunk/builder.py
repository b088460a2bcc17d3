"""The rows of a document: its levels, each trimmed, counted, with line, page, kind and language."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pincite.core.documents.document import Chunk, ChunkLevel, ContentType, Parsed
from pincite.ingest.chunk.content_type import label
from pincite.text.language import language_of
from pincite.text.markdown_blocks import Block, blocks
from pincite.text.sentences import line_of, line_starts, trim
from pincite.text.tokens import Tokenizer

_DOCUMENT_SAMPLE = 600
"""Characters of prose that decide a document's language."""

_CHUNK_SAMPLE = 300
"""Characters that may show a passage to be in another language than its document."""


class ChunkBuilder:
    """The rows of a document as they come: trimmed, counted, with line, page, kind and language."""

    def __init__(self, parsed: Parsed, tokenizer: Tokenizer) -> None:
        self.parsed = parsed
        self.tokenizer = tokenizer
        self.blocks = blocks(parsed.text, parsed.markup, parsed.body_start)
        self.lines = line_starts(parsed.text)
        self.language = self._language_of_document()
        self.done: list[Chunk] = []

    def add(
        self, level: ChunkLevel, parent: Chunk | None, span: tuple[int, int], path: tuple[str, ...], header: str = ""
    ) -> Chunk | None:
        """Append the row for a span; none where it is nothing but white space."""
        start, end = trim(self.parsed.text, *span)
        if start == end:
            return None
        text = self.parsed.text[start:end]
        kind = self._kind(start, end)
        row = Chunk(
            ordinal=len(self.done),
            level=level,
            parent=None if parent is None else parent.ordinal,
            text=text,
            start=start,
            end=end,
            start_line=line_of(self.lines, start),
            end_line=line_of(self.lines, end - 1),
            page=bisect_right(self.parsed.page_starts, start) or None,
            heading_path=path,
            content_type=kind if level is ChunkLevel.DOCUMENT else label(text, path, kind),
            language=self._language(level, kind, text),
            tokens=self.tokenizer.count(text),
            header=header,
        )
        self.done.append(row)
        return row

    def repeat(self, section: Chunk) -> None:
        """Append a section that fits into one passage as that passage."""
        language = self._language(ChunkLevel.CHUNK, section.content_type, section.text)
        self.done.append(
            replace(section, ordinal=len(self.done), level=ChunkLevel.CHUNK, parent=section.ordinal, language=language)
        )

    def blocks_in(self, start: int, end: int) -> Sequence[Block]:
        """The blocks that lie, at least in part, between two offsets."""
        first = bisect_right(self.blocks, start, key=lambda block: block.end)
        after = bisect_left(self.blocks, end, key=lambda block: block.start)
        return self.blocks[first:after]

    def _kind(self, start: int, end: int) -> ContentType:
        """What most of the span is made of; a heading counts for nothing beside other things."""
        sizes: Counter[ContentType] = Counter()
        for kind, size in _shares(self.blocks_in(start, end), start, end):
            sizes[kind] += size
        return max(sizes, key=lambda kind: sizes[kind]) if sizes else "prose"

    def _language(self, level: ChunkLevel, kind: ContentType, text: str) -> str:
        if level is not ChunkLevel.CHUNK or kind in ("code", "table"):
            return self.language
        return language_of(text[:_CHUNK_SAMPLE], self.language)

    def _language_of_document(self) -> str:
        sample = ""
        for block in self.blocks:
            if block.kind in ("prose", "list"):
                sample += self.parsed.text[block.start : min(block.end, block.start + _DOCUMENT_SAMPLE)] + "\n"
            if len(sample) >= _DOCUMENT_SAMPLE:
                break
        return language_of(sample)


def _shares(
    blocks: Sequence[Block], start: int, end: int, text: ContentType = "prose"
) -> Iterator[tuple[ContentType, int]]:
    """What a span is made of, block by block; of a list item that it holds in part, the parts count."""
    for block in blocks:
        size = min(end, block.end) - max(start, block.start)
        if block.parts and 0 < size < block.end - block.start:
            yield from _shares(block.parts, start, end, "list")
        elif size > 0 and block.kind != "heading":
            yield (text if block.kind == "prose" else block.kind), size
