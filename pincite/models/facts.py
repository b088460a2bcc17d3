"""Properties of language models by name, from models.toml; the server is asked once for what the table lacks."""

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

DEFAULT_WINDOW = 8192
"""Context window in tokens of a model whose window is unknown."""
DEFAULT_TEMPERATURE = 0.3
DISCOVERY_TIMEOUT_S = 5.0
"""Timeout for listing the models of a server."""
DISCOVERY_RETRY_S = 30.0
"""Seconds before a server that did not answer is asked again."""

_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One row of the model table; `window` is None if the table does not list it."""

    family: str = ""
    window: int | None = None
    temperature: float = DEFAULT_TEMPERATURE
    top_p: float | None = None
    top_k: int | None = None
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
    """Return the row of the table for a model name."""
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
    """Parse the parameter count: `llama3.2:1b` → 1, `mixtral-8x7b` → 56, `smollm2-135m` → 0.135."""
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
    """Name and context window of a provider's model: from the settings, or the first model its server offers.

    `offers` lists the models of the server; `max_window` limits the window it reports.
    """

    def __init__(
        self, model: str, window: int, offers: Callable[[], Awaitable[list[ServerModel]]], max_window: int | None = None
    ) -> None:
        self.model = model
        self._set_window = window
        self._offers = offers
        self._max_window = max_window
        self._server_windows: dict[str, int] = {}
        self._answered = False
        self._again_at = 0.0
        self._asking = asyncio.Lock()

    @property
    def window(self) -> int:
        """Context window in tokens: from the setting, then the table, then the server, otherwise 8,192."""
        return self.window_of(self.model)

    def window_of(self, model: str) -> int:
        """The context window of any model of the server; the setting is that of the configured model only."""
        if self._set_window and model == self.model:
            return self._set_window
        window = facts_of(model).window or self._server_windows.get(model) or DEFAULT_WINDOW
        return min(window, max(self._max_window, self._set_window)) if self._max_window else window

    async def discover(self) -> None:
        """Ask the server once for what is not known yet; after a failure, it is not asked again for a while.

        If the model's name is known, a call does not wait for a concurrent one: only the window is missing then.
        """
        if self._settled() or (self.model and self._asking.locked()):
            return
        async with self._asking:
            if self._settled():
                return
            try:
                async with asyncio.timeout(DISCOVERY_TIMEOUT_S):
                    self._learn(await self._offers())
            except (ProviderError, TimeoutError) as error:
                log.info("the model server does not list its models: %s", error)
            self._again_at = time.monotonic() + DISCOVERY_RETRY_S

    def _settled(self) -> bool:
        """Whether everything is known, or the server should not be asked now."""
        known = self.model and (self._set_window or facts_of(self.model).window)
        return bool(known) or self._answered or time.monotonic() < self._again_at

    async def name(self, shown: str, section: str) -> str:
        """Return the model to use; raises if neither the settings nor the server name one."""
        if not self.model:
            self._learn(await self._offers())
        if not self.model:
            raise ProviderRefused(f"{shown} offers no model; set {section}.model")
        return self.model

    def _learn(self, offers: list[ServerModel]) -> None:
        self._answered = True
        if not self.model and offers:
            self.model = offers[0].name
            if len(offers) > 1:
                log.info("the server offers %d models; using the first, %s", len(offers), self.model)
        self._server_windows.update((one.name, one.window) for one in offers if one.window)
