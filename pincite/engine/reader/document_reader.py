"""Part of a document's text: lines before a section before the whole, as text or as passages that can be cited."""

import asyncio
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Parsed, Passage, ReadRequest, Section, VersionText
from pincite.core.protocols import DocumentExtract
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.question import Filters
from pincite.errors import Invalid, NotFound
from pincite.ingest.chunk.sections import sections
from pincite.store.documents.full_text import FullText, FullTextReader
from pincite.text.sentences import fold, line_of, line_starts

MAX_PLACES = 50
"""Places of a text that are told; all of them are counted."""


@dataclass(frozen=True, slots=True)
class _Extract:
    """The stretch of a text that is read, in characters and in lines."""

    start: int
    end: int
    first: int
    last: int
    lines: int
    section: str | None


def extract_passage(text: VersionText, reading: ReadRequest) -> Passage:
    """The lines asked for, else the section asked for, else everything."""
    part = _extract(text, reading)
    return Passage(
        document_id=text.document_id, version=text.version, title=text.title, content=text.text[part.start : part.end],
        start_line=part.first, end_line=part.last, total_lines=part.lines, section=part.section,
    )  # fmt: skip


class FilteredReader:
    """Documents that a request may look into, opened as passages."""

    def __init__(self, volumes: FullTextReader) -> None:
        self._volumes = volumes

    async def read(self, reading: ReadRequest, *, scope: Scope, filters: Filters) -> DocumentExtract:
        """The lines asked for, else the section, else everything."""
        volume = await self._volumes.open(reading, scope=scope, filters=filters)
        return await asyncio.to_thread(_read, volume, reading)

    async def find(self, reading: ReadRequest, text: str, *, scope: Scope, filters: Filters) -> DocumentExtract:
        """Every place where a text stands, letter for letter."""
        volume = await self._volumes.open(reading, scope=scope, filters=filters)
        return await asyncio.to_thread(_find, volume, text)


def _read(volume: FullText, reading: ReadRequest) -> DocumentExtract:
    text, part = volume.text, _extract(volume.text, reading)
    return DocumentExtract(
        text.document_id, text.version, text.title, tuple(clip_passages(volume.passages, part.start, part.end)),
        part.first, part.last, part.lines, part.section,
    )  # fmt: skip


def _find(volume: FullText, wanted: str) -> DocumentExtract:
    text, starts = volume.text.text, line_starts(volume.text.text.removesuffix("\n"))
    places = list(find_all(text, wanted))
    met = [
        passage
        for passage in volume.passages
        if any(place < passage.end_char and place + len(wanted) > passage.start_char for place in places[:MAX_PLACES])
    ]
    lines = tuple(line_of(starts, place) for place in places[:MAX_PLACES])
    return DocumentExtract(
        volume.text.document_id, volume.text.version, volume.text.title, tuple(met), lines[0] if lines else 1,
        lines[-1] if lines else 1, len(starts), places=lines, found=len(places),
    )  # fmt: skip


def find_all(text: str, wanted: str) -> Iterator[int]:
    """Where a text stands in another, letter for letter."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def clip_passages(passages: Sequence[RetrievedChunk], start: int, end: int) -> Iterator[RetrievedChunk]:
    """The passages between two offsets, each without what lies outside or stood in the one before."""
    for passage in passages:
        low, high = max(passage.start_char, start), min(passage.end_char, end)
        text = passage.text[low - passage.start_char : high - passage.start_char] if low < high else ""
        if not text.strip():
            continue
        start = high
        if text == passage.text:
            yield passage
            continue
        line = passage.start_line + passage.text.count("\n", 0, low - passage.start_char)
        yield replace(
            passage, text=text, start_char=low, end_char=high, start_line=line, end_line=line + text.count("\n"),
            page=bisect_right(passage.page_starts, low) or None,
        )  # fmt: skip


def _extract(text: VersionText, reading: ReadRequest) -> _Extract:
    starts = line_starts(text.text.removesuffix("\n"))  # a line end at the end begins no further line
    section: Section | None = None
    if reading.start_line is not None or reading.end_line is not None:
        first, last = _line_range(reading, len(starts))
    elif reading.section is not None:
        section = _section(text, reading.section)
        first, last = line_of(starts, section.start), line_of(starts, max(section.start, section.end - 1))
    else:
        first, last = 1, len(starts)
    whole = (first, last) == (1, len(starts))
    end = starts[last] - 1 if last < len(starts) else len(text.text if whole else text.text.removesuffix("\n"))
    named = " > ".join(section.heading_path) if section else None
    return _Extract(starts[first - 1], end, first, last, len(starts), named)


def _line_range(reading: ReadRequest, total: int) -> tuple[int, int]:
    first = reading.start_line if reading.start_line is not None else 1
    last = min(reading.end_line if reading.end_line is not None else total, total)
    if first < 1 or first > total or last < first:
        raise Invalid(f"there are lines 1 to {total}; lines {first} to {reading.end_line or 'the end'} cannot be read")
    return first, last


def _section(text: VersionText, wanted: str) -> Section:
    """The section with this heading, or with this path of headings joined by `>` or `/`, and all below it."""
    parsed = Parsed(text.text, markup="plain" if text.mime == "text/plain" else "markdown", body_start=text.body_start)
    found = sections(parsed)
    for sought in (fold(wanted.strip()), fold(wanted.strip().lstrip("#").strip())):
        for number, section in enumerate(found):
            names = {fold(section.heading_path[-1])} if section.heading_path else set()
            names |= {fold(joiner.join(section.heading_path)) for joiner in (" > ", " / ", "/", ">")}
            if sought in names:
                below = found[number + 1 :]
                inside = next((n for n, s in enumerate(below) if s.depth <= section.depth), len(below))
                end = below[inside - 1].end if inside else section.end
                return Section(section.heading_path, section.depth, section.start, end)
    known = ", ".join(repr(section.heading_path[-1]) for section in found[:8] if section.heading_path)
    raise NotFound(f"there is no section '{wanted}'; there are: {known}")
