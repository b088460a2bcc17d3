"""The numbered sources and the related documents of an answer."""

from collections.abc import Mapping, Sequence

from pincite.core.query.answer import Related, Source
from pincite.core.query.hits import Hit, RetrievedChunk

SNIPPET_CHARS = 200
"""Characters of a source's snippet."""


def sources_of(hits: Sequence[Hit], cited: frozenset[int]) -> tuple[Source, ...]:
    """The hits as sources, numbered from 1, with a flag for those cited."""
    return tuple(_source(number, hit, number in cited) for number, hit in enumerate(hits, start=1))


def _source(number: int, hit: Hit, cited: bool) -> Source:
    chunk = hit.chunk
    urls = chunk.source_urls or ((chunk.source_uri,) if chunk.source_uri else ())
    return Source(
        number=number,
        document_id=chunk.document_id,
        document_name=chunk.document_name,
        title=chunk.title,
        chunk_id=chunk.id,
        version=chunk.version,
        checksum=chunk.checksum,
        page=chunk.page,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        start_char=chunk.start_char,
        end_char=chunk.end_char,
        heading_path=chunk.heading_path,
        snippet=snippet(chunk.text),
        score=hit.score if hit.ranked else None,
        relevance=hit.relevance,
        similarity_score=hit.similarity,
        hybrid_score=hit.hybrid_score,
        urls=urls,
        cited=cited,
        place=chunk.place,
        owner=chunk.owner,
        folder=chunk.folder,
    )


def snippet(text: str) -> str:
    """The beginning of a passage on one line."""
    line = " ".join(text.split(maxsplit=SNIPPET_CHARS)[:SNIPPET_CHARS])  # every word has at least one character
    return line if len(line) <= SNIPPET_CHARS else line[: SNIPPET_CHARS - 1].rstrip() + "…"


def related_documents(hits: Sequence[Hit], labels: Mapping[str, str]) -> tuple[Related, ...]:
    """The documents of the hits without duplicates, best first, with the category of front matter or folder."""
    first: dict[str, RetrievedChunk] = {}
    for hit in hits:
        for chunk in (hit.chunk, *hit.also_in):
            first.setdefault(chunk.document_id, chunk)
    return tuple(Related(key, chunk.title, _category(chunk, labels)) for key, chunk in first.items())


def _category(chunk: RetrievedChunk, labels: Mapping[str, str]) -> str | None:
    if chunk.category:
        return labels.get(chunk.category, chunk.category)
    parts = chunk.folder.split("/")
    above = ("/".join(parts[:depth]) for depth in range(len(parts), 0, -1))
    return next((labels[path] for path in above if path in labels), parts[0]) or None
