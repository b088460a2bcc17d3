"""What hangs on the embedder: the embedder itself, its vectors in the store, its lane for bulk work, its toolbox."""

from dataclasses import dataclass

from pincite.core.protocols import Embedder
from pincite.ingest.lane import Lane, open_lane
from pincite.settings import Embedding, Rag, Resilience, Settings
from pincite.store.database import Database
from pincite.store.search import PostgresIndex
from pincite.toolbox import Toolbox, make_embedder

INDEX_FORMAT = 1
"""Raised when parsing, chunking or indexing changes what is stored for the same file and settings."""

_Choice = tuple[Embedding, Resilience]


@dataclass(frozen=True, slots=True)
class Workbench:
    """The tools of one choice of embedder; requests and documents under way keep theirs when it changes."""

    embedder: Embedder
    model: int
    lane: Lane
    toolbox: Toolbox
    database: Database

    def index(self, rag: Rag) -> PostgresIndex:
        """Search over the vectors of this embedder."""
        return PostgresIndex(self.database, self.model, self.embedder.dimensions, rag)

    def signature(self, settings: Settings) -> str:
        """How documents are indexed with these settings; one with another signature is stale."""
        chunking = settings.chunking
        return f"{INDEX_FORMAT}:{self.embedder.name}:{chunking.tokenizer}:{chunking.size}:{chunking.overlap}"

    async def close(self) -> None:
        """Let go of all but the embedder, which others may share."""
        await self.lane.close()
        await self.toolbox.close()


class Workbenches:
    """One workbench for each choice of embedder, set up when first asked for and kept: an old one may be in use."""

    def __init__(self) -> None:
        self._embedders: dict[_Choice, Embedder] = {}
        self._set_up: dict[_Choice, Workbench] = {}

    def embedder(self, settings: Settings) -> Embedder:
        """The embedder these settings ask for; `SettingsError` where it cannot be made."""
        choice = _choice(settings)
        if choice not in self._embedders:
            self._embedders[choice] = make_embedder(settings)
        return self._embedders[choice]

    async def get(self, settings: Settings, database: Database) -> Workbench:
        """The workbench for these settings."""
        choice = _choice(settings)
        if choice not in self._set_up:
            self._set_up[choice] = await self._make(settings, database)
        return self._set_up[choice]

    def ready(self, settings: Settings) -> Workbench:
        """The one that was set up for these settings before."""
        return self._set_up[_choice(settings)]

    async def _make(self, settings: Settings, database: Database) -> Workbench:
        embedder = self.embedder(settings)
        model = await database.register_model(embedder.name, embedder.dimensions)
        embedding = settings.embedding
        options = embedding.model_dump(exclude={"api_key"})
        lane = open_lane(embedder, provider=embedding.provider, options=options, batch=embedding.batch)
        index = PostgresIndex(database, model, embedder.dimensions, settings.rag)
        return Workbench(embedder, model, lane, Toolbox(index, embedder), database)

    async def close(self) -> None:
        """Close every one."""
        while self._set_up:
            await self._set_up.popitem()[1].close()
        while self._embedders:
            if close := getattr(self._embedders.popitem()[1], "close", None):
                await close()


def _choice(settings: Settings) -> _Choice:
    return settings.embedding, settings.resilience
