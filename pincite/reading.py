"""Part of a document's text: lines before a section before the whole."""

from dataclasses import dataclass

from pincite.core.documents import Parsed, Passage, Section
from pincite.core.text import fold, line_of, line_starts
from pincite.errors import Invalid, NotFound
from pincite.ingest.section import sections
from pincite.store.library import VersionText


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read: a document by id or by where it came from, and which part of it."""

    document_id: str | None = None
    source_uri: str | None = None
    section: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    version: str | None = None


def passage(text: VersionText, reading: Reading) -> Passage:
    """The lines asked for, else the section asked for, else everything."""
    starts = line_starts(text.text.removesuffix("\n"))  # a line end at the end begins no further line
    section: Section | None = None
    if reading.start_line is not None or reading.end_line is not None:
        first, last = _lines(reading, len(starts))
    elif reading.section is not None:
        section = _section(text, reading.section)
        first, last = line_of(starts, section.start), line_of(starts, max(section.start, section.end - 1))
    else:
        first, last = 1, len(starts)
    whole = (first, last) == (1, len(starts))
    end = starts[last] - 1 if last < len(starts) else len(text.text if whole else text.text.removesuffix("\n"))
    return Passage(
        document_id=text.document_id, version=text.version, title=text.title, content=text.text[starts[first - 1] : end],
        start_line=first, end_line=last, total_lines=len(starts),
        section=" > ".join(section.heading_path) if section else None,
    )  # fmt: skip


def _lines(reading: Reading, total: int) -> tuple[int, int]:
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
