"""Builds the chunks of a document with their token counts, lines, pages, content types and languages."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pincite.core.documents.document import Chunk, ChunkLevel, ContentType, Parsed
from pincite.ingest.chunk.content_type import content_type_of
from pincite.text.language import language_of
from pincite.text.markdown_blocks import Block, blocks
from pincite.text.sentences import line_of, line_starts, trim
from pincite.text.tokens import Tokenizer

_DOCUMENT_SAMPLE_CHARS = 600
"""Characters of prose from which a document's language is detected."""

_CHUNK_SAMPLE_CHARS = 300
"""Characters from which a passage's language is detected, which may differ from its document's."""


class ChunkBuilder:
    """Collects the chunks of a document in reading order; `done` are the chunks so far."""

    def __init__(self, parsed: Parsed, tokenizer: Tokenizer) -> None:
        self.parsed = parsed
        self.tokenizer = tokenizer
        self.blocks = blocks(parsed.text, parsed.markup, parsed.body_start)
        self.lines = line_starts(parsed.text)
        self.language = self._language_of_document()
        self.done: list[Chunk] = []

    def add(
        self,
        level: ChunkLevel,
        parent: Chunk | None,
        span: tuple[int, int],
        path: tuple[str, ...],
        header: str = "",
        *,
        code_part: bool = False,
    ) -> Chunk | None:
        """Append the chunk of a span and return it; None where the span is only white space.

        `code_part` says that the span holds a part of a code block that was split.
        """
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
            content_type=self._content_type(level, text, path, "code_part" if kind == "code" and code_part else kind),
            language=self._language(level, kind, text),
            tokens=self.tokenizer.count(text),
            header=header,
        )
        self.done.append(row)
        return row

    def repeat(self, section: Chunk) -> None:
        """Append a section that fits into one passage once more, as that passage."""
        language = self._language(ChunkLevel.CHUNK, section.content_type, section.text)
        self.done.append(
            replace(section, ordinal=len(self.done), level=ChunkLevel.CHUNK, parent=section.ordinal, language=language)
        )

    def blocks_in(self, start: int, end: int) -> Sequence[Block]:
        """The blocks that overlap a span."""
        first = bisect_right(self.blocks, start, key=lambda block: block.end)
        after = bisect_left(self.blocks, end, key=lambda block: block.start)
        return self.blocks[first:after]

    def _content_type(self, level: ChunkLevel, text: str, path: tuple[str, ...], kind: ContentType) -> ContentType:
        return kind if level is ChunkLevel.DOCUMENT else content_type_of(text, path, kind)

    def _kind(self, start: int, end: int) -> ContentType:
        """The content type of most of a span's characters; headings do not count."""
        sizes: Counter[ContentType] = Counter()
        for kind, size in _shares(self.blocks_in(start, end), start, end):
            sizes[kind] += size
        return max(sizes, key=lambda kind: sizes[kind]) if sizes else "prose"

    def _language(self, level: ChunkLevel, kind: ContentType, text: str) -> str:
        if level is not ChunkLevel.CHUNK or kind in ("code", "table"):
            return self.language
        return language_of(text[:_CHUNK_SAMPLE_CHARS], self.language)

    def _language_of_document(self) -> str:
        sample = ""
        for block in self.blocks:
            if block.kind in ("prose", "list"):
                sample += self.parsed.text[block.start : min(block.end, block.start + _DOCUMENT_SAMPLE_CHARS)] + "\n"
            if len(sample) >= _DOCUMENT_SAMPLE_CHARS:
                break
        return language_of(sample)


def _shares(
    blocks: Sequence[Block], start: int, end: int, text: ContentType = "prose"
) -> Iterator[tuple[ContentType, int]]:
    """Content type and characters of each block in a span; of a list item that is cut, its parts count."""
    for block in blocks:
        size = min(end, block.end) - max(start, block.start)
        if block.parts and 0 < size < block.end - block.start:
            yield from _shares(block.parts, start, end, "list")
        elif size > 0 and block.kind != "heading":
            yield (text if block.kind == "prose" else block.kind), size
