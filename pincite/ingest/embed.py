"""Chunks become entries: the words and vectors each is found by; equal text is embedded once."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from pincite.core.documents import NO_HEADINGS, Chunk, Level
from pincite.core.text import fingerprint
from pincite.errors import ProviderError
from pincite.store.indexing import Entry
from pincite.words import forms, terms

FORM = "2"
"""Raised when the same text comes to be embedded otherwise, so that vectors made before are not taken for it."""
PATIENCE_S = 600.0
"""A batch that takes longer is stuck: the document is tried again."""

Vectors = list[list[float]]
Lane = Callable[[Sequence[tuple[str, str]]], Awaitable[list[Vectors]]]
Known = Callable[[Sequence[bytes]], Awaitable[dict[bytes, Vectors]]]


async def embed(chunks: Sequence[Chunk], title: str | None, model: str, known: Known, lane: Lane) -> list[Entry]:
    """What each chunk is found by; vectors come from the cache where the same text was embedded before."""
    leads = [lead(chunk, title) for chunk in chunks]
    digests = [_hash(model, chunk, above) for chunk, above in zip(chunks, leads, strict=True)]
    passages = {
        digest: _passage(chunk, above)
        for chunk, above, digest in zip(chunks, leads, digests, strict=True)
        if chunk.level == Level.CHUNK
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
    return await asyncio.to_thread(lambda: list(map(_entry, chunks, leads, digests, [vectors] * len(chunks))))


def lead(chunk: Chunk, title: str | None) -> str:
    """What stands above a passage in its document, outermost first: the title and the headings."""
    path = tuple(heading for heading in chunk.heading_path if heading != NO_HEADINGS)
    if title and title not in path[:1]:
        path = (title, *path)
    return " > ".join(path)


def _entry(chunk: Chunk, above: str, digest: bytes, vectors: dict[bytes, Vectors]) -> Entry:
    if chunk.level != Level.CHUNK:
        return Entry(chunk, fingerprint(chunk.text), terms={}, hash=digest, windows=())
    text = f"{above}\n{chunk.header}\n{chunk.text}"
    found_by, plain = Counter(terms(text, chunk.language)), forms(text, chunk.language)
    return Entry(chunk, fingerprint(chunk.text), found_by, digest, vectors[digest], forms=plain)


def _passage(chunk: Chunk, above: str) -> tuple[str, str]:
    """What is embedded: the text, led by what stands above it and by its table's header.

    A heading that the text begins with stands in the lead already.
    """
    text = chunk.text
    first, _, rest = text.partition("\n")
    if chunk.heading_path and rest.strip() and first.strip("# ") == chunk.heading_path[-1].strip():
        text = rest.lstrip("\n")
    return "".join(f"{part}\n" for part in (above, chunk.header) if part), text


def _hash(model: str, chunk: Chunk, above: str) -> bytes:
    return hashlib.sha256("\0".join((FORM, model, *_passage(chunk, above))).encode()).digest()
