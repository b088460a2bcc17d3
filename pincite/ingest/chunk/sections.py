"""Splits a document into sections at its headings; each section has the path of its headings."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.core.documents.document import NO_HEADINGS, Parsed, Section
from pincite.text.markdown_blocks import Block, blocks

UNTITLED = (NO_HEADINGS,)
"""The heading path of a text without headings."""


def sections(parsed: Parsed) -> list[Section]:
    """One section per heading, in order; together they cover the body without gap or overlap.

    The text before the first heading is a section under the document's title, or without a path where the title is a
    heading of the text. A text without headings is one section called "Document".
    """
    body = blocks(parsed.text, parsed.markup, parsed.body_start)
    headings = [block for block in body if block.kind == "heading"]
    if not headings:
        return [Section(UNTITLED, 0, parsed.body_start, len(parsed.text))]
    starts = [heading.start for heading in headings]
    ends = [*starts[1:], len(parsed.text)]
    found: list[Section] = []
    if body[0] is headings[0]:
        starts[0] = parsed.body_start
    else:
        is_heading = parsed.title in {heading.title for heading in headings}
        above = (parsed.title,) if parsed.title and not is_heading else ()
        found.append(Section(above, 0, parsed.body_start, starts[0]))
    for heading, path, start, end in zip(headings, _paths(headings), starts, ends, strict=True):
        found.append(Section(path, heading.level, start, end, bare=not parsed.text[heading.end : end].strip()))
    return found


def join_bare_headings(found: Sequence[Section]) -> list[Section]:
    """The sections to chunk: a heading without text leads the next section; at the end, it ends the one before."""
    joined: list[Section] = []
    lead: int | None = None
    for section in found:
        start = section.start if lead is None else lead
        lead = start if section.bare else None
        if not section.bare:
            joined.append(replace(section, start=start))
    if lead is None:
        return joined
    last = joined.pop() if joined else replace(found[-1], start=lead)
    return [*joined, replace(last, end=found[-1].end)]


def _paths(headings: list[Block]) -> list[tuple[str, ...]]:
    """The path of each heading; an empty heading ends the sections of its level but adds nothing to the path."""
    paths: list[tuple[str, ...]] = []
    trail: list[Block] = []
    for heading in headings:
        while trail and trail[-1].level >= heading.level:
            trail.pop()
        trail.append(heading)
        paths.append(tuple(block.title for block in trail if block.title))
    return paths
