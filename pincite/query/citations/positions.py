"""Add the position in the original file to every citation."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.core.documents.positions import PageText, Slice, TextSpan, describe_places, locate
from pincite.core.query.answer import Answer, Citation
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.prompt import Prompt
from pincite.core.run import Run


async def citation_positions(run: Run, prompt: Prompt, answer: Answer) -> Answer:
    """Add page and rectangles to every quote from a file with pages; all pages are read in one query."""
    quoted = [
        (number, citation, prompt.sources[citation.source - 1].chunk)
        for number, citation in enumerate(answer.citations)
        if citation.source and prompt.sources[citation.source - 1].chunk.place
    ]
    pages = await run.kit.index.pages([_quote_span(citation, chunk) for _, citation, chunk in quoted], scope=run.scope)
    citations = list(answer.citations)
    for (number, citation, chunk), found in zip(quoted, pages, strict=True):
        citations[number] = _with_position(citation, chunk, found)
    return replace(answer, citations=tuple(citations))


def _quote_span(citation: Citation, chunk: RetrievedChunk) -> TextSpan:
    return TextSpan(chunk.document_id, chunk.version, citation.quote_start_char or 0, citation.quote_end_char or 0)


def _with_position(citation: Citation, chunk: RetrievedChunk, pages: Sequence[PageText]) -> Citation:
    """The citation with its position; `rects` are the rectangles on its first page, which `page` names."""
    span = _quote_span(citation, chunk)
    places = locate(pages, span.start, span.end, Slice(chunk.text, chunk.start_char))
    return replace(citation, place=describe_places(places), rects=places[0].boxes if places else ())
