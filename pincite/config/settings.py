"""The typed tree of settings: each key with description, range and default. Only this module reads the environment."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, Field, PrivateAttr

from pincite.config.branches.base import Branch
from pincite.config.branches.engines import Graph, Late, Tree
from pincite.config.branches.generation import (
    Agent,
    Answers,
    Citations,
    ConfidenceRule,
    Context,
    Conversation,
    Grounding,
    Guard,
    Llm,
    Resilience,
)
from pincite.config.branches.ingestion import Chunking, Enrichment, Ingest, Versions, Web
from pincite.config.branches.retrieval import Cache, Embedding, Rag, Rerank, Spelling
from pincite.config.branches.server import Access, Database, Limits, Logs, Oidc, Server, Traces


class Settings(Branch):
    """All settings, frozen: a request uses one snapshot until it ends."""

    _revision: int = PrivateAttr(default=0)

    data: Path = Field(
        default_factory=lambda: default_data_folder(),
        description="The data folder: files, the embedded database and its password. Anyone who can read it has full "
        "access.",
    )
    category_labels: Mapping[str, str] = Field(
        default_factory=dict,
        description="Display names of categories in answers, by the name in the folder or the front matter; in the "
        'environment as JSON, such as `{"hr": "Human resources"}`.',
    )
    database: Database = Database()
    server: Server = Server()
    access: Access = Access()
    oidc: Oidc = Oidc()
    limits: Limits = Limits()
    guard: Guard = Guard()
    rag: Rag = Rag()
    llm: Llm = Llm()
    agent: Agent = Agent()
    resilience: Resilience = Resilience()
    embedding: Embedding = Embedding()
    rerank: Rerank = Rerank()
    chunking: Chunking = Chunking()
    enrichment: Enrichment = Enrichment()
    graph: Graph = Graph()
    tree: Tree = Tree()
    late: Late = Late()
    context: Context = Context()
    citations: Citations = Citations()
    answers: Answers = Answers()
    grounding: Grounding = Grounding()
    confidence: ConfidenceRule = ConfidenceRule()
    conversation: Conversation = Conversation()
    spelling: Spelling = Spelling()
    cache: Cache = Cache()
    ingest: Ingest = Ingest()
    web: Web = Web()
    versions: Versions = Versions()
    traces: Traces = Traces()
    logs: Logs = Logs()

    @property
    def revision(self) -> int:
        """The number of the last settings change in the database that this snapshot includes; 0 if none."""
        return self._revision

    def at(self, revision: int) -> Self:
        """Return a copy with this revision."""
        copy = self.model_copy()
        copy._revision = revision
        return copy


ALIASES: Mapping[str, str] = {
    "PINCITE_DATABASE_URL": "database.url",
    "LLM_BASE_URL": "llm.base_url",
    "LLM_API_KEY": "llm.api_key",
    "LLM_MODEL": "llm.model",
    "LLM_TEMPERATURE": "llm.temperature",
    "LLM_MAX_TOKENS": "llm.max_tokens",
    "RETRIEVAL_TOP_K": "rag.top_k",
    "RELEVANCE_THRESHOLD": "rag.similarity_threshold",
    "MAX_CONTEXT_TOKENS": "context.max_tokens",
    "OPENROUTER_EMBEDDING_MODEL": "embedding.model",
    "OPENROUTER_CHUNK_ENRICHMENT_MODEL": "enrichment.model",
    "ZOEFLOW_LLM_AUGMENTED_CHUNKING": "enrichment.enabled",
}
"""Environment variables of other systems that are also read; a `PINCITE_…` variable wins."""


SECRET_PREFIX = "PINCITE_SECRET_"  # noqa: S105
"""Environment variables that hold the credentials of sources begin with this; they are no settings."""


def environment() -> Mapping[str, str]:
    """The environment of the process; the only access to it."""
    return os.environ


def forbid_telemetry() -> None:
    """Disable the telemetry of libraries; call this before they are imported."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def default_data_folder() -> Path:
    """The default data folder."""
    base = environment().get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "pincite"


def cache_folder() -> Path:
    """The folder for files that can be regenerated."""
    base = environment().get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pincite"


def environment_name(key: str) -> str:
    """The environment variable of a key: `rag.top_k` → `PINCITE_RAG__TOP_K`."""
    return "PINCITE_" + key.upper().replace(".", "__")


def iter_fields(branch: type[BaseModel] = Settings, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key of the tree with its pydantic field, in declaration order."""
    for name, field in branch.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from iter_fields(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field
