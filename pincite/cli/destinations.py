"""Where text goes: who answers and who embeds, on this machine or elsewhere."""

from urllib.parse import urlsplit

from pincite.core.protocols import Embedder
from pincite.settings import Settings


def where_text_goes(embedder: Embedder, settings: Settings) -> str:
    """One line for whoever starts the service."""
    return f"answers: {answers_from(settings)}; embeddings: {embeddings_from(embedder, settings)}"


def answers_from(settings: Settings) -> str:
    """`extractive, on this machine`, or the model and its address."""
    llm = settings.llm
    name = llm.provider or ("openai_compatible" if llm.base_url else "extractive")
    if name == "extractive":
        return f"{name}, on this machine"
    return f"{llm.model or name} at {without_login(llm.base_url)}" if llm.base_url else name


def embeddings_from(embedder: Embedder, settings: Settings) -> str:
    """`minilm, on this machine`, or the model and its address."""
    chosen = settings.embedding
    if embedder.local:
        return f"{chosen.provider}, on this machine"
    return (
        f"{chosen.model or chosen.provider} at {without_login(chosen.base_url)}" if chosen.base_url else chosen.provider
    )


def without_login(url: str) -> str:
    """The address without a name and password that may stand in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def host_and_port(url: str) -> tuple[str, int]:
    """Whom to connect to."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
