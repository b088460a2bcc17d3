"""Chunks become entries: the words and vectors each is found by; equal text is embedded once."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from pincite.core.documents import Chunk, Level
from pincite.core.text import fingerprint
from pincite.errors import ProviderError
from pincite.store.indexing import Entry
from pincite.words import terms

PATIENCE_S = 600.0
"""A batch that takes longer is stuck: the document is tried again."""

Vectors = list[list[float]]
Lane = Callable[[Sequence[tuple[str, str]]], Awaitable[list[Vectors]]]
Known = Callable[[Sequence[bytes]], Awaitable[dict[bytes, Vectors]]]


async def embed(chunks: Sequence[Chunk], model: str, known: Known, lane: Lane) -> list[Entry]:
    """What each chunk is found by; vectors come from the cache where the same text was embedded before."""
    passages = {_hash(model, chunk): _passage(chunk) for chunk in chunks if chunk.level == Level.CHUNK}
    vectors = await known(list(passages)) if passages else {}
    missing = [digest for digest in passages if digest not in vectors]
    if missing:
        try:
            async with asyncio.timeout(PATIENCE_S):
                fresh = await lane([passages[digest] for digest in missing])
        except TimeoutError:
            raise ProviderError(f"embedding {len(missing)} passages took longer than {PATIENCE_S:g} s") from None
        vectors.update(zip(missing, fresh, strict=True))
    return await asyncio.to_thread(lambda: [_entry(chunk, _hash(model, chunk), vectors) for chunk in chunks])


def _entry(chunk: Chunk, digest: bytes, vectors: dict[bytes, Vectors]) -> Entry:
    if chunk.level != Level.CHUNK:
        return Entry(chunk, fingerprint(chunk.text), terms={}, hash=digest, windows=())
    found_by = Counter(terms(f"{chunk.header}\n{chunk.text}", chunk.language))
    return Entry(chunk, fingerprint(chunk.text), found_by, digest, vectors[digest])


def _passage(chunk: Chunk) -> tuple[str, str]:
    """What is embedded: the text, led by its table's header; nothing that differs between equal texts."""
    return (f"{chunk.header}\n" if chunk.header else ""), chunk.text


def _hash(model: str, chunk: Chunk) -> bytes:
    return hashlib.sha256("\0".join((model, *_passage(chunk))).encode()).digest()
