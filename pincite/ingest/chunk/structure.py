"""Structural chunking: passages of limited size that are cut between paragraphs, list items, tables and code blocks.

A section that fits is one passage. A larger section is split into *units*, the smallest spans that stay whole: a
paragraph, a list item, a table, a code block; where one of these is too large itself, its sentences, rows or lines.
Units are packed into passages by binary search over the prefix sums of their token counts. Each passage but the first
of its section starts with an overlap: the end of the passage before.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from pincite.core.documents.document import Chunk, ChunkLevel, Parsed, Section
from pincite.ingest.chunk.builder import ChunkBuilder
from pincite.ingest.chunk.units import Splitter, Unit
from pincite.text.markdown_blocks import Block
from pincite.text.sentences import sentences
from pincite.text.tokens import Tokenizer

_CHARS_PER_OVERLAP_TOKEN = 16
"""Characters searched back per token of overlap; longer words are not repeated."""


def structure_chunks(
    parsed: Parsed, sections: Sequence[Section], *, size: int, overlap: int, tokenizer: Tokenizer, window: int = 0
) -> list[Chunk]:
    """All chunks of a document in reading order: the document, then each section followed by its passages.

    A passage has at most `size` tokens, except for a single code block that is larger and no longer than four passages
    or the embedder's `window`, and for headings above a first block that does not fit with them. It shares up to `overlap` tokens, at most half of `size`, with the passage before it in
    its section.
    """
    chunks = ChunkBuilder(parsed, tokenizer)
    document = chunks.add(ChunkLevel.DOCUMENT, None, (parsed.body_start, len(parsed.text)), ())
    overlap = min(overlap, size // 2)
    for section in sections:
        row = chunks.add(ChunkLevel.SECTION, document, (section.start, section.end), section.heading_path)
        if row is None:
            continue
        if row.tokens <= size:
            chunks.repeat(row)
            continue
        splitter = Splitter(parsed.text, size, overlap, tokenizer, window)
        for start, end, header in Packer(splitter, chunks.blocks_in(row.start, row.end)).pieces():
            cut = splitter.cuts_code(start, end)
            chunks.add(ChunkLevel.CHUNK, row, (start, end), section.heading_path, header, code_part=cut)
    return chunks.done


class Packer:
    """Packs the units of one section into passages, here called pieces."""

    def __init__(self, splitter: Splitter, section: Sequence[Block]) -> None:
        self.splitter = splitter
        self.text = splitter.text
        self.units = list(splitter.units(section))
        self.sums = [0, *accumulate(self._weights())]
        self.split_by_end = sorted(splitter.split, key=lambda block: block.end)

    def pieces(self) -> Iterator[tuple[int, int, str]]:
        """Start, end and repeated table header of each piece; a piece takes as many units as fit."""
        first, floor = 0, self.units[0].start
        while first < len(self.units):
            here = self.units[first].start
            table = self._split_table_at(here)
            room = self.splitter.room_under(table) if table else self.splitter.size
            start = self._overlap_start(first, floor, room) if first else here
            after = self._after(first, start, room)
            if after < len(self.units) and all(unit.heading for unit in self.units[first:after]):
                after += 1  # headings are no passage of their own
            end = self.units[after - 1].end
            if self._count(start, end) > room:  # the token counts of parts do not always add up to that of the whole
                start = here
            yield start, end, self.splitter.header(table) if table and start > table.start else ""
            first, floor = after, start + 1

    def _after(self, first: int, start: int, room: int) -> int:
        """The index after the last unit that fits into a piece from `start` whose first new unit is `first`."""
        budget = room - self._count(start, self.units[first].start)
        after = max(first + 1, bisect_right(self.sums, self.sums[first] + budget) - 1)
        while after > first + 1 and self._count(start, self.units[after - 1].end) > room:
            after -= 1
        return after

    def _weights(self) -> Iterator[int]:
        """Tokens of each unit with white space: line ends count for the unit before them, blanks for the next one."""
        seams = [self.units[0].start]
        for before, unit in pairwise(self.units):
            line = self.text.rfind("\n", before.end, unit.start) + 1
            seams.append(line or before.end)
        seams.append(self.units[-1].end)
        return (self._count(start, end) for start, end in pairwise(seams))

    def _count(self, start: int, end: int) -> int:
        return self.splitter.tokenizer.count(self.text[start:end])

    def _split_table_at(self, offset: int) -> Block | None:
        """The split table that continues at `offset`; None where there is none."""
        at = bisect_left(self.splitter.split, offset, key=lambda block: block.start) - 1
        block = self.splitter.split[at] if at >= 0 else None
        return block if block and block.kind == "table" and offset < block.end else None

    def _overlap_start(self, first: int, floor: int, room: int) -> int:
        """The start of a piece with its overlap: a sentence or a word of the piece before, or unit `first` itself."""
        here, end = self.units[first].start, self.units[first - 1].end
        budget = min(self.splitter.overlap, room - self._count(end, self.units[first].end))
        if budget <= 0:
            return here
        lowest = max(floor, here - budget * _CHARS_PER_OVERLAP_TOKEN)
        ended = self._split_blocks_ending(lowest, here)
        for starts in (self._sentence_starts, self._word_starts):
            allowed = [at for at in starts(first, lowest) if not any(b.start < at < b.end for b in ended)]
            fits = bisect_left(allowed, True, key=lambda at: self._count(at, end) <= budget)
            if fits < len(allowed):
                return allowed[fits]
        return here

    def _split_blocks_ending(self, lowest: int, here: int) -> list[Block]:
        """The split blocks that end between two offsets; an overlap must not start inside one of them."""
        ends = [bisect_right(self.split_by_end, offset, key=lambda block: block.end) for offset in (lowest, here)]
        return self.split_by_end[slice(*ends)]

    def _sentence_starts(self, first: int, lowest: int) -> list[int]:
        """The starts of units and sentences from `lowest` up to unit `first`."""
        starts: list[int] = []
        for unit in self._before(first, lowest):
            spans = [] if unit.solid else sentences(self.text[unit.start : unit.end])[1:]
            starts += [unit.start, *(unit.start + start for start, _ in spans)]
        return [start for start in starts if start >= lowest]

    def _word_starts(self, first: int, lowest: int) -> list[int]:
        """The starts of words from `lowest` up to unit `first`, in units that are not solid."""
        return [
            at
            for unit in self._before(first, lowest)
            if not unit.solid
            for at in range(max(unit.start + 1, lowest), unit.end)
            if self.text[at - 1].isspace() and not self.text[at].isspace()
        ]

    def _before(self, first: int, lowest: int) -> list[Unit]:
        """The units before `first` that end after `lowest`, in order."""
        at = first
        while at > 0 and self.units[at - 1].end > lowest:
            at -= 1
        return self.units[at:first]
