"""The tools of a request, made from the settings: embedder, answerer, reranker."""

import asyncio
import time
from typing import Any

from pincite import plugins
from pincite.config.branches.generation import Fallback, Llm
from pincite.config.settings import Settings
from pincite.core.protocols import LLM, Embedder, Index, Reranker
from pincite.core.run import Kit
from pincite.errors import SettingsError
from pincite.models.resilience import Patience, Policies
from pincite.models.resilient import FallbackLLM, ResilientEmbedder, ResilientLLM, ResilientReranker, close
from pincite.text.sentences import without_login

_Choice = tuple[Any, ...]
_SAID_WITH_THE_PROMPT = {name: Llm.model_fields[name].default for name in ("temperature", "top_p", "max_tokens")}


class KitFactory:
    """Makes the kit for a snapshot of the settings; equal provider settings share one.

    A question ends after `llm.question_timeout_s`, so a kit that nobody took for longer than that is in nobody's hands.
    """

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder
        self._made: dict[_Choice, Kit] = {}
        self._taken: dict[_Choice, float] = {}
        self._steadied: dict[_Choice, Policies] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def kit(self, settings: Settings) -> Kit:
        """The tools these settings ask for; how warmly and how long a model writes is said with each prompt."""
        wanted = _wanted(settings)
        if wanted not in self._made:
            self._made[wanted] = self._make(settings.model_copy(update={"llm": wanted[0]}))
            self._let_go()
        self._taken[wanted] = time.monotonic() + settings.llm.question_timeout_s
        return self._made[wanted]

    def model(self, settings: Settings) -> LLM | None:
        """The configured model with what belongs around it; None where no model is configured."""
        return None if provider_of(settings.llm) == "extractive" else self.kit(settings).llm

    async def ready(self, settings: Settings) -> Kit:
        """The same; a model that has to be loaded first is loaded in a thread, while others are served."""
        held = None
        if settings.rag.reranker == "cross_encoder" and _wanted(settings) not in self._made:
            held = await asyncio.to_thread(self.plain_reranker, settings)  # whoever asks for it now shares its weights
        try:
            return self.kit(settings)
        finally:
            await close(held)

    def plain(self, settings: Settings, chosen: Llm | Fallback) -> LLM | None:
        """A configured model with nothing around it, closed by whoever asks for it; None where no model is configured."""
        return None if provider_of(chosen) == "extractive" else self._load(settings, chosen)

    def plain_reranker(self, settings: Settings) -> Reranker | None:
        """The configured reranker with nothing around it, closed by whoever asks for it; None where there is none."""
        name, options = settings.rag.reranker, settings.rerank.model_dump()
        return (
            None
            if name == "none"
            else plugins.load(Reranker, plugins.PROVIDERS, name, options, embedder=self._embedder)
        )

    async def close(self) -> None:
        """Let go of what the providers hold."""
        await asyncio.gather(*self._closing)
        while self._made:
            _, kit = self._made.popitem()
            await _close(kit)

    def _make(self, settings: Settings) -> Kit:
        extractive = plugins.load(LLM, plugins.PROVIDERS, "extractive", {}, embedder=self._embedder)
        return Kit(
            index=self._index,
            embedder=self._embedder,
            llm=extractive if provider_of(settings.llm) == "extractive" else self._llm(settings),
            extractive=extractive,
            reranker=self._reranker(settings),
        )

    def _llm(self, settings: Settings) -> LLM:
        first, other = self._steady(settings, settings.llm), settings.llm.fallback
        if provider_of(other) == "extractive":  # which steps in anyway
            return first
        return FallbackLLM(first, self._steady(settings, other))

    def _steady(self, settings: Settings, chosen: Llm | Fallback) -> LLM:
        patience = Patience(settings.llm.first_token_timeout_s, settings.llm.timeout_s, "llm")
        policies = self._policies(address_of(chosen) or provider_of(chosen), settings)
        return ResilientLLM(self._load(settings, chosen), policies, patience)

    def _load(self, settings: Settings, chosen: Llm | Fallback) -> LLM:
        """A fallback has its own place and model; all else by the table and as for the first."""
        section = "llm" if isinstance(chosen, Llm) else "llm.fallback"
        shared = settings.llm.model_dump(include={"max_tokens", "timeout_s"})
        options = shared | chosen.model_dump() | {"section": section}
        return plugins.load(LLM, plugins.PROVIDERS, provider_of(chosen), options, embedder=self._embedder)

    def _reranker(self, settings: Settings) -> Reranker | None:
        inner = self.plain_reranker(settings)
        if inner is None:
            return None
        name, address, allowed = settings.rag.reranker, rerank_address(settings), settings.rerank.timeout_s
        policies = self._policies(f"the reranker at {address}" if address else f"the reranker {name}", settings)
        return ResilientReranker(inner, policies, Patience(allowed, allowed, "rerank"))

    def _policies(self, who: str, settings: Settings) -> Policies:
        """One breaker for each service, whatever else changes about how it is used."""
        return self._steadied.setdefault((who, settings.resilience), Policies(who, settings.resilience))

    def _let_go(self) -> None:
        """Close the kits of earlier settings that nobody can be using any more."""
        for choice in [choice for choice, until in self._taken.items() if until < time.monotonic()]:
            del self._taken[choice]
            task = asyncio.get_running_loop().create_task(_close(self._made.pop(choice)))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


def _wanted(settings: Settings) -> _Choice:
    """What a kit is made from."""
    llm = settings.llm.model_copy(update=_SAID_WITH_THE_PROMPT)
    return llm, settings.resilience, settings.rag.reranker, settings.rerank


def provider_of(chosen: Llm | Fallback) -> str:
    """The provider's name, where it is not said: an OpenAI-style server if there is an address, else no model."""
    return chosen.provider or ("openai_compatible" if chosen.base_url else "extractive")


def address_of(chosen: Llm | Fallback) -> str:
    """Where the model is: as the settings say, or where its provider is at home; empty for one on this machine."""
    return without_login(chosen.base_url or home_of(provider_of(chosen)))


def rerank_address(settings: Settings) -> str:
    """Where passages go to be put in order; empty where that is on this machine, or nobody does."""
    return without_login(settings.rerank.base_url) if settings.rag.reranker == "rerank_api" else ""


def home_of(provider: str) -> str:
    """Where a provider's server is unless the settings say; empty where it has no place of its own."""
    try:
        return str(getattr(plugins.find(LLM, plugins.PROVIDERS, provider), "HOME", ""))
    except SettingsError:  # whoever makes it will say so
        return ""


def plain_embedder(settings: Settings) -> Embedder:
    """The configured embedder with nothing around it, with one thread: questions come one at a time."""
    options = settings.embedding.model_dump() | {"threads": 1}
    return plugins.load(Embedder, plugins.PROVIDERS, settings.embedding.provider, options)


def make_embedder(settings: Settings) -> Embedder:
    """The configured embedder with what belongs around it."""
    return resilient(plain_embedder(settings), settings)


def resilient(inner: Embedder, settings: Settings) -> Embedder:
    """An embedder as these settings want it: one that works elsewhere may be down for a moment, and is treated so."""
    chosen = settings.embedding
    if inner.local:
        return inner
    policies = Policies(f"the embedder {inner.name}", settings.resilience)
    return ResilientEmbedder(inner, policies, chosen.timeout_s, chosen.batch)


async def _close(kit: Kit) -> None:
    await close(kit.llm)
    await close(kit.reranker)
