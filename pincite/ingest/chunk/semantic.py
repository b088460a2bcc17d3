"""Semantic chunking: adjacent sentences stay in one passage until the topic changes.

A document is parsed twice. The first pass returns its *runs*: sequences of spans, mostly sentences, between which the
text may be cut; a run ends with its section or at a table. Each span's vector is compared with the one before. A topic
change is where the distance is larger than in most other places of the document. The second pass cuts there. A table is
a passage of its own; a table that is too large is split between rows.
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
"""Adjacent spans, mostly sentences, between which the text may be cut."""
SentenceEmbedder = Callable[[Sequence[tuple[str, str]]], Awaitable[list[list[list[float]]]]]

BATCH_SPANS = 512
"""Spans that are embedded in one call."""

_MIN_FILL = 0.1
"""Share of the chunk size that a passage must have before a topic change ends it: one sentence is seldom a topic."""


def sentence_runs(
    parsed: Parsed, sections: Sequence[Section], chunking: Chunking, tokenizer: Tokenizer
) -> tuple[Run, ...]:
    """The runs of a document: the spans between which the text may be cut."""
    rows, splitter = ChunkBuilder(parsed, tokenizer), Splitter(parsed.text, chunking.size, 0, tokenizer)
    return tuple(
        run
        for section in sections
        for part in _tables_and_text(rows.blocks_in(section.start, section.end))
        if not isinstance(part, Block) and (run := tuple(_sentence_spans(part, splitter)))
    )


async def topic_changes(text: str, runs: Sequence[Run], percentile: float, embed: SentenceEmbedder) -> list[int]:
    """The offsets at which a topic starts: where adjacent spans differ more than `percentile` % of all pairs do."""
    flat = [span for run in runs for span in run]
    vectors: list[np.ndarray] = []
    for first in range(0, len(flat), BATCH_SPANS):
        batch = flat[first : first + BATCH_SPANS]
        vectors += [_mean_vector(windows) for windows in await embed([("", text[start:end]) for start, end in batch])]
    vector_of = dict(zip(flat, vectors, strict=True))
    distances = [
        (after[0], 1 - float(vector_of[before] @ vector_of[after])) for run in runs for before, after in pairwise(run)
    ]
    if not distances:
        return []
    threshold = float(np.percentile([distance for _, distance in distances], percentile))
    return [offset for offset, distance in distances if distance > threshold]


def semantic_chunks(
    parsed: Parsed,
    sections: Sequence[Section],
    chunking: Chunking,
    tokenizer: Tokenizer,
    changes: Collection[int],
    window: int = 0,
) -> list[Chunk]:
    """All chunks of a document in reading order, cut at the topic changes and where `chunking.size` is reached."""
    rows, splitter = ChunkBuilder(parsed, tokenizer), Splitter(parsed.text, chunking.size, 0, tokenizer, window)
    document = rows.add(ChunkLevel.DOCUMENT, None, (parsed.body_start, len(parsed.text)), ())
    for section in sections:
        row = rows.add(ChunkLevel.SECTION, document, (section.start, section.end), section.heading_path)
        if row is None:
            continue
        for part in _tables_and_text(rows.blocks_in(section.start, section.end)):
            if isinstance(part, Block):
                for start, end, header in Packer(splitter, [part]).pieces():
                    rows.add(ChunkLevel.CHUNK, row, (start, end), section.heading_path, header)
            else:
                for span in _group_spans(tuple(_sentence_spans(part, splitter)), frozenset(changes), splitter):
                    cut = splitter.cuts_code(*span)
                    rows.add(ChunkLevel.CHUNK, row, span, section.heading_path, code_part=cut)
    return rows.done


def _tables_and_text(section: Sequence[Block]) -> Iterator[Block | list[Block]]:
    """The tables of a section, and the lists of blocks between them."""
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


def _sentence_spans(part: Sequence[Block], splitter: Splitter) -> Iterator[Span]:
    """Spans of sentences; other blocks stay whole where they fit, and a heading joins the next span where both fit."""
    heading: Span | None = None
    for block in part:
        for unit in splitter.sentence_units(block):
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


def _group_spans(run: Run, changes: frozenset[int], splitter: Splitter) -> Iterator[Span]:
    """The spans of a run joined to passages."""
    begin, end = run[0]
    min_tokens = int(splitter.size * _MIN_FILL)
    for start, stop in run[1:]:
        topic_ends = start in changes and not splitter.fits(begin, end, min_tokens)
        if topic_ends or not splitter.fits(begin, stop):
            yield begin, end
            begin = start
        end = stop
    yield begin, end


def _mean_vector(windows: Sequence[Sequence[float]]) -> np.ndarray:
    """The mean of a span's window vectors, at unit length."""
    mean: np.ndarray = np.asarray(windows, dtype=np.float64).mean(axis=0)
    length = np.linalg.norm(mean)
    return mean / length if length else mean
