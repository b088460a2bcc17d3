"""Read a part of a document (lines, a section, or all of it), as text or as citable passages."""

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
"""Maximum matches of a text that are returned; all matches are counted."""


@dataclass(frozen=True, slots=True)
class _Extract:
    """The part of a text to read, in characters and in lines."""

    start: int
    end: int
    first: int
    last: int
    lines: int
    section: str | None


def extract_passage(text: VersionText, reading: ReadRequest) -> Passage:
    """Return the requested lines, else the requested section, else the whole text."""
    part = _extract(text, reading)
    return Passage(
        document_id=text.document_id,
        version=text.version,
        title=text.title,
        content=text.text[part.start : part.end],
        start_line=part.first,
        end_line=part.last,
        total_lines=part.lines,
        section=part.section,
    )


class FilteredReader:
    """Reads documents within a scope and filters, as passages."""

    def __init__(self, documents: FullTextReader) -> None:
        self._texts = documents

    async def read(self, reading: ReadRequest, *, scope: Scope, filters: Filters) -> DocumentExtract:
        """Return the requested lines, else the requested section, else the whole document."""
        document = await self._texts.open(reading, scope=scope, filters=filters)
        return await asyncio.to_thread(_read, document, reading)

    async def find(self, reading: ReadRequest, text: str, *, scope: Scope, filters: Filters) -> DocumentExtract:
        """Return every exact match of a text."""
        document = await self._texts.open(reading, scope=scope, filters=filters)
        return await asyncio.to_thread(_find, document, text)


def _read(document: FullText, reading: ReadRequest) -> DocumentExtract:
    text, part = document.text, _extract(document.text, reading)
    return DocumentExtract(
        document_id=text.document_id,
        version=text.version,
        title=text.title,
        passages=tuple(clip_passages(document.passages, part.start, part.end)),
        start_line=part.first,
        end_line=part.last,
        total_lines=part.lines,
        section=part.section,
    )


def _find(document: FullText, wanted: str) -> DocumentExtract:
    text, starts = document.text.text, line_starts(document.text.text.removesuffix("\n"))
    places = list(find_all(text, wanted))
    matching = [
        passage
        for passage in document.passages
        if any(place < passage.end_char and place + len(wanted) > passage.start_char for place in places[:MAX_PLACES])
    ]
    lines = tuple(line_of(starts, place) for place in places[:MAX_PLACES])
    return DocumentExtract(
        document_id=document.text.document_id,
        version=document.text.version,
        title=document.text.title,
        passages=tuple(matching),
        start_line=lines[0] if lines else 1,
        end_line=lines[-1] if lines else 1,
        total_lines=len(starts),
        places=lines,
        found=len(places),
    )


def find_all(text: str, wanted: str) -> Iterator[int]:
    """Yield the offsets of all exact matches of a text."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def clip_passages(passages: Sequence[RetrievedChunk], start: int, end: int) -> Iterator[RetrievedChunk]:
    """Yield the passages between two offsets, cut at the offsets and at the end of the passage before."""
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
            passage,
            text=text,
            start_char=low,
            end_char=high,
            start_line=line,
            end_line=line + text.count("\n"),
            page=bisect_right(passage.page_starts, low) or None,
        )


def _extract(text: VersionText, reading: ReadRequest) -> _Extract:
    starts = line_starts(text.text.removesuffix("\n"))  # a newline at the end does not start a further line
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
        raise Invalid(
            f"lines {first} to {reading.end_line or 'the end'} do not exist; the document has lines 1 to {total}"
        )
    return first, last


def _section(text: VersionText, wanted: str) -> Section:
    """Return the section with a heading, or a path of headings joined by `>` or `/`, with all its subsections."""
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
