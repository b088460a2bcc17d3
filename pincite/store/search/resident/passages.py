"""The passages that searches read: remembered until the documents of their realm change."""

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pincite.core.accounts.access import Scope
from pincite.core.query.hits import RetrievedChunk

BYTES_PER_PASSAGE = 2000
"""Estimated bytes of a passage besides its texts and lists."""
BYTES_PER_ITEM = 40
"""Estimated bytes of a number in a list; the pages of a long document are listed with each of its passages."""


@dataclass(slots=True)
class _OfRealm:
    """The remembered passages of a realm at a revision, by key."""

    revision: int
    chunks: dict[int, RetrievedChunk] = field(default_factory=dict)
    size: int = 0


class Passages:
    """Remembers passages up to `most` bytes; when there are more, it forgets those of the realm used longest ago.

    A remembered passage does not show that a person may read it: a search asks the database, under row-level security,
    which of its passages the person sees now.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._realms: dict[int, _OfRealm] = {}

    @property
    def size(self) -> int:
        """The estimated bytes in memory."""
        return sum(one.size for one in self._realms.values())

    def find(self, keys: Collection[int], scope: Scope) -> dict[int, RetrievedChunk]:
        """Return the passages with these keys that were read at the revisions of the scope."""
        wanted, found = frozenset(keys), dict[int, RetrievedChunk]()
        for realm, revision in zip(scope.realms, scope.revisions, strict=False):
            held = self._realms.get(realm)
            if held is not None and held.revision == revision:
                found.update((key, held.chunks[key]) for key in held.chunks.keys() & wanted)
            elif held is not None and held.revision < revision:
                del self._realms[realm]
        return found

    def keep(self, chunks: Iterable[tuple[int, RetrievedChunk]], scope: Scope) -> None:
        """Remember passages, each with its realm, that were read at the revisions of the scope."""
        revisions = dict(zip(scope.realms, scope.revisions, strict=False))
        for realm, chunk in chunks:
            if realm not in revisions:
                continue
            held = self._realms.pop(realm, None)
            if held is None or held.revision != revisions[realm]:
                held = _OfRealm(revisions[realm])
            self._realms[realm] = held  # the last one is the realm used last
            if chunk.key not in held.chunks:
                held.chunks[chunk.key] = chunk
                held.size += _size(chunk)
        while self._realms and self.size > self._most:
            del self._realms[next(iter(self._realms))]

    def clear(self) -> None:
        """Forget everything."""
        self._realms.clear()


def _size(chunk: RetrievedChunk) -> int:
    """Return the estimated bytes of a passage; a text takes up to four bytes for each character."""
    texts = chunk.text, chunk.header, chunk.vectorized_text or "", *chunk.source_urls, *chunk.heading_path
    return BYTES_PER_PASSAGE + sum(map(sys.getsizeof, texts)) + BYTES_PER_ITEM * len(chunk.page_starts)
