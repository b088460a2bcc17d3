"""Create the embedder, language model and reranker of a request from the settings."""

import asyncio
import ipaddress
import time
from typing import Any
from urllib.parse import urlsplit

from pincite import plugins
from pincite.config.branches.generation import Fallback, Llm
from pincite.config.settings import Settings
from pincite.core.protocols import LLM, Embedder, Index, Reader, Reranker
from pincite.core.run import Kit
from pincite.errors import SettingsError
from pincite.models.resilience import Policies, Timeouts
from pincite.models.resilient import FallbackLLM, ResilientEmbedder, ResilientLLM, ResilientReranker, close
from pincite.text.sentences import without_login

FIRST_TOKEN_TIMEOUT_S = 60.0
"""Timeout for the first token of a model on another machine, unless the settings name one."""

_KitKey = tuple[Any, ...]
_PROMPT_DEFAULTS = {name: Llm.model_fields[name].default for name in ("temperature", "top_p", "top_k", "max_tokens")}


class KitFactory:
    """Creates the kit for a snapshot of the settings; equal provider settings share one kit.

    A question ends after `llm.question_timeout_s`, so a kit that was not requested for longer is no longer in use.
    """

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder
        self._made: dict[_KitKey, Kit] = {}
        self._expires_at: dict[_KitKey, float] = {}
        self._policies_of: dict[_KitKey, Policies] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def kit(self, settings: Settings) -> Kit:
        """Return the kit for these settings; temperature and answer length are part of each prompt."""
        key = _kit_key(settings)
        if key not in self._made:
            self._made[key] = self._make(settings.model_copy(update={"llm": key[0]}))
            self._close_unused()
        self._expires_at[key] = time.monotonic() + settings.llm.question_timeout_s
        return self._made[key]

    def model(self, settings: Settings) -> LLM | None:
        """Return the configured language model with its policies; None if none is configured."""
        return None if provider_of(settings.llm) == "extractive" else self.kit(settings).llm

    async def ready(self, settings: Settings) -> Kit:
        """Return the kit; a model that has to be loaded first is loaded in a thread, so other requests continue."""
        held = None
        if settings.rag.reranker == "cross_encoder" and _kit_key(settings) not in self._made:
            held = await asyncio.to_thread(self.plain_reranker, settings)  # the kit shares these weights
        try:
            return self.kit(settings)
        finally:
            await close(held)

    def plain(self, settings: Settings, chosen: Llm | Fallback) -> LLM | None:
        """Return a configured language model without policies, to be closed by the caller, or None."""
        return None if provider_of(chosen) == "extractive" else self._load(settings, chosen)

    def plain_reranker(self, settings: Settings) -> Reranker | None:
        """Return the configured reranker without policies, to be closed by the caller; None if there is none."""
        name, options = settings.rag.reranker, settings.rerank.model_dump()
        if name == "none":
            return None
        return plugins.load(Reranker, plugins.PROVIDERS, name, options, embedder=self._embedder)

    async def close(self) -> None:
        """Close all providers."""
        await asyncio.gather(*self._closing)
        while self._made:
            _, kit = self._made.popitem()
            await _close(kit)

    def _make(self, settings: Settings) -> Kit:
        chosen = settings.answers.reader
        reader = None if chosen == "none" else plugins.load(Reader, plugins.PROVIDERS, chosen, {})
        extractive = plugins.load(LLM, plugins.PROVIDERS, "extractive", {}, embedder=self._embedder, reader=reader)
        return Kit(
            index=self._index,
            embedder=self._embedder,
            llm=extractive if provider_of(settings.llm) == "extractive" else self._llm(settings),
            extractive=extractive,
            reranker=self._reranker(settings),
            reader=reader,
        )

    def _llm(self, settings: Settings) -> LLM:
        first, other = self._make_resilient_llm(settings, settings.llm), settings.llm.fallback
        if provider_of(other) == "extractive":  # it is the last fallback anyway
            return first
        return FallbackLLM(first, self._make_resilient_llm(settings, other))

    def _make_resilient_llm(self, settings: Settings, chosen: Llm | Fallback) -> LLM:
        timeouts = Timeouts(first_token_timeout_s(settings.llm, chosen), settings.llm.timeout_s, "llm")
        policies = self._policies(address_of(chosen) or provider_of(chosen), settings)
        return ResilientLLM(self._load(settings, chosen), policies, timeouts)

    def _load(self, settings: Settings, chosen: Llm | Fallback) -> LLM:
        """Load a language model; a fallback has its own address and model, and shares the limits of the first one."""
        section = "llm" if isinstance(chosen, Llm) else "llm.fallback"
        shared = settings.llm.model_dump(include={"max_tokens", "timeout_s"})
        options = shared | chosen.model_dump() | {"section": section}
        return plugins.load(LLM, plugins.PROVIDERS, provider_of(chosen), options, embedder=self._embedder, reader=None)

    def _reranker(self, settings: Settings) -> Reranker | None:
        inner = self.plain_reranker(settings)
        if inner is None:
            return None
        name, address, allowed = settings.rag.reranker, rerank_address(settings), settings.rerank.timeout_s
        policies = self._policies(f"the reranker at {address}" if address else f"the reranker {name}", settings)
        return ResilientReranker(inner, policies, Timeouts(allowed, allowed, "rerank"))

    def _policies(self, who: str, settings: Settings) -> Policies:
        """Return the policies of a service; it keeps its circuit breaker when other settings change."""
        return self._policies_of.setdefault((who, settings.resilience), Policies(who, settings.resilience))

    def _close_unused(self) -> None:
        """Close the kits of earlier settings that are no longer in use."""
        for choice in [choice for choice, until in self._expires_at.items() if until < time.monotonic()]:
            del self._expires_at[choice]
            task = asyncio.get_running_loop().create_task(_close(self._made.pop(choice)))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


