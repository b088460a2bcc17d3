"""What hangs on the embedder: the embedder itself, its vectors in the store, its lane for bulk work, its toolbox."""

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
from pincite.models.kit_factory import KitFactory, plain_embedder, resilient
from pincite.models.resilient import close
from pincite.store.database import Database
from pincite.store.search.corpus_stats import CorpusStatsCache
from pincite.store.search.postgres_index import PostgresIndex

INDEX_FORMAT = 5
"""Raised when parsing, chunking or indexing changes what is stored for the same file and settings."""

MIN_KEEP_S = 60.0
"""Tools that were set up are kept for at least so long, however little time questions have."""

_Choice = tuple[Embedding, Resilience | None]


@dataclass(frozen=True, slots=True)
class IndexTools:
    """The tools of one choice of embedder; requests and documents under way keep theirs when it changes."""

    embedder: Embedder
    model: int
    lane: BulkEmbedder
    toolbox: KitFactory
    database: Database
    surveys: CorpusStatsCache

    def index(self, rag: Rag) -> PostgresIndex:
        """Search over the vectors of this embedder."""
        return PostgresIndex(self.database, self.model, self.embedder.dimensions, rag, self.surveys)

    def signature(self, settings: Settings) -> str:
        """How documents are indexed with these settings; one with another signature is stale."""
        chunking = settings.chunking
        way = f"{INDEX_FORMAT}:{self.embedder.name}:{chunking.tokenizer}:{chunking.size}:{chunking.overlap}"
        return way + "".join(f":{other}" for other in _non_default_parts(settings))

    async def close(self) -> None:
        """Let go of all but the embedder, which others may share."""
        await self.lane.close()
        await self.toolbox.close()


class IndexToolsPool:
    """One workbench for each choice of embedder, set up when first asked for.

    Those no longer in force are kept as long as a question may be using them, or a document. What is tried again and
    how often is no matter of an embedder on this machine: it stays the same one.
    """

    def __init__(self) -> None:
        self._embedders: dict[Embedding, Embedder] = {}
        self._set_up: dict[_Choice, IndexTools] = {}
        self._until: dict[_Choice, float] = {}
        self._in_force: tuple[_Choice, float] | None = None
        self._making = asyncio.Lock()

    async def embedder(self, settings: Settings) -> Embedder:
        """The embedder these settings ask for; `SettingsError` where it cannot be made."""
        async with self._making:
            return resilient(await self._plain(settings), settings)

    async def check(self, settings: Settings, database: Database) -> None:
        """Raise `SettingsError` where the tools these settings ask for cannot be made; nothing is written."""
        embedder = await self.embedder(settings)
        await database.check_model(embedder.name, embedder.dimensions)
        toolbox = KitFactory(PostgresIndex(database, 0, embedder.dimensions, settings.rag), embedder)
        await toolbox.ready(settings)
        await toolbox.close()

    async def get(self, settings: Settings, database: Database) -> IndexTools:
        """The workbench for these settings."""
        async with self._making:
            plain = await self._plain(settings)
            choice = _choice(settings, plain)
            if choice not in self._set_up:
                self._set_up[choice] = await _set_up(resilient(plain, settings), settings, database)
            self._keep(choice, settings.llm.question_timeout_s)
            return self._set_up[choice]

    def adopt(self, settings: Settings) -> IndexTools:
        """The one that was set up for these settings, which is in force from now on."""
        if self._in_force is not None:
            self._keep(*self._in_force)
        choice = _choice(settings, self._embedders[settings.embedding])
        self._in_force = choice, settings.llm.question_timeout_s
        return self._set_up[choice]

    async def let_go(self, busy: Collection[BulkEmbedder]) -> None:
        """Close what nobody can be using any more; a lane that is busy has a document under way."""
        async with self._making:
            in_force = self._in_force and self._in_force[0]
            for choice in [choice for choice, until in self._until.items() if until < time.monotonic()]:
                if choice != in_force and self._set_up[choice].lane not in busy:
                    del self._until[choice]
                    await self._set_up.pop(choice).close()
            used = {embedding for embedding, _ in self._set_up}
            for embedding in [embedding for embedding in self._embedders if embedding not in used]:
                await close(self._embedders.pop(embedding))

    async def close(self) -> None:
        """Close every one."""
        while self._set_up:
            await self._set_up.popitem()[1].close()
        while self._embedders:
            await close(self._embedders.popitem()[1])

    async def _plain(self, settings: Settings) -> Embedder:
        chosen = settings.embedding
        if chosen not in self._embedders:  # loading weights takes a while, in which others are served
            self._embedders[chosen] = await asyncio.to_thread(plain_embedder, settings)
        return self._embedders[chosen]

    def _keep(self, choice: _Choice, question_s: float) -> None:
        """Whoever begins a question now may need it for as long as that may take."""
        self._until[choice] = max(self._until.get(choice, 0.0), time.monotonic() + max(question_s, MIN_KEEP_S))


def _non_default_parts(settings: Settings) -> Iterator[str]:
    """What else decides how documents are indexed, where it is not as by default."""
    chunking, enrichment = settings.chunking, settings.enrichment
    if chunking.strategy == "window":
        yield f"window-{chunking.window_chars}-{chunking.window_overlap_chars}-{chunking.header_aware}"
    if chunking.strategy == "semantic":
        yield f"semantic-{chunking.breakpoint_percentile:g}"
    if chunking.lead == "labels":
        yield "labels"
    if enrichment.enabled:
        yield f"enriched-{PROMPT_VERSION}-{enrichment.model}-{'+'.join(sorted(enrichment.parts))}"


async def _set_up(embedder: Embedder, settings: Settings, database: Database) -> IndexTools:
    model = await database.register_model(embedder.name, embedder.dimensions)
    embedding = settings.embedding
    options = embedding.model_dump(exclude={"api_key"})
    lane = open_bulk_embedder(embedder, provider=embedding.provider, options=options, batch=embedding.batch)
    surveys = CorpusStatsCache()
    index = PostgresIndex(database, model, embedder.dimensions, settings.rag, surveys)
    return IndexTools(embedder, model, lane, KitFactory(index, embedder), database, surveys)


def _choice(settings: Settings, embedder: Embedder) -> _Choice:
    return settings.embedding, None if embedder.local else settings.resilience
