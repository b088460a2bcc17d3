"""Chunks become entries: the words and vectors each is found by; equal text is embedded once."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType

from pincite.core.documents.document import NO_HEADINGS, Chunk, ChunkLevel
from pincite.errors import ProviderError
from pincite.ingest.embed.embedding_text import Wording
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.text.sentences import fingerprint
from pincite.text.terms import forms, terms

FORM = "2"
"""Raised when the same text comes to be embedded otherwise, so that vectors made before are not taken for it."""
PATIENCE_S = 600.0
"""A batch that takes longer is stuck: the document is tried again."""

Vectors = list[list[float]]
BatchEmbedder = Callable[[Sequence[tuple[str, str]]], Awaitable[list[Vectors]]]
Known = Callable[[Sequence[bytes]], Awaitable[dict[bytes, Vectors]]]


async def embed(
    chunks: Sequence[Chunk],
    title: str | None,
    model: str,
    known: Known,
    lane: BatchEmbedder,
    worded: Mapping[int, Wording] = MappingProxyType({}),
) -> list[ChunkRow]:
    """What each chunk is found by; vectors come from the cache where the same text was embedded before.

    `worded` has, by ordinal, those that are embedded in other words than usual; words are looked up as ever.
    """
    leads = [lead(chunk, title) for chunk in chunks]
    wordings = [worded.get(chunk.ordinal) or _wording(chunk, above) for chunk, above in zip(chunks, leads, strict=True)]
    digests = [_hash(model, wording) for wording in wordings]
    passages = {
        digest: (wording.prefix, wording.text)
        for chunk, wording, digest in zip(chunks, wordings, digests, strict=True)
        if chunk.level == ChunkLevel.CHUNK
    }
    vectors = await known(list(passages)) if passages else {}
    missing = [digest for digest in passages if digest not in vectors]
    if missing:
        try:
            async with asyncio.timeout(PATIENCE_S):
                fresh = await lane([passages[digest] for digest in missing])
        except TimeoutError:
            raise ProviderError(f"embedding {len(missing)} passages took longer than {PATIENCE_S:g} s") from None
        vectors.update(zip(missing, fresh, strict=True))
    found = [vectors.get(digest, []) for digest in digests]
    return await asyncio.to_thread(lambda: list(map(_entry, chunks, leads, wordings, digests, found)))


def lead(chunk: Chunk, title: str | None) -> str:
    """What stands above a passage in its document, outermost first: the title and the headings."""
    path = tuple(heading for heading in chunk.heading_path if heading != NO_HEADINGS)
    if title and title not in path[:1]:
        path = (title, *path)
    return " > ".join(path)


def embedded_text(chunk: Chunk, titles: Sequence[str | None], model: str, digest: bytes) -> str | None:
    """What was embedded for a passage in the usual wording, proved by its digest; None where it was worded otherwise.

    `titles` are those its document may have had at the time.
    """
    for title in titles:
        wording = _wording(chunk, lead(chunk, title))
        if _hash(model, wording) == digest:
            return wording.whole
    return None


def _entry(chunk: Chunk, above: str, wording: Wording, digest: bytes, windows: Vectors) -> ChunkRow:
    if chunk.level != ChunkLevel.CHUNK:
        return ChunkRow(chunk, fingerprint(chunk.text), terms={}, hash=digest, windows=())
    text = f"{above}\n{chunk.header}\n{chunk.text}"
    found_by, plain = Counter(terms(text, chunk.language)), forms(text, chunk.language)
    kept = wording.whole if wording.augmented else None
    return ChunkRow(chunk, fingerprint(chunk.text), found_by, digest, windows, kept, forms=plain)


def _wording(chunk: Chunk, above: str) -> Wording:
    """What is embedded as usual: the text, led by what stands above it and by its table's header.

    A heading that the text begins with stands in the lead already.
    """
    text = chunk.text
    first, _, rest = text.partition("\n")
    if chunk.heading_path and rest.strip() and first.strip("# ") == chunk.heading_path[-1].strip():
        text = rest.lstrip("\n")
    return Wording("".join(f"{part}\n" for part in (above, chunk.header) if part), text)


def _hash(model: str, wording: Wording) -> bytes:
    return hashlib.sha256("\0".join((FORM, model, wording.prefix, wording.text)).encode()).digest()
