"""The index that is searched and the one built beside it: settings that index otherwise act when a switch is made."""

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
    """What a process works by: the settings as wanted, the same with what the index that is searched was made by.

    `signature` is that index's, `wanted` what documents are indexed by once all are.
    """

    settings: Settings
    bench: IndexTools
    index: int
    signature: str
    wanted: str


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Every index there is, how far the one that is built is, and whether the settings ask for another."""

    all: tuple[IndexBuild, ...]
    building: BuildProgress | None
    wanting: bool


class IndexSwitch:
    """Finds what a process has to work by, and changes it for all of them."""

    def __init__(self, benches: IndexToolsPool, database: Database, place: str) -> None:
        self._benches = benches
        self._database = database
        self._generations = Generations(database, place)
        self._wanted: tuple[str, Mapping[str, Any]] = "", {}
        self._settings = Settings()
        self._index = 0

    async def prepare(self, wanted: Settings) -> InForce:
        """Make what is needed to search the index there is; where that cannot be made any more, the one wanted."""
        bench = await self._benches.get(wanted, self._database)
        signature, values = bench.signature(wanted), index_values(wanted)
        index, serving, made_by = await self._generations.serving(signature, values)
        chosen = wanted
        if serving != signature:
            try:
                chosen = with_index_settings(wanted, made_by)
                bench = await self._benches.get(chosen, self._database)
            except SettingsError as error:
                log.warning("the index that was searched so far cannot be searched any more: %s", error)
                await self._generations.rename(signature, values)
                chosen = wanted
        await bench.toolbox.ready(chosen)
        self._wanted, self._settings, self._index = (signature, values), wanted, index
        return InForce(chosen, bench, index, bench.signature(chosen), signature)

    @property
    def wished(self) -> Settings:
        """The settings as they are wanted, whatever index is searched until it is made by them."""
        return self._settings

    async def moved(self) -> bool:
        """Whether another index is searched by now than was prepared for."""
        return await self._generations.searched() not in (0, self._index)

    async def beside(self, index: int) -> tuple[Settings, IndexTools, str]:
        """The settings, tools and signature that an index beside the one searched is built by."""
        for one in await self._generations.all():
            if one.id == index:
                settings = with_index_settings(self._settings, one.settings)
                return settings, await self._benches.get(settings, self._database), one.signature
        raise Conflict("the index that was being built was discarded")

    async def complete(self) -> IndexBuild:
        """The index to compare with the one searched: the one that was built, or else the last that stands by."""
        standing = await self.standing()
        if standing.building and standing.building.waiting:
            raise Conflict(f"the new index is not complete: {standing.building.waiting} documents wait for their part")
        for state in ("building", "standby"):
            if found := next((one for one in standing.all if one.state == state), None):
                return found
        raise Conflict("there is no other index to compare with; change the settings, then: pincite reindex --hold")

    async def standing(self) -> IndexStatus:
        """What there is, and what is under way."""
        found = tuple(await self._generations.all())
        serving = next((one.signature for one in found if one.state == "serving"), "")
        return IndexStatus(found, await self._generations.progress(), serving not in ("", self._wanted[0]))

    async def build(self, *, held: bool = False) -> bool:
        """Begin what the settings ask for beside what is searched; false where that is searched already."""
        return await self._generations.build(*self._wanted, held=held) is not None

    async def back(self) -> IndexBuild:
        """Return to the index that was searched before: at once, but for documents that came since."""
        before = [one for one in await self._generations.all() if one.state == "standby"]
        if not before:
            raise NotFound("there is no earlier index to return to")
        await self._generations.build(before[0].signature, before[0].settings, held=False)
        await self._generations.switch()
        return before[0]

    async def switch(self, *, anyway: bool = False) -> bool:
        """Search what was built, in one step, where it is complete; somebody says so, so that nothing holds it."""
        return await (self._generations.switch(anyway=True) if anyway else self._generations.release())

    async def switch_if_built(self) -> None:
        """The same where the last part was not built but removed, so that nobody who built was left to do it."""
        if await self._generations.progress():
            await self._generations.switch()

    async def forget(self, days: int) -> int:
        """Let go of indexes that have stood by for so many days; 0 keeps them."""
        return await self._generations.discard("standby", days=days) if days else 0

    async def discard(self) -> int:
        """Let go of what is built, or else of what stands by."""
        return await self._generations.discard("building") or await self._generations.discard("standby")


def index_values(settings: Settings) -> dict[str, Any]:
    """The settings that documents are indexed by, as they may be stored: an address with a password in it is not."""
    found = {name: value_of(settings, name) for name, key in catalogue().items() if key.acts == "index"}
    return {name: value for name, value in found.items() if not isinstance(value, str) or without_login(value) == value}


def with_index_settings(settings: Settings, made_by: Mapping[str, Any]) -> Settings:
    """The settings with what an index was made by; a key for another server than that index's is not sent there."""
    known = {name: value for name, value in made_by.items() if name in catalogue()}
    found = with_values(settings, known)
    before, after = settings.embedding, found.embedding
    if (before.provider, before.base_url) == (after.provider, after.base_url) or not isinstance(
        before.api_key, SecretStr
    ):
        return found
    return found.model_copy(update={"embedding": after.model_copy(update={"api_key": None})})
