"""One typed tree of settings: defaults, then the environment, then what a caller passes in."""

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from pincite.errors import SettingsError

Share = Annotated[float, Field(ge=0, le=1)]


class _Branch(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Database(_Branch):
    """Where the facts, vectors and words live."""

    url: SecretStr | None = Field(
        default=None,
        description="An administrator's login to a PostgreSQL with pgvector, such as "
        "`postgresql://user:password@host/name`. Empty: an embedded server in the data folder.",
    )
    pool_size: int = Field(default=8, ge=2, le=200, description="Connections this process keeps at most.")
    shared_buffers_mb: int = Field(
        default=128, ge=16, le=65536, description="Memory the embedded server sets aside for pages."
    )


class Server(_Branch):
    """The HTTP service."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8377, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Host names requests may name besides localhost and the "
        "address listened on; protects against DNS rebinding.",
    )
    max_body_mb: int = Field(default=64, ge=1, le=4096, description="Largest request body.")


class Guard(_Branch):
    """What may come in."""

    max_query_chars: int = Field(default=4000, ge=1, le=100_000, description="Longest question, in characters.")


class Rag(_Branch):
    """How passages are found."""

    top_k: int = Field(default=10, ge=1, le=1000, description="Passages a search returns and an answer may stand on.")
    candidates: int = Field(default=100, ge=1, le=10_000, description="Passages each engine brings before fusion.")
    use_hybrid_search: bool = Field(default=True, description="Search by words as well as by meaning.")
    fusion: Literal["relative_score", "rrf"] = Field(
        default="relative_score", description="How the engines' rankings are joined."
    )
    alpha: Share = Field(
        default=0.5, description="Weight of meaning against words in relative-score fusion; 0 is words only."
    )
    rrf_k: int = Field(default=30, ge=1, le=1000, description="Constant of reciprocal rank fusion between engines.")
    multi_query_rrf_k: int = Field(
        default=60, ge=1, le=1000, description="Constant of reciprocal rank fusion between queries."
    )
    max_queries: int = Field(default=5, ge=1, le=5, description="Queries one call of query-many may hold.")
    similarity_threshold: Share = Field(
        default=0.02, description="Passages of lower relevance are not used for answers; 0 uses all."
    )
    reranker: str = Field(
        default="none", description="Who orders the best passages anew: `none`, or the name of a reranker."
    )
    rerank_top: int = Field(default=20, ge=1, le=200, description="Passages the reranker sees.")
    exact_rows: int = Field(
        default=4000,
        ge=0,
        description="Up to this many admitted vectors, search by meaning compares them all (five times as many where "
        "a filter narrows the search); above, it uses the HNSW index.",
    )
    ef_search: int = Field(default=120, ge=10, le=1000, description="Breadth of the HNSW search.")
    bm25_k1: float = Field(default=1.2, ge=0, le=10, description="BM25: how fast repeated words stop counting.")
    bm25_b: Share = Field(default=0.75, description="BM25: how much long passages are discounted.")


class Llm(_Branch):
    """Who writes the answer."""

    provider: str = Field(
        default="",
        description="`extractive`, `openai_compatible`, `scripted`, or a dotted path. Empty: "
        "`openai_compatible` where a base URL is set, else `extractive`.",
    )
    base_url: str = Field(default="", description="An OpenAI-style server, such as `http://127.0.0.1:11434/v1`.")
    api_key: SecretStr | None = Field(default=None, description="Key for that server. From the environment only.")
    model: str = Field(default="", description="Model to ask for.")
    temperature: float = Field(default=0.3, ge=0, le=2, description="Sampling temperature.")
    max_tokens: int = Field(default=1000, ge=1, le=100_000, description="Longest answer, in tokens.")
    window: int = Field(
        default=8192, ge=512, le=10_000_000, description="Tokens the model can see, prompt and answer together."
    )
    timeout_s: float = Field(default=120, gt=0, le=3600, description="Longest wait for the model, in seconds.")
    question_timeout_s: float = Field(
        default=180, gt=0, le=3600, description="Longest time for a whole question, in seconds."
    )


class Embedding(_Branch):
    """Who turns text into vectors."""

    provider: str = Field(
        default="minilm", description="`minilm` (embedded), `openai_compatible`, `scripted`, or a dotted path."
    )
    path: str = Field(
        default="",
        description="Folder with the weights of the embedded model (`model.safetensors`, `tokenizer.json`). "
        "Empty: those of the installed package.",
    )
    allow_download: bool = Field(default=False, description="Fetch missing weights from the model hub.")
    base_url: str = Field(default="", description="An OpenAI-style server for embeddings.")
    api_key: SecretStr | None = Field(default=None, description="Key for that server. From the environment only.")
    model: str = Field(default="", description="Model to ask that server for.")
    dimensions: int = Field(default=0, ge=0, le=4000, description="Dimensions of that model's vectors.")
    timeout_s: float = Field(default=30, gt=0, le=3600, description="Longest wait for that server, in seconds.")
    batch: int = Field(default=10, ge=1, le=2048, description="Texts a request to that server holds.")
    threads: int = Field(
        default=0, ge=0, le=256, description="Threads for bulk embedding on this machine; 0 takes all cores."
    )


class Chunking(_Branch):
    """How documents are cut into passages. A change applies to documents added or changed after it."""

    size: int = Field(default=500, ge=20, le=8000, description="Tokens a passage holds at most.")
    overlap: int = Field(default=50, ge=0, le=4000, description="Tokens a passage shares with the one before.")
    tokenizer: Literal["cl100k_base", "o200k_base"] = Field(
        default="cl100k_base", description="Tokenizer that counts them."
    )


class Context(_Branch):
    """What a model is shown."""

    max_tokens: int = Field(
        default=0, ge=0, le=1_000_000, description="Tokens of passages in a prompt; 0 is 56 % of the model's window."
    )


class Ingest(_Branch):
    """How files come in."""

    max_markdown_mb: float = Field(default=10, gt=0, le=1024, description="Largest Markdown or text file.")
    max_pdf_mb: float = Field(default=50, gt=0, le=4096, description="Largest PDF file.")
    dedupe: bool = Field(default=True, description="Embed equal text of one owner once.")
    workers: int = Field(default=2, ge=0, le=64, description="Documents processed at the same time by one process.")
    parse_memory_mb: int = Field(default=1024, ge=128, le=65536, description="Memory a parser may use.")
    parse_timeout_s: float = Field(default=120, gt=0, le=3600, description="Time a parser may take for one file.")
    attempts: int = Field(default=3, ge=1, le=20, description="Tries for a document whose processing was cut off.")
    lease_s: float = Field(
        default=30, ge=2, le=3600, description="A worker that is silent for so long is taken for dead."
    )


class Traces(_Branch):
    """What is kept about past requests."""

    content: bool = Field(default=False, description="Keep the question's words in its trace.")
    retention_days: int = Field(default=30, ge=1, le=3650, description="Days a trace is kept.")


class Settings(_Branch):
    """All settings, frozen: a run sees one snapshot however long it takes."""

    data: Path = Field(
        default_factory=lambda: default_data_folder(),
        description="The data folder: files, the embedded database and its password. Whoever can read it owns it.",
    )
    category_labels: Mapping[str, str] = Field(
        default_factory=dict,
        description="What categories are called in answers, by the folder's or the front matter's own name; in the "
        'environment as JSON, such as `{"hr": "Human resources"}`.',
    )
    database: Database = Database()
    server: Server = Server()
    guard: Guard = Guard()
    rag: Rag = Rag()
    llm: Llm = Llm()
    embedding: Embedding = Embedding()
    chunking: Chunking = Chunking()
    context: Context = Context()
    ingest: Ingest = Ingest()
    traces: Traces = Traces()


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
}
"""Environment names of other systems that are read too; a `PINCITE_…` name wins over them."""


def environment() -> Mapping[str, str]:
    """The process's environment; nobody else reads it."""
    return os.environ


def forbid_telemetry() -> None:
    """Switch off what libraries would send home; called before any such library is imported."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def default_data_folder() -> Path:
    """Where data goes unless told otherwise."""
    base = environment().get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "pincite"


def cache_folder() -> Path:
    """Where files that can be made again are kept."""
    base = environment().get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pincite"


def environment_name(key: str) -> str:
    """`rag.top_k` → `PINCITE_RAG__TOP_K`."""
    return "PINCITE_" + key.upper().replace(".", "__")


def describe(branch: type[BaseModel] = Settings, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of the tree with its pydantic field, in the order written."""
    for name, field in branch.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from describe(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def load_settings(overrides: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """Build the tree: defaults, then the environment, then `overrides` by dotted key."""
    values = {**_from_environment(environment() if env is None else env), **(overrides or {})}
    known = [key for key, _ in describe()]
    tree: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise SettingsError(f"there is no setting '{key}'{_nearest(key, known)}")
        *path, leaf = key.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[leaf] = _parsed(key, value)
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"setting '{key}': {first['msg']} (was {_shown(key, first['input'])})") from None


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    names = {environment_name(key): key for key, _ in describe()}
    values: dict[str, Any] = {key: env[name] for name, key in ALIASES.items() if env.get(name)}
    for name, value in env.items():
        if name in names:
            values[names[name]] = value
        elif name.startswith("PINCITE_") and name not in ALIASES and not name.startswith("PINCITE_TEST_"):
            raise SettingsError(f"the environment names no setting with {name}{_nearest(name, list(names))}")
    return values


def _parsed(key: str, value: Any) -> Any:
    """Lists are written with commas and tables as JSON where only text can be given."""
    if isinstance(value, str) and key == "server.allowed_hosts":
        return tuple(filter(None, value.split(",")))
    if isinstance(value, str) and key == "category_labels":
        try:
            return json.loads(value)
        except ValueError:
            raise SettingsError('setting \'category_labels\' must be JSON such as {"hr": "Human resources"}') from None
    return value


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def _shown(key: str, value: object) -> str:
    return "hidden" if key.endswith(("api_key", "database.url")) else repr(value)
