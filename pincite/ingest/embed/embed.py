"""Turns chunks into index rows: the terms and vectors of each chunk; equal text is embedded once."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType

from pincite.core.documents.document import NO_HEADINGS, About, Chunk, ChunkLevel
from pincite.errors import ProviderError
from pincite.ingest.embed.embedding_text import EmbeddingInput, labelled_input
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.text.sentences import fingerprint
from pincite.text.terms import forms, terms

INPUT_FORMAT = "2"
"""Version of the input format; part of the cache key. Raise it when the same chunk is embedded in another form."""
BATCH_TIMEOUT_S = 600.0
"""Timeout of one batch in seconds; after it the document is retried."""

Vectors = list[list[float]]
"""The vectors of one passage, one per window."""
BatchEmbedder = Callable[[Sequence[tuple[str, str]]], Awaitable[list[Vectors]]]
VectorLookup = Callable[[Sequence[bytes]], Awaitable[dict[bytes, Vectors]]]
"""Returns the cached vectors for digests of embedded texts; digests without a vector are absent."""


async def embed_chunks(
    chunks: Sequence[Chunk],
    title: str | None,
    model: str,
    known_vectors: VectorLookup,
    embed_passages: BatchEmbedder,
    composed: Mapping[int, EmbeddingInput] = MappingProxyType({}),
) -> list[ChunkRow]:
    """The index row of each chunk; vectors of text that was embedded before come from the cache.

    `composed` holds the embedding input, by ordinal, of chunks that do not use the default one. It changes the vectors
    only, not the terms.
    """
    breadcrumbs = [breadcrumb(chunk, title) for chunk in chunks]
    inputs = [
        composed.get(chunk.ordinal) or _default_input(chunk, above)
        for chunk, above in zip(chunks, breadcrumbs, strict=True)
    ]
    digests = [_hash(model, given) for given in inputs]
    passages = {
        digest: (given.prefix, given.text)
        for chunk, given, digest in zip(chunks, inputs, digests, strict=True)
        if chunk.level == ChunkLevel.CHUNK
    }
    vectors = await known_vectors(list(passages)) if passages else {}
    missing = [digest for digest in passages if digest not in vectors]
    if missing:
        try:
            async with asyncio.timeout(BATCH_TIMEOUT_S):
                fresh = await embed_passages([passages[digest] for digest in missing])
        except TimeoutError:
            raise ProviderError(f"embedding {len(missing)} passages took longer than {BATCH_TIMEOUT_S:g} s") from None
        vectors.update(zip(missing, fresh, strict=True))
    windows = [vectors.get(digest, []) for digest in digests]
    return await asyncio.to_thread(lambda: list(map(_row, chunks, breadcrumbs, inputs, digests, windows)))


def breadcrumb(chunk: Chunk, title: str | None) -> str:
    """The title and the headings above a passage, outermost first, joined by ` > `."""
    path = tuple(heading for heading in chunk.heading_path if heading != NO_HEADINGS)
    if title and title not in path[:1]:
        path = (title, *path)
    return " > ".join(path)


def embedded_text(chunk: Chunk, titles: Sequence[str | None], about: About, model: str, digest: bytes) -> str | None:
    """The text that was embedded for a passage, under its headings or under labels; None where no digest matches.

    `titles` are the titles that the document may have had at that time.
    """
    inputs = [*(_default_input(chunk, breadcrumb(chunk, title)) for title in titles), labelled_input(chunk, about)]
    return next((one.whole for one in inputs if _hash(model, one) == digest), None)


def _row(chunk: Chunk, above: str, given: EmbeddingInput, digest: bytes, windows: Vectors) -> ChunkRow:
    if chunk.level != ChunkLevel.CHUNK:
        return ChunkRow(chunk, fingerprint(chunk.text), terms={}, hash=digest, windows=())
    text = f"{above}\n{chunk.header}\n{chunk.text}"
    counts, plain = Counter(terms(text, chunk.language)), forms(text, chunk.language)
    stored_input = given.whole if given.augmented else None
    return ChunkRow(chunk, fingerprint(chunk.text), counts, digest, windows, stored_input, forms=plain)


def _default_input(chunk: Chunk, above: str) -> EmbeddingInput:
    """The default embedding input of a chunk: its breadcrumb and table header as prefix, then its text.

    Headings at the start of the text are left out, because the breadcrumb holds them already.
    """
    text, path = chunk.text, {heading.strip() for heading in chunk.heading_path}
    first, _, rest = text.partition("\n")
    while rest.strip() and first.strip("# ") in path:
        text = rest.lstrip("\n")
        first, _, rest = text.partition("\n")
    return EmbeddingInput("".join(f"{part}\n" for part in (above, chunk.header) if part), text)


def _hash(model: str, given: EmbeddingInput) -> bytes:
    """The digest under which the vectors of an input are cached."""
    return hashlib.sha256("\0".join((INPUT_FORMAT, model, given.prefix, given.text)).encode()).digest()
