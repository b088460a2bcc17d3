"""What is known of a model by its name, from models.toml; what is not, its server is asked once."""

import asyncio
import logging
import re
import time
import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal

from pincite.core.protocols import ServerModel
from pincite.errors import ProviderError, ProviderRefused

log = logging.getLogger(__name__)

Tier = Literal["up_to_3b", "3b_to_9b", "9b_to_34b", "over_34b", "unknown"]

WINDOW = 8192
"""Tokens a model sees of whom nobody says more."""
TEMPERATURE = 0.3
MEET_S = 5.0
"""Longest wait for a server to say what it has."""
MEET_AGAIN_S = 30.0
"""A server that did not say is not asked again before."""

_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One row of the table, for one model; `window` is None where the table does not know it."""

    family: str = ""
    window: int | None = None
    temperature: float = TEMPERATURE
    top_p: float | None = None
    tier: Tier = "unknown"
    quote_first: bool = False
    no_thinking: str = ""
    greedy: bool = True
    sampling: Literal["both", "one", "none"] = "both"
    thinking: Literal["", "effort", "budget", "adaptive", "switch", "always"] = ""
    tools: bool | None = None
    vision: bool | None = None


@lru_cache(maxsize=1024)
def facts_of(model: str) -> ModelFacts:
    """What the table says about a model of this name."""
    name = model.lower().rpartition("/")[2]
    row = next((row for pattern, row in _rows() if pattern.search(name)), {})
    size = _billions(name) or row.get("billions")
    known = {key: value for key, value in row.items() if key not in ("pattern", "billions", "tier")}
    return ModelFacts(tier=_tier(size) if size else row.get("tier", "unknown"), **known)


@cache
def _rows() -> tuple[tuple[re.Pattern[str], dict[str, Any]], ...]:
    text = (resources.files("pincite.models") / "models.toml").read_text(encoding="utf-8")
    return tuple((re.compile(row["pattern"]), row) for row in tomllib.loads(text)["model"])


def _billions(name: str) -> float | None:
    """`llama3.2:1b` → 1, `mixtral-8x7b` → 56, `smollm2-135m` → 0.135."""
    found = _SIZE.search(name)
    if found is None:
        return None
    return int(found[1] or 1) * float(found[2]) / (1 if found[3] == "b" else 1000)


def _tier(billions: float) -> Tier:
    if billions <= 3:
        return "up_to_3b"
    if billions <= 9:
        return "3b_to_9b"
    return "9b_to_34b" if billions <= 34 else "over_34b"


class ServerModelInfo:
    """The model a provider writes with: as the settings name it, or the first its server offers.

    `offers` asks the server; `most` bounds what it says of a window.
    """

    def __init__(
        self, model: str, window: int, offers: Callable[[], Awaitable[list[ServerModel]]], most: int | None = None
    ) -> None:
        self.model = model
        self._set_window = window
        self._offers = offers
        self._most = most
        self._told: int | None = None
        self._answered = False
        self._again_at = 0.0
        self._asking = asyncio.Lock()

    @property
    def window(self) -> int:
        """The setting, else the table, else the server's word, else 8,192."""
        said = facts_of(self.model).window or self._told or WINDOW
        return self._set_window or (min(said, self._most) if self._most else said)

    async def discover(self) -> None:
        """Ask the server once what is not known yet; one that does not say is left alone for a while.

        Whoever has a model's name does not wait for another who is asking: only the window is open then.
        """
        if self._settled() or (self.model and self._asking.locked()):
            return
        async with self._asking:
            if self._settled():
                return
            try:
                async with asyncio.timeout(MEET_S):
                    self._learn(await self._offers())
            except (ProviderError, TimeoutError) as error:
                log.info("the model's server does not say what it has: %s", error)
            self._again_at = time.monotonic() + MEET_AGAIN_S

    def _settled(self) -> bool:
        """Whether there is nothing to ask, or no use in asking now."""
        known = self.model and (self._set_window or facts_of(self.model).window)
        return bool(known) or self._answered or time.monotonic() < self._again_at

    async def name(self, shown: str, section: str) -> str:
        """The model to ask for; raises where neither the settings nor the server name one."""
        if not self.model:
            self._learn(await self._offers())
        if not self.model:
            raise ProviderRefused(f"{shown} offers no model; set {section}.model to the one to use")
        return self.model

    def _learn(self, offers: list[ServerModel]) -> None:
        self._answered = True
        if not self.model and offers:
            self.model = offers[0].name
            if len(offers) > 1:
                log.info("%d models are offered; using the first, %s", len(offers), self.model)
        self._told = next((one.window for one in offers if one.name == self.model and one.window), self._told)
