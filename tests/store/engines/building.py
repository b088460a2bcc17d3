"""Builds the data of engines in a store under test."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope
from pincite.core.protocols import Match
from pincite.core.query.question import Filters
from pincite.ingest.engines.builder import Builder, EngineWorker
from pincite.ingest.late.builder import LateBuilder
from pincite.ingest.tree.builder import TreeBuilder
from pincite.models.token_vectors import PackedTokens, Tokens, pack, unit_rows
from pincite.store.engines.builds import EngineBuilds
from pincite.store.engines.tree_rows import TreeStore
from pincite.store.engines.tree_search import TreeIndex
from pincite.text.terms import words

ALL = Filters()
MODEL = "words/test"


async def build(store: Any, *builders: Builder) -> None:
    """Build every served edition, and what several documents share."""
    await EngineWorker(lambda: EngineBuilds(store.database), lambda: builders).work(lambda: False)


def tree_builder(store: Any) -> TreeBuilder:
    return TreeBuilder(TreeStore(store.database), 1, "scripted/test")


async def tree_search(store: Any, text: str, scope: Scope | None = None, filters: Filters = ALL) -> list[Match]:
    index = TreeIndex(store.database, 1, Rag())
    return await index.search(
        text, await store.vector(text), scope=scope or await store.scope(), filters=filters, limit=100
    )


class WordTokens:
    """A bulk embedder whose token vectors stand for words: equal words have equal vectors."""

    async def embed(self, passages: Sequence[tuple[str, str]]) -> Any:
        raise NotImplementedError

    async def embed_tokens(self, texts: Sequence[tuple[str, str]], folder: str) -> PackedTokens:
        return PackedTokens(MODEL, 96, [pack(word_vectors(text)) for text, _ in texts])

    async def close(self) -> None:
        pass


def word_vectors(text: str) -> Tokens:
    """One vector per word, of a direction that its letters choose."""
    seeds = [int.from_bytes(hashlib.sha256(word.encode()).digest()[:8]) for word in words(text)]
    rows = [np.random.default_rng(seed).normal(size=96) for seed in seeds]
    return unit_rows(np.array(rows).reshape(-1, 96))


def late_builder(*, centroids: bool = False) -> LateBuilder:
    return LateBuilder(WordTokens(), MODEL, "", centroids=centroids)


async def rows(store: Any, query: str, person: str = "local") -> list[tuple[Any, ...]]:
    """Return the rows of a statement, read as this person."""
    async with store.database.transaction(person) as connection:
        return list(await (await connection.execute(query)).fetchall())


async def texts_of(store: Any, matches: Sequence[Match]) -> list[str]:
    """Return the texts of the chunks found, best first."""
    known = dict(await rows(store, "select key, text from chunk where level = 2"))
    return [known[match.key] for match in matches]
