"""Describe where text is sent: the models that answer, embed and rerank, and their addresses."""

from pathlib import Path
from urllib.parse import urlsplit

from pincite.config.branches.generation import Fallback, Llm
from pincite.config.settings import Settings
from pincite.core.protocols import Embedder
from pincite.models.kit_factory import address_of, provider_of, rerank_address
from pincite.text.sentences import without_login


def where_text_goes(embedder: Embedder, settings: Settings) -> str:
    """Return one line about all models, for the start of the server."""
    reranked = "" if settings.rag.reranker == "none" else f"; reranking: {reranking_from(settings)}"
    return f"answers: {answers_from(settings)}; embeddings: {embeddings_from(embedder, settings)}{reranked}"


def answers_from(settings: Settings) -> str:
    """Return `extractive, on this machine`, or the model, its address and its fallback."""
    other = settings.llm.fallback
    instead = "" if provider_of(other) == "extractive" else f", or {_from(other)} where that fails"
    return _from(settings.llm) + instead


def _from(chosen: Llm | Fallback) -> str:
    name, address = provider_of(chosen), address_of(chosen)
    if name == "extractive":
        return f"{name}, on this machine"
    if name == "llama":
        return f"{chosen.model or Path(getattr(chosen, 'path', '')).name or name}, on this machine"
    return f"{chosen.model or name} at {address}" if address else name


def embeddings_from(embedder: Embedder, settings: Settings) -> str:
    """Return `pincite_embed, on this machine`, or the embedding model and its address."""
    chosen = settings.embedding
    if embedder.local:
        return f"{chosen.provider}, on this machine"
    return (
        f"{chosen.model or chosen.provider} at {without_login(chosen.base_url)}" if chosen.base_url else chosen.provider
    )


def reranking_from(settings: Settings) -> str:
    """Return `cosine, as embeddings`, or the reranker and its address."""
    name, address = settings.rag.reranker, rerank_address(settings)
    if address:
        return f"{settings.rerank.model or name} at {address}"
    here = {"cosine": "cosine, as embeddings", "cross_encoder": "cross_encoder, on this machine"}
    return here.get(name, name)


def host_and_port(url: str) -> tuple[str, int]:
    """Return the host and port of a URL."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
