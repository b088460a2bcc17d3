"""A run with an in-memory index, for the tests of the stages."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pincite.config.sources import load_settings
from pincite.core.accounts.access import LOCAL, Scope
from pincite.core.documents.positions import PageText, TextSpan
from pincite.core.protocols import Fetched, Match, NamedDocument, TitleMatch, Vector
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.question import Filters
from pincite.core.run import Event, Kit, Run
from pincite.providers.extractive import Extractive
from pincite.providers.scripted import Options, ScriptedEmbedder, ScriptedLLM
from tests.builders import found

EVERYTHING = Filters()


class MemoryIndex:
    """Returns preset rankings; `vanish` are keys whose version is replaced between search and fetch."""

    def __init__(self, dense: dict[int, float], lexical: dict[int, float], chunks: dict[int, RetrievedChunk]) -> None:
        self.rankings = {"dense": dense, "lexical": lexical}
        self.chunks = chunks
        self.vanish: set[int] = set()
        self.strangers = 0
        self.titles: dict[str, int] = {}
        self.leaves: list[PageText] = []
        self.calls: list[str] = []

    async def dense(self, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        return self._ranked("dense", limit)

    async def lexical(self, text: str, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        return self._ranked("lexical", limit)

    async def fetch(
        self, keys: Sequence[int], vectors: Sequence[Vector], *, scope: Scope, filters: Filters = EVERYTHING
    ) -> Fetched:
        gone, self.vanish = self.vanish, set()
        for ranking in self.rankings.values():
            for key in gone:
                ranking.pop(key, None)
        chunks = {key: self.chunks[key] for key in keys if key not in gone}
        cosines = {key: self.rankings["dense"].get(key, 0.1) for key in chunks} if vectors else {}
        return Fetched(chunks, cosines, self.strangers)

    def answers_at_once(self, scope: Scope, filters: Filters) -> bool:
        return False

    def remembered(self, keys: Sequence[int], *, scope: Scope, filters: Filters) -> dict[int, RetrievedChunk]:
        return {}

    async def has_documents(self, scope: object) -> bool:
        return True

    async def documents_named(
        self, names: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters
    ) -> list[TitleMatch]:
        self.calls.append("titled")
        carried = [(name, self.titles[name]) for name in names if name in self.titles]
        return [
            TitleMatch(name, f"doc{key}", Match(key, self.rankings["dense"].get(key, 0.1))) for name, key in carried
        ]

    async def documents_with_names_like(
        self, parts: Sequence[str], *, scope: Scope, filters: Filters, limit: int
    ) -> list[NamedDocument]:
        self.calls.append("names")
        chunks = {chunk.document_id: chunk for chunk in self.chunks.values()}
        names = [NamedDocument(key, chunk.title, chunk.document_name) for key, chunk in chunks.items()]
        return [one for one in names if any(part in f"{one.title} {one.name}".lower() for part in parts)][:limit]

    async def parents(self, keys: Sequence[int], level: int, *, scope: Scope) -> dict[int, RetrievedChunk]:
        return {
            key: found(f"All around {key}.", key=1000 * (level + 1) + key, level=level, document_id=f"doc{key}")
            for key in keys
            if key not in self.vanish
        }

    async def pages(self, extracts: Sequence[TextSpan], *, scope: Scope) -> list[list[PageText]]:
        self.calls.append("pages")
        return [self.leaves for _ in extracts]

    async def nearest_in_documents(
        self, documents: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]:
        self.calls.append("within")
        keys = [key for key, chunk in self.chunks.items() if chunk.document_id in documents]
        return [Match(key, self.rankings["dense"].get(key, 0.1)) for key in keys]

    def _ranked(self, via: str, limit: int) -> list[Match]:
        self.calls.append(via)
        ranking = self.rankings[via]
        return [Match(key, ranking[key]) for key in sorted(ranking, key=lambda key: -ranking[key])][:limit]


@pytest.fixture
def make_run() -> Callable[..., Run]:
    """Makes a run; settings by dotted keys with `__`, texts by key, rankings by engine."""

    def make(
        texts: dict[int, str] | None = None,
        dense: dict[int, float] | None = None,
        lexical: dict[int, float] | None = None,
        *,
        llm: Any = None,
        embedder: Any = None,
        reranker: Any = None,
        events: list[Event] | None = None,
        seconds: float = 30.0,
        **settings: Any,
    ) -> Run:
        chunks = {key: found(text, key=key) for key, text in (texts or {}).items()}
        embedder = embedder or ScriptedEmbedder(Options())
        kit = Kit(
            index=MemoryIndex(dense or {}, lexical or {}, chunks),
            embedder=embedder,
            llm=llm or ScriptedLLM(Options()),
            extractive=Extractive(embedder),
            reranker=reranker,
        )
        chosen = load_settings({key.replace("__", "."): value for key, value in settings.items()}, env={})
        emit = events.append if events is not None else (lambda _event: None)
        return Run("t1", kit, chosen, LOCAL, Scope("local", (1,)), time.monotonic() + seconds, emit)

    return make
