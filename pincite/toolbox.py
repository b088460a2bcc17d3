"""The tools of a request, made from the settings: embedder, answerer, reranker."""

from pincite import plugins
from pincite.core.protocols import LLM, Embedder, Index, Reranker
from pincite.core.run import Kit
from pincite.settings import Settings

PROVIDERS = "pincite.providers"


class Toolbox:
    """Makes the kit for a snapshot of the settings; equal provider settings share one."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder
        self._made: dict[str, Kit] = {}

    def kit(self, settings: Settings) -> Kit:
        """The tools these settings ask for."""
        wanted = f"{settings.llm!r} {settings.rag.reranker}"
        if wanted not in self._made:
            self._made[wanted] = self._make(settings)
        return self._made[wanted]

    def _make(self, settings: Settings) -> Kit:
        llm, rag = settings.llm, settings.rag
        offered = {"embedder": self._embedder}
        name = llm.provider or ("openai_compatible" if llm.base_url else "extractive")
        extractive = plugins.load(LLM, PROVIDERS, "extractive", {}, **offered)
        return Kit(
            index=self._index,
            embedder=self._embedder,
            llm=extractive if name == "extractive" else plugins.load(LLM, PROVIDERS, name, llm.model_dump(), **offered),
            extractive=extractive,
            reranker=None if rag.reranker == "none" else plugins.load(Reranker, PROVIDERS, rag.reranker, {}, **offered),
        )

    async def close(self) -> None:
        """Let go of what the providers hold."""
        for kit in self._made.values():
            for provider in (kit.llm, kit.reranker):
                if close := getattr(provider, "close", None):
                    await close()
