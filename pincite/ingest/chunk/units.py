"""Splits the blocks of a section into units, the smallest spans that chunks are made of."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pincite.text.markdown_blocks import Block
from pincite.text.sentences import sentences, trim
from pincite.text.tokens import Tokenizer

MAX_CODE_CHUNKS = 4
"""A code block is split between lines only where it is larger than this many chunks, and than the embedder's window."""

_SOLID_KINDS = ("code", "table", "list")


@dataclass(frozen=True, slots=True)
class Unit:
    """A span that is never cut, without white space around it; an overlap never starts inside a solid one."""

    start: int
    end: int
    solid: bool
    heading: bool = False


@dataclass(slots=True)
class Splitter:
    """Splits the blocks of one section as little as possible: a block that fits stays whole.

    `window` is the embedder's maximum input in tokens. `split` are the solid blocks that had to be split, in the order
    of their starts.
    """

    text: str
    size: int
    overlap: int
    tokenizer: Tokenizer
    window: int = 0
    split: list[Block] = field(default_factory=list)
    headers: dict[int, tuple[str, int]] = field(default_factory=dict)

    def units(self, section: Sequence[Block]) -> Iterator[Unit]:
        """The units of a section; a first paragraph that does not fit with its headings is split into sentences."""
        leads = True
        for number, block in enumerate(section):
            room = self.size
            if number and leads and block.kind == "prose":
                room -= min(room // 2, self._count(section[0].start, block.start))
            leads = leads and block.kind == "heading"
            yield from self._unit(block, room)

    def sentence_units(self, block: Block) -> Iterator[Unit]:
        """The units of one block, with prose always split into sentences."""
        yield from self._sentences(block, self.size) if block.kind == "prose" else self._unit(block, self.size)

    def fits(self, start: int, end: int, room: int | None = None) -> bool:
        """Whether a span has at most `room` tokens; without `room`, at most the chunk size."""
        return self._count(start, end) <= (self.size if room is None else room)

    def cuts_code(self, start: int, end: int) -> bool:
        """Whether a span holds a part of a code block that was split."""
        at = bisect_left(self.split, end, key=lambda block: block.start)
        return any(block.kind == "code" and start < block.end for block in self.split[max(0, at - 1) : at])

    def header(self, table: Block) -> str:
        """The header that each part of a split table repeats; empty where it would fill more than half of a chunk."""
        return self._header(table)[0]

    def room_under(self, table: Block) -> int:
        """Tokens of a chunk left for rows under the table's repeated header."""
        return self.size - self._header(table)[1]

    def _header(self, table: Block) -> tuple[str, int]:
        """A table's header and its tokens, cached, because every part of the table needs it and it may be long."""
        if table.start not in self.headers:
            header = self.text[table.start : table.header_end]
            tokens = self.tokenizer.count(header + "\n")
            self.headers[table.start] = (header, tokens) if tokens <= self.size // 2 else ("", 0)
        return self.headers[table.start]

    def _count(self, start: int, end: int) -> int:
        return self.tokenizer.count(self.text[start:end])

    def _unit(self, block: Block, room: int) -> Iterator[Unit]:
        """The block as one unit where it has at most `room` tokens, else the units of its parts."""
        solid = block.kind in _SOLID_KINDS
        most = max(room * MAX_CODE_CHUNKS, self.window) if block.kind == "code" else room
        if self._count(block.start, block.end) <= most:
            yield Unit(block.start, block.end, solid, heading=block.kind == "heading")
            return
        if solid:
            self.split.append(block)
        if block.parts:
            for part in block.parts:
                yield from self._unit(part, room)
        elif block.kind == "table":
            yield from self._rows(block)
        elif block.kind == "code":
            yield from self._lines(block.start, block.end, room)
        else:
            yield from self._sentences(block, room)

    def _rows(self, table: Block) -> Iterator[Unit]:
        """A table's rows as units; the first row stays with the header where both fit."""
        room = self.room_under(table)
        start = self._line_end(table.header_end + 1, table.end)
        if self._count(table.start, start) <= self.size:
            yield Unit(table.start, start, solid=True)
        else:
            start = table.start
        yield from self._lines(start, table.end, room)

    def _lines(self, start: int, end: int, room: int) -> Iterator[Unit]:
        while start < end:
            line_end = self._line_end(start, end)
            yield from self._pieces(*trim(self.text, start, line_end), room, solid=True)
            start = line_end + 1

    def _line_end(self, start: int, end: int) -> int:
        found = self.text.find("\n", start, end)
        return end if found < 0 else found

    def _sentences(self, block: Block, room: int) -> Iterator[Unit]:
        """A paragraph's sentences as units; the `>` of a quoted line belongs to the sentence that starts on it."""
        spans = sentences(self.text[block.start : block.end])
        previous = block.start
        for start in [*(block.start + start for start, _ in spans[1:]), block.end]:
            line = self.text.rfind("\n", previous, start) + 1
            if line and not self.text[line:start].strip(" \t>"):
                start = line
            yield from self._pieces(*trim(self.text, previous, start), room, solid=False)
            previous = start

    def _pieces(self, start: int, end: int, room: int, *, solid: bool) -> Iterator[Unit]:
        """The span as one unit where it fits, else pieces cut at white space, or anywhere if there is none.

        Pieces are smaller than a chunk by the overlap, which would never fit otherwise.
        """
        if self.tokenizer.reach(self.text, start, end, room) < end:
            room = max(room // 2, room - self.overlap)
        while (reach := self.tokenizer.reach(self.text, start, end, room)) < end:
            cut = self._cut_position(start, reach)
            yield Unit(*trim(self.text, start, cut), solid)
            start, end = trim(self.text, cut, end)
        if start < end:
            yield Unit(start, end, solid)

    def _cut_position(self, start: int, reach: int) -> int:
        """Where to cut before `reach`: at a line end in the second half, else at a blank, else at `reach` itself."""
        line = self.text.rfind("\n", (start + reach) // 2, reach + 1)
        blank = max(self.text.rfind(space, start + 1, reach + 1) for space in "\n\t ")
        return line if line > start else blank if blank > start else reach
