"""Open a cited or found passage in its document: its text, the lines around it, and its place."""

import asyncio
from dataclasses import dataclass

from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.documents.document import ReadRequest
from pincite.core.query.answer import Citation, OpenedPassage, Source
from pincite.core.query.hits import Hit
from pincite.engine.documents import Documents
from pincite.engine.reader.document_reader import extract_passage
from pincite.errors import Invalid, NotFound


@dataclass(frozen=True, slots=True)
class _Span:
    """The position of a passage in a version of a document."""

    document_id: str
    version: str
    start: int
    end: int
    start_line: int
    end_line: int
    page: int | None
    place: str | None


async def open_passage(
    documents: Documents, passage: Citation | Source | Hit, *, context: int = 0, caller: Caller = LOCAL
) -> OpenedPassage:
    """Return a passage with `context` lines before and after it, from the version that was cited."""
    if context < 0:
        raise Invalid(f"context must be 0 or more lines, not {context}")
    span = _span_of(passage)
    document = await documents.get(span.document_id, caller=caller)
    text = await documents.text(span.document_id, span.version, caller=caller)
    lines = ReadRequest(start_line=max(1, span.start_line - context), end_line=span.end_line + context)
    around = await asyncio.to_thread(extract_passage, text, lines)
    return OpenedPassage(
        document_id=document.id,
        document_name=document.name,
        title=text.title,
        version=text.version,
        quote=text.text[span.start : span.end],
        text=around.content,
        start_line=around.start_line,
        end_line=around.end_line,
        place=f"{document.name}, {span.place or _describe_lines(span)}",
    )


def _span_of(passage: Citation | Source | Hit) -> _Span:
    match passage:
        case Hit(chunk=one):
            return _Span(
                one.document_id,
                one.version,
                one.start_char,
                one.end_char,
                one.start_line,
                one.end_line,
                one.page,
                one.place,
            )
        case Source() as one:
            return _Span(
                one.document_id,
                one.version,
                one.start_char,
                one.end_char,
                one.start_line,
                one.end_line,
                one.page,
                one.place,
            )
        case Citation() as one:
            if not one.document_id or not one.version or one.quote_start_char is None or one.quote_end_char is None:
                raise NotFound(f"the citation '{one.text}' names no passage: {one.reason or 'it matches no source'}")
            lines = one.quote_start_line or 1, one.quote_end_line or 1
            return _Span(
                one.document_id, one.version, one.quote_start_char, one.quote_end_char, *lines, one.page, one.place
            )
        case _:
            raise Invalid(f"open a Citation, a Source or a Hit, not {type(passage).__name__}")


def _describe_lines(span: _Span) -> str:
    lines = (
        f"line {span.start_line}" if span.start_line == span.end_line else f"lines {span.start_line}–{span.end_line}"
    )
    return f"page {span.page}, {lines}" if span.page else lines
