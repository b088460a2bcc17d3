"""An index in memory on the store under test, and short methods to search it."""

import asyncio
import random
from typing import Any

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope, ShareRequest
from pincite.core.query.question import Filters
from pincite.store.access.permissions import Permissions
from pincite.store.search.memory_index import MemoryIndex
from pincite.store.search.resident.cache import ResidentIndexes
from pincite.store.search.resident.loading import Vectors

ALL = Filters()
WORDS = [f"word{n}" for n in range(60)]
VECTORS = Vectors(1, 32)
WARM_UP_S = 60.0
"""Seconds after which the index must be in memory."""


class Warm:
    """An index in memory on a store, and the two ways to search."""

    def __init__(self, store: Any, megabytes: int = 64) -> None:
        self.store, self.resident = store, ResidentIndexes(megabytes)

    @property
    def index(self) -> MemoryIndex:
        """The search of a request that begins now."""
        return MemoryIndex(self.store.database, VECTORS, Rag(), self.resident)

    async def scope(self, person: str = "local") -> Scope:
        """The scope as a request that begins now gets it."""
        scope: Scope = await self.store.library.scope(person)
        return scope

    async def warm_up(self, person: str = "local") -> Scope:
        """Load the index of a person; on a busy machine, the pause after the last loading takes longer."""
        async with asyncio.timeout(WARM_UP_S):
            while True:
                scope = await self.scope(person)
                await self.index.lexical("word1", scope=scope, filters=ALL, limit=1)
                await self.resident.settle()
                if self.resident.is_current(scope, VECTORS):
                    return scope
                await asyncio.sleep(0.05)

    async def documents(self, words: str, person: str = "local", filters: Filters = ALL) -> set[str]:
        """The documents that a person finds by words and by meaning, whose texts the database gives."""
        scope, index = await self.scope(person), self.index
        lexical = await index.lexical(words, scope=scope, filters=filters, limit=50)
        dense = await index.dense(await self.store.vector(words), scope=scope, filters=filters, limit=50)
        read = await index.fetch([match.key for match in (*lexical, *dense)], [], scope=scope, filters=filters)
        assert not read.outdated
        return {read.chunks[match.key].document_id for match in lexical if match.key in read.chunks}


def some_texts(count: int, seed: int) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, weights=range(1, 61), k=chosen.randint(5, 40))) for _ in range(count)]


async def share(store: Any, document_id: str, **wish: Any) -> None:
    rights, scope = Permissions(store.database), await store.scope()
    await rights.share(scope, document_id, await rights.readers(scope, ShareRequest(**wish)))
