"""The tools that depend on the embedder: vector search, bulk embedding, and the factory of request kits."""

import asyncio
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pincite.config.branches.generation import Resilience
from pincite.config.branches.retrieval import Embedding, Rag
from pincite.config.settings import Settings
from pincite.core.protocols import Embedder
from pincite.ingest.embed.bulk_embedder import BulkEmbedder, open_bulk_embedder
from pincite.ingest.embed.enrich import PROMPT_VERSION
from pincite.models.kit_factory import KitFactory, make_resilient, plain_embedder
from pincite.models.resilient import close
from pincite.store.database import Database
from pincite.store.search.corpus_stats import CorpusStatsCache
from pincite.store.search.memory_index import MemoryIndex, MemoryVocabulary
from pincite.store.search.postgres_index import PostgresIndex
from pincite.store.search.resident.cache import ResidentIndexes
from pincite.store.search.resident.loading import Vectors

INDEX_FORMAT = 7
"""The version of the index format; raise it when parsing, chunking or indexing stores other data for the same file."""

MIN_KEEP_S = 60.0
"""Minimum seconds that tools are kept after their last use."""

_Choice = tuple[Embedding, Resilience | None]


@dataclass(frozen=True, slots=True)
class IndexTools:
    """The tools of one embedder; requests and jobs in progress keep theirs when the embedder changes."""

    embedder: Embedder
    model: int
    bulk_embedder: BulkEmbedder
    kit_factory: KitFactory
    database: Database
    corpus_stats: CorpusStatsCache
    resident: ResidentIndexes

    @property
    def vectors(self) -> Vectors:
        """The model of this embedder in the database."""
        return Vectors(self.model, self.embedder.dimensions)

    def index(self, rag: Rag) -> MemoryIndex:
        """Return the search over the vectors of this embedder."""
        return MemoryIndex(self.database, self.vectors, rag, self.resident, self.corpus_stats)

    def vocabulary(self) -> MemoryVocabulary:
        """Return the words of the documents."""
        return MemoryVocabulary(self.database, self.corpus_stats, self.resident, self.vectors)

    def signature(self, settings: Settings) -> str:
        """Return the signature of the index settings; a document with another signature is stale."""
        chunking = settings.chunking
        signature = f"{INDEX_FORMAT}:{self.embedder.name}:{chunking.tokenizer}:{chunking.size}:{chunking.overlap}"
        return signature + "".join(f":{other}" for other in _non_default_parts(settings))

    async def close(self) -> None:
        """Close all tools but the embedder, which others may share."""
        await self.bulk_embedder.close()
        await self.kit_factory.close()


class IndexToolsPool:
    """The tools of each configured embedder, built on first use.

    Replaced tools are kept as long as a question or a job may use them. Changed retry settings (`resilience`) do not
    rebuild the tools of a local embedder.
    """

    def __init__(self, index_memory_mb: int = 0) -> None:
        self._resident = ResidentIndexes(index_memory_mb)
        self._embedders: dict[Embedding, Embedder] = {}
        self._tools: dict[_Choice, IndexTools] = {}
        self._until: dict[_Choice, float] = {}
        self._in_force: tuple[_Choice, float] | None = None
        self._making = asyncio.Lock()

    async def embedder(self, settings: Settings) -> Embedder:
        """Return the embedder of these settings; `SettingsError` if it cannot be built."""
        async with self._making:
            return make_resilient(await self._plain(settings), settings)

    async def check(self, settings: Settings, database: Database) -> None:
        """Raise `SettingsError` if the tools of these settings cannot be built; nothing is written."""
        embedder = await self.embedder(settings)
        await database.check_model(embedder.name, embedder.dimensions)
        kit_factory = KitFactory(PostgresIndex(database, 0, embedder.dimensions, settings.rag), embedder)
        await kit_factory.ready(settings)
        await kit_factory.close()

    async def get(self, settings: Settings, database: Database) -> IndexTools:
        """Return the tools of these settings; build them on first use."""
        async with self._making:
            plain = await self._plain(settings)
            choice = _choice(settings, plain)
            if choice not in self._tools:
                embedder = make_resilient(plain, settings)
                self._tools[choice] = await _make_tools(embedder, settings, database, self._resident)
            self._keep(choice, settings.llm.question_timeout_s)
            return self._tools[choice]

    def adopt(self, settings: Settings) -> IndexTools:
        """Return the tools that were built for these settings, and mark them as the current ones."""
        if self._in_force is not None:
            self._keep(*self._in_force)
        choice = _choice(settings, self._embedders[settings.embedding])
        self._in_force = choice, settings.llm.question_timeout_s
        return self._tools[choice]

    async def close_unused(self, busy: Collection[BulkEmbedder]) -> None:
        """Close expired tools; those whose bulk embedder is in `busy` are kept for the job that uses it."""
        async with self._making:
            in_force = self._in_force and self._in_force[0]
            for choice in [choice for choice, until in self._until.items() if until < time.monotonic()]:
                if choice != in_force and self._tools[choice].bulk_embedder not in busy:
                    del self._until[choice]
                    await self._tools.pop(choice).close()
            used = {embedding for embedding, _ in self._tools}
            for embedding in [embedding for embedding in self._embedders if embedding not in used]:
                await close(self._embedders.pop(embedding))

    async def close(self) -> None:
        """Close all tools and embedders."""
        await self._resident.close()
        while self._tools:
            await self._tools.popitem()[1].close()
        while self._embedders:
            await close(self._embedders.popitem()[1])

    async def _plain(self, settings: Settings) -> Embedder:
        chosen = settings.embedding
        if chosen not in self._embedders:  # loading weights takes long, so it runs in a thread
            self._embedders[chosen] = await asyncio.to_thread(plain_embedder, settings)
        return self._embedders[chosen]

    def _keep(self, choice: _Choice, question_s: float) -> None:
        """Keep tools for as long as a question that starts now may take."""
        self._until[choice] = max(self._until.get(choice, 0.0), time.monotonic() + max(question_s, MIN_KEEP_S))


def _non_default_parts(settings: Settings) -> Iterator[str]:
    """Yield the parts of a signature for index settings that differ from the default."""
    chunking, enrichment = settings.chunking, settings.enrichment
    if chunking.strategy == "window":
        yield f"window-{chunking.window_chars}-{chunking.window_overlap_chars}-{chunking.header_aware}-by-page"
    if chunking.strategy == "semantic":
        yield f"semantic-{chunking.breakpoint_percentile:g}"
    if chunking.lead == "labels":
        yield "labels"
    if enrichment.enabled:
        yield f"enriched-{PROMPT_VERSION}-{enrichment.model}-{'+'.join(sorted(enrichment.parts))}"


async def _make_tools(
    embedder: Embedder, settings: Settings, database: Database, resident: ResidentIndexes
) -> IndexTools:
    model = await database.register_model(embedder.name, embedder.dimensions)
    embedding = settings.embedding
    options = embedding.model_dump(exclude={"api_key"})
    bulk_embedder = open_bulk_embedder(embedder, provider=embedding.provider, options=options, batch=embedding.batch)
    corpus_stats = CorpusStatsCache()
    vectors = Vectors(model, embedder.dimensions)
    index = MemoryIndex(database, vectors, settings.rag, resident, corpus_stats)
    return IndexTools(embedder, model, bulk_embedder, KitFactory(index, embedder), database, corpus_stats, resident)


def _choice(settings: Settings, embedder: Embedder) -> _Choice:
    return settings.embedding, None if embedder.local else settings.resilience