def _kit_key(settings: Settings) -> _KitKey:
    """The settings that determine a kit."""
    llm = settings.llm.model_copy(update=_PROMPT_DEFAULTS)
    return llm, settings.resilience, settings.rag.reranker, settings.rerank, settings.answers.reader


def provider_of(chosen: Llm | Fallback) -> str:
    """Return the provider name; by default an OpenAI-compatible server if an address is set, otherwise no model."""
    return chosen.provider or ("openai_compatible" if chosen.base_url else "extractive")


def address_of(chosen: Llm | Fallback) -> str:
    """Return the address of a model: from the settings or the provider's default; empty for a model in this process."""
    return without_login(chosen.base_url or default_address(provider_of(chosen)))


def is_on_this_machine(chosen: Llm | Fallback) -> bool:
    """Whether a model runs in this process or at a loopback address."""
    address = address_of(chosen)
    try:
        host = urlsplit(address).hostname or ""
        return not address or host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, or no valid address
        return False


def first_token_timeout_s(llm: Llm, chosen: Llm | Fallback) -> float:
    """Return the timeout for the first token of a model or its fallback.

    A model on this machine may use the whole time of a call: a processor takes minutes to read a long prompt, and a
    second call would read it again.
    """
    if llm.first_token_timeout_s is not None:
        return llm.first_token_timeout_s
    return llm.timeout_s if is_on_this_machine(chosen) else FIRST_TOKEN_TIMEOUT_S


def rerank_address(settings: Settings) -> str:
    """Return the address of the rerank server; empty if there is none."""
    return without_login(settings.rerank.base_url) if settings.rag.reranker == "rerank_api" else ""


def default_address(provider: str) -> str:
    """Return the default address of a provider; empty if it has none."""
    try:
        return str(getattr(plugins.find(LLM, plugins.PROVIDERS, provider), "HOME", ""))
    except SettingsError:  # reported when the provider is loaded
        return ""


def plain_embedder(settings: Settings) -> Embedder:
    """Return the configured embedder without policies, with one thread, since questions come one at a time."""
    options = settings.embedding.model_dump() | {"threads": 1}
    return plugins.load(Embedder, plugins.PROVIDERS, settings.embedding.provider, options)


def make_embedder(settings: Settings) -> Embedder:
    """Return the configured embedder with its policies."""
    return make_resilient(plain_embedder(settings), settings)


def make_resilient(inner: Embedder, settings: Settings) -> Embedder:
    """Add the policies to a remote embedder; a local one stays as it is."""
    chosen = settings.embedding
    if inner.local:
        return inner
    policies = Policies(f"the embedder {inner.name}", settings.resilience)
    return ResilientEmbedder(inner, policies, chosen.timeout_s, chosen.batch)


async def _close(kit: Kit) -> None:
    await close(kit.llm)
    await close(kit.reranker)
    await close(kit.reader)
