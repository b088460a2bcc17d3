"""The index in service and the one being built.

Changed settings of chunking and enrichment act on documents indexed after the change; a changed embedder, and the
documents indexed before, wait for the switch.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from pincite.config.schema import catalogue, value_of
from pincite.config.settings import Settings
from pincite.config.sources import with_values
from pincite.core.operations import BuildProgress, IndexBuild
from pincite.engine.index.tools import IndexTools, IndexToolsPool
from pincite.errors import Conflict, NotFound, SettingsError
from pincite.store.database import Database
from pincite.store.indexing.generations import Generations
from pincite.text.sentences import without_login

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InForce:
    """The settings and tools that a process uses: `settings` hold the index settings of the index in service.

    `indexing` are the settings that documents are indexed with from now on: those configured, with the embedder of the
    index in service. `signature` is the signature of that index, `wanted` that of the configured index settings, and
    `new` that of a document indexed now.
    """

    settings: Settings
    indexing: Settings
    tools: IndexTools
    index: int
    signature: str
    wanted: str
    new: str


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """All indexes, the progress of a build, and whether the settings ask for another index (`wanting`)."""

    all: tuple[IndexBuild, ...]
    building: BuildProgress | None
    wanting: bool


class IndexSwitch:
    """Prepares the tools of the index in service, and switches the index for all processes."""

    def __init__(self, tools_pool: IndexToolsPool, database: Database, place: str) -> None:
        self._tools_pool = tools_pool
        self._database = database
        self._generations = Generations(database, place)
        self._wanted: tuple[str, Mapping[str, Any]] = "", {}
        self._settings = Settings()
        self._index = 0

    async def prepare(self, wanted: Settings) -> InForce:
        """Build the tools of the index in service or, if that is no longer possible, those of the wanted settings."""
        tools = await self._tools_pool.get(wanted, self._database)
        signature, values = tools.signature(wanted), index_values(wanted)
        index, serving, made_by = await self._generations.serving(signature, values)
        chosen = indexing = wanted
        if serving != signature:
            try:
                chosen = with_index_settings(wanted, made_by)
                indexing = with_index_settings(wanted, _embedder_values(made_by))
                tools = await self._tools_pool.get(chosen, self._database)
            except SettingsError as error:
                log.warning("the index in service can no longer be searched: %s", error)
                await self._generations.rename(signature, values)
                chosen = indexing = wanted
        await tools.kit_factory.ready(chosen)
        self._wanted, self._settings, self._index = (signature, values), wanted, index
        return InForce(
            chosen, indexing, tools, index, tools.signature(chosen), signature, new=tools.signature(indexing)
        )

    @property
    def wanted_settings(self) -> Settings:
        """The settings as configured, which the index in service may not have yet."""
        return self._settings

    async def is_replaced(self) -> bool:
        """Whether another index than the prepared one is in service now."""
        return await self._generations.searched() not in (0, self._index)

    async def tools_for(self, index: int) -> tuple[Settings, IndexTools, str]:
        """Return the settings, tools and signature of an index that is not in service."""
        for one in await self._generations.all():
            if one.id == index:
                settings = with_index_settings(self._settings, one.settings)
                return settings, await self._tools_pool.get(settings, self._database), one.signature
        raise Conflict("the index that was being built has been discarded")

    async def complete(self) -> IndexBuild:
        """Return the index to compare with the one in service: the new one, or else the latest on standby."""
        status = await self.status()
        if status.building and status.building.waiting:
            raise Conflict(f"the new index is not complete: {status.building.waiting} documents wait to be indexed")
        for state in ("building", "standby"):
            if found := next((one for one in status.all if one.state == state), None):
                return found
        raise Conflict(
            "there is no second index to compare with; change the index settings, then build one with: pincite reindex --hold"
        )

    async def status(self) -> IndexStatus:
        """Return all indexes and the progress of a build."""
        found = tuple(await self._generations.all())
        serving = next((one.signature for one in found if one.state == "serving"), "")
        return IndexStatus(found, await self._generations.progress(), serving not in ("", self._wanted[0]))

    async def build(self, *, held: bool = False) -> bool:
        """Start building the index that the settings ask for; false if it is in service already."""
        return await self._generations.build(*self._wanted, held=held) is not None

    async def roll_back(self) -> IndexBuild:
        """Return to the previous index, at once or as soon as the documents added since are in it."""
        before = [one for one in await self._generations.all() if one.state == "standby"]
        if not before:
            raise NotFound("there is no earlier index to return to")
        await self._generations.build(before[0].signature, before[0].settings, held=False)
        await self._generations.switch()
        return before[0]

    async def switch(self, *, anyway: bool = False) -> bool:
        """Put the new index into service if it is complete, also if it was held; with `anyway`, even if documents failed."""
        return await (self._generations.switch(anyway=True) if anyway else self._generations.release())

    async def switch_if_built(self) -> None:
        """Switch to a complete new index; needed when its last missing document was removed rather than indexed."""
        if await self._generations.progress():
            await self._generations.switch()

    async def forget(self, days: int) -> int:
        """Discard indexes that have been on standby for `days` days; 0 keeps them."""
        return await self._generations.discard("standby", days=days) if days else 0

    async def discard(self) -> int:
        """Discard the index that is being built or, without one, the standby indexes."""
        return await self._generations.discard("building") or await self._generations.discard("standby")


def index_values(settings: Settings) -> dict[str, Any]:
    """Return the index settings that may be stored: without URLs that contain a password."""
    found = {name: value_of(settings, name) for name, key in catalogue().items() if key.acts == "index"}
    return {name: value for name, value in found.items() if not isinstance(value, str) or without_login(value) == value}


def _embedder_values(made_by: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in made_by.items() if name.startswith("embedding.")}


def with_index_settings(settings: Settings, made_by: Mapping[str, Any]) -> Settings:
    """Return the settings with the values of an index; an API key of another server is removed."""
    known = {name: value for name, value in made_by.items() if name in catalogue()}
    found = with_values(settings, known)
    before, after = settings.embedding, found.embedding
    if (before.provider, before.base_url) == (after.provider, after.base_url) or not isinstance(
        before.api_key, SecretStr
    ):
        return found
    return found.model_copy(update={"embedding": after.model_copy(update={"api_key": None})})
