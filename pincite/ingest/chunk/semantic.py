"""Sections → chunks by meaning: neighbouring sentences stay together until the subject changes.

A document is read twice. The first reading tells its *runs*: stretches, mostly sentences, between which it may be cut,
in each section up to the next table. Their vectors are compared, each with the one before, and where two are farther
apart than most of the document's neighbours a new subject begins. The second reading cuts there. A table is a passage
of its own, and one that is too large is taken apart between rows.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from itertools import pairwise

import numpy as np

from pincite.config.branches.ingestion import Chunking
from pincite.core.documents.document import Chunk, ChunkLevel, Parsed, Section
from pincite.ingest.chunk.builder import ChunkBuilder
from pincite.ingest.chunk.structure import Packer
from pincite.ingest.chunk.units import Splitter
from pincite.text.markdown_blocks import Block
from pincite.text.tokens import Tokenizer

Span = tuple[int, int]
Run = tuple[Span, ...]
SentenceEmbedder = Callable[[Sequence[tuple[str, str]]], Awaitable[list[list[list[float]]]]]

BATCH = 512
"""Stretches whose vectors are asked for at once."""

_LEAST = 0.1
"""Share of a passage's size that it must have before a change of subject ends it: a sentence is seldom a subject."""


def runs(parsed: Parsed, sections: Sequence[Section], chunking: Chunking, tokenizer: Tokenizer) -> tuple[Run, ...]:
    """The stretches between which the text may be cut, run by run."""
    rows, splitter = ChunkBuilder(parsed, tokenizer), Splitter(parsed.text, chunking.size, 0, tokenizer)
    return tuple(
        run
        for section in sections
        for part in _parts(rows.blocks_in(section.start, section.end))
        if not isinstance(part, Block) and (run := tuple(_stretches(part, splitter)))
    )


async def cuts(text: str, found: Sequence[Run], percentile: float, lane: SentenceEmbedder) -> list[int]:
    """The offsets at which a new subject begins: where neighbours differ more than in `percentile` % of all cases."""
    flat = [span for run in found for span in run]
    vectors: list[np.ndarray] = []
    for first in range(0, len(flat), BATCH):
        batch = flat[first : first + BATCH]
        vectors += [_direction(windows) for windows in await lane([("", text[start:end]) for start, end in batch])]
    near = dict(zip(flat, vectors, strict=True))
    gaps = [(after[0], 1 - float(near[before] @ near[after])) for run in found for before, after in pairwise(run)]
    if not gaps:
        return []
    threshold = float(np.percentile([gap for _, gap in gaps], percentile))
    return [offset for offset, gap in gaps if gap > threshold]


def semantic(
    parsed: Parsed, sections: Sequence[Section], chunking: Chunking, tokenizer: Tokenizer, found: Collection[int]
) -> list[Chunk]:
    """All rows of a document in reading order, cut at the offsets found and wherever `chunking.size` is full."""
    rows, splitter = ChunkBuilder(parsed, tokenizer), Splitter(parsed.text, chunking.size, 0, tokenizer)
    document = rows.add(ChunkLevel.DOCUMENT, None, (parsed.body_start, len(parsed.text)), ())
    for section in sections:
        row = rows.add(ChunkLevel.SECTION, document, (section.start, section.end), section.heading_path)
        if row is None:
            continue
        for part in _parts(rows.blocks_in(section.start, section.end)):
            if isinstance(part, Block):
                for start, end, header in Packer(splitter, [part]).pieces():
                    rows.add(ChunkLevel.CHUNK, row, (start, end), section.heading_path, header)
            else:
                for span in _grouped(tuple(_stretches(part, splitter)), frozenset(found), splitter):
                    rows.add(ChunkLevel.CHUNK, row, span, section.heading_path)
    return rows.done


def _parts(section: Sequence[Block]) -> Iterator[Block | list[Block]]:
    """The tables of a section, and the blocks between them."""
    between: list[Block] = []
    for block in section:
        if block.kind == "table":
            if between:
                yield between
            yield block
            between = []
        else:
            between.append(block)
    if between:
        yield between


def _stretches(part: Sequence[Block], splitter: Splitter) -> Iterator[Span]:
    """Sentences of prose, other blocks whole where they fit; a heading goes with what follows it, where both fit."""
    heading: Span | None = None
    for block in part:
        for unit in splitter.fine(block):
            span = unit.start, unit.end
            if heading and splitter.fits(heading[0], unit.end):
                span = heading[0], unit.end
            elif heading:
                yield heading
            heading = span if block.kind == "heading" else None
            if heading is None:
                yield span
    if heading:
        yield heading


def _grouped(run: Run, found: frozenset[int], splitter: Splitter) -> Iterator[Span]:
    begin, end = run[0]
    least = int(splitter.size * _LEAST)
    for start, stop in run[1:]:
        turns = start in found and not splitter.fits(begin, end, least)
        if turns or not splitter.fits(begin, stop):
            yield begin, end
            begin = start
        end = stop
    yield begin, end


def _direction(windows: Sequence[Sequence[float]]) -> np.ndarray:
    """Where a stretch points, all its windows together, as a unit vector."""
    middle: np.ndarray = np.asarray(windows, dtype=np.float64).mean(axis=0)
    length = np.linalg.norm(middle)
    return middle / length if length else middle
