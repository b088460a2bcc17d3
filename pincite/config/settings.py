"""One typed tree of settings, each key with its meaning, range and default; the only reader of the environment."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, SecretStr

Share = Annotated[float, Field(ge=0, le=1)]
Enrichable = Literal[
    "summary", "possible_queries", "source_uri", "heading_path", "author", "description", "tags", "content_type"
]  # fmt: skip
"""What may be embedded with a passage."""


def _web_origin(text: str) -> str:
    """What a browser calls an origin: scheme, host and, where it is not the usual one, port."""
    if not re.fullmatch(r"https?://[^/?#@*\s]+", text):
        raise ValueError(f"must hold origins such as https://intranet.example, without a path; '{text}' is none")
    return text


WebOrigin = Annotated[str, AfterValidator(_web_origin)]


class _Branch(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Database(_Branch):
    """Where the facts, vectors and words live."""

    url: SecretStr | None = Field(
        default=None,
        description="An administrator's login to a PostgreSQL with pgvector, such as "
        "`postgresql://user:password@host/name`. Empty: an embedded server in the data folder.",
    )
    pool_size: int = Field(
        default=12,
        ge=2,
        le=200,
        description="Connections this process keeps at most, beside the one that listens for changed settings.",
    )
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
    allowed_origins: tuple[WebOrigin, ...] = Field(
        default=(),
        description="Pages of other sites that may call the service from a browser, by a key, such as "
        "`https://intranet.example`; never all of them. Empty: none.",
    )
    max_body_mb: int = Field(default=64, ge=1, le=4096, description="Largest request body.")
    max_connections: int = Field(
        default=1000,
        ge=8,
        le=1_000_000,
        description="Connections open at once, fewer where the process may not open so many files; the next is refused.",
    )


class Limits(_Branch):
    """How much one user may use, so that nobody spoils it for others; 0 is as much as they like. See docs/limits.md."""

    requests_per_minute: int = Field(
        default=6000,
        ge=0,
        le=10_000_000,
        description="Requests of one user a minute, over all their keys and logins: far above what people and their "
        "programs make, and below what a program gone wild does.",
    )
    questions_per_minute: int = Field(
        default=1200, ge=0, le=10_000_000, description="Questions among these, which a model answers."
    )
    anonymous_per_minute: int = Field(
        default=600,
        ge=0,
        le=10_000_000,
        description="Requests from one address a minute that bring no key or login that counts.",
    )
    streams: int = Field(
        default=64, ge=0, le=100_000, description="Answers of one user that are on their way at once as streams."
    )
    tokens_per_day: int = Field(
        default=0,
        ge=0,
        le=10**12,
        description="Tokens that models read and write a day (UTC) to answer one user; what an answer may be long at most "
        "is set aside when it begins. Off: who pays for a model knows what they can spend.",
    )
    jobs: int = Field(
        default=0,
        ge=0,
        le=10**9,
        description="Documents of one user that wait to be processed. Off: who has least in hand goes before others anyway.",
    )
    documents: int = Field(
        default=0,
        ge=0,
        le=10**9,
        description="Documents one user may own. This and the next do not hold for the owner of the data folder.",
    )
    storage_mb: int = Field(
        default=0, ge=0, le=10**9, description="Megabytes that the files of one user may take, all their versions."
    )
    at_once: int = Field(
        default=4,
        ge=1,
        le=1000,
        description="Searches that one server makes at the same time, two database connections each (`database.pool_size`); "
        "a question needs its place only until its passages are found. Others wait, each user in turn.",
    )
    waiting: int = Field(
        default=128, ge=0, le=100_000, description="Searches that may wait for that; the next is refused at once (503)."
    )
    waiting_per_user: int = Field(
        default=32,
        ge=0,
        le=100_000,
        description="Those of one user among them while others are there, too; their next is refused at once (429).",
    )


class Access(_Branch):
    """What administrators see of others."""

    administrators_read: bool = Field(
        default=False,
        description="Whether administrators may look at users' documents, conversations and traces (`?owner=USER`); "
        "each look is in the audit log. Otherwise they read what is shared with them, as anybody does.",
    )


class Oidc(_Branch):
    """Logging in through a provider (OpenID Connect); see docs/oidc.md. Needs the extra `oidc`."""

    issuer: str = Field(
        default="", description="The provider's address, such as `https://login.example/realms/staff`. Empty: none."
    )
    client_id: str = Field(default="", description="What the provider calls this service.")
    client_secret: SecretStr | None = Field(
        default=None, description="What proves that to it, where it asks for that. From the environment only."
    )
    redirect_url: str = Field(
        default="",
        description="Where the provider sends browsers back to, as registered there: the address of "
        "`/api/v1/auth/oidc/callback` as browsers see it. Empty: as the request names it.",
    )
    scopes: tuple[str, ...] = Field(
        default=("openid", "profile", "email"), description="What the provider is asked for."
    )
    name_claim: str = Field(
        default="preferred_username",
        description="The claim that is a user's name here, the first time; `email` counts only if it is verified.",
    )
    groups_claim: str = Field(
        default="",
        description="The claim that lists groups: at each login the user is put into those of these names that exist here, "
        "and taken out of all others. Empty: groups are managed here.",
    )
    create_users: bool = Field(
        default=False, description="Whether somebody the provider vouches for and nobody knows is added; else refused."
    )
    create_role: Literal["reader", "editor"] = Field(default="reader", description="The role they get then.")
    allow_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts besides the issuer's own that the provider may name for its tokens and keys."
    )
    timeout_s: float = Field(default=10, gt=0, le=60, description="Longest wait for the provider, in seconds.")


class Guard(_Branch):
    """What may come in."""

    max_query_chars: int = Field(default=4000, ge=1, le=100_000, description="Longest question, in characters.")
    injection: Literal["off", "warn", "block"] = Field(
        default="warn",
        description="What becomes of a question that reads like an order to the model: nothing, a warning in the answer, "
        "or a refusal. Passages that read so only ever get a warning.",
    )


class Penalties(_Branch):
    """What passages lose of their score that hold many words and seldom an answer; told by heading and shape when indexed."""

    glossary: Share = Field(default=0.3, description="Share of its score that a glossary's passage loses; 0 is none.")
    contents: Share = Field(default=0.5, description="The same for a table of contents.")
    image_credits: Share = Field(default=0.4, description="The same for a list of image credits.")


class Expansion(_Branch):
    """Further passages of the best documents that join what an answer stands on."""

    enabled: bool = Field(default=False, description="Whether they do.")
    max_documents: int = Field(default=3, ge=1, le=50, description="Documents that are looked into, best first.")
    max_chunks: int = Field(default=20, ge=1, le=200, description="Passages of each at most.")
    threshold: Share = Field(
        default=0.3, description="Passages below this are left out; it reads what `rag.threshold_on` says."
    )


class Rag(_Branch):
    """How passages are found."""

    top_k: int = Field(default=10, ge=1, le=1000, description="Passages a search returns and an answer may stand on.")
    max_per_owner: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="Passages that any one other person's documents may have among those found; one's own are not "
        "counted. 0: no limit.",
    )
    candidates: int = Field(default=100, ge=1, le=10_000, description="Passages each engine brings before fusion.")
    use_hybrid_search: bool = Field(default=True, description="Search by words as well as by meaning.")
    strategy: Literal["auto", "hybrid", "dense_only", "lexical_only", "fusion", "two_stage", "hierarchical"] = Field(
        default="hybrid",
        description="How to search unless a request says: one of the strategies, or `auto`, by the kind of question; see "
        "docs/strategies.md.",
    )
    mode: Literal["always", "automatic", "manual"] = Field(
        default="always",
        description="When documents are looked into: for every question; not for greetings, thanks and talk about the "
        "conversation; or only where a request asks for it (`rag.enabled`).",
    )
    fusion: Literal["relative_score", "rrf"] = Field(
        default="relative_score", description="How the engines' rankings are joined."
    )
    alpha: Share = Field(
        default=0.5, description="Weight of meaning against words in relative-score fusion; 0 is words only."
    )
    relative_to: Literal["possible", "found"] = Field(
        default="possible",
        description="What a relative score is relative to: the best score possible (a cosine of 1; every word of the "
        "question, as often as counts), or the range between the worst and the best found.",
    )
    follow_titles: Share = Field(
        default=0.2,
        description="Where one of the three best passages names the title of another document, the best passage of that "
        "document gains this share of its score; half of this where the question names the title. 0 follows none.",
    )
    rrf_k: int = Field(default=30, ge=1, le=1000, description="Constant of reciprocal rank fusion between engines.")
    multi_query_rrf_k: int = Field(
        default=60, ge=1, le=1000, description="Constant of reciprocal rank fusion between queries."
    )
    max_queries: int = Field(
        default=5,
        ge=1,
        le=5,
        description="Queries one call of query-many may hold, and texts one question is searched by.",
    )
    query_expansion_enabled: bool = Field(
        default=False, description="Let the model put a question in other words, which are searched, too."
    )
    hyde_enabled: bool = Field(
        default=False,
        description="Let the model guess what a passage would say that answers a question of less than five words which names "
        "nothing; what is like it is searched for, too.",
    )
    step_back_enabled: bool = Field(
        default=False, description="Let the model ask the more general question behind one, which is searched, too."
    )
    similarity_threshold: Share = Field(
        default=0.02, description="Passages of lower relevance are not used for answers; 0 uses all."
    )
    threshold_on: Literal["relevance", "similarity"] = Field(
        default="relevance",
        description="What that threshold reads: the calibrated relevance, or the cosine of question and passage.",
    )
    reranker: str = Field(
        default="none",
        description="Who orders the best passages anew: `none`, `cosine`, `cross_encoder`, `rerank_api`, `scripted`, or "
        "a dotted path.",
    )
    rerank_top: int = Field(default=20, ge=1, le=200, description="Passages the reranker sees.")
    drop_duplicates: bool = Field(
        default=True,
        description="Passages that are the same but for less than a twentieth of their words, no figure and no name among "
        "these, appear once; the best stands for all and names the others.",
    )
    mmr: Literal["off", "auto", "on"] = Field(
        default="auto",
        description="Whether passages that say something else go before ones like those already chosen: `auto` does so "
        "for comparisons.",
    )
    mmr_lambda: Share = Field(
        default=0.8,
        description="Weight of the score against being unlike the others where `rag.mmr` acts; 1 is score only.",
    )
    verification_enabled: bool = Field(
        default=True,
        description="Judge each passage once more before an answer stands on it: one that is far less relevant than the "
        "best is removed.",
    )
    verification_by: Literal["rules", "model"] = Field(
        default="rules",
        description="Who judges: rules on the calibrated relevance, or after them the model as well, in one call for all.",
    )
    second_look: bool = Field(
        default=False,
        description="Search once more, for what of the question the passages found say nothing about.",
    )
    exact_rows: int = Field(
        default=4000,
        ge=0,
        le=10_000_000,
        description="Up to this many admitted vectors, search by meaning compares them all (five times as many where "
        "a filter leaves less than an eighth of the library); above, it uses the HNSW index.",
    )
    ef_search: int = Field(default=120, ge=10, le=1000, description="Breadth of the HNSW search.")
    bm25_k1: float = Field(default=1.2, ge=0, le=10, description="BM25: how fast repeated words stop counting.")
    bm25_b: Share = Field(default=0.75, description="BM25: how much long passages are discounted.")
    penalties: Penalties = Penalties()
    expansion: Expansion = Expansion()


class Fallback(_Branch):
    """Who writes when the model cannot be reached."""

    provider: str = Field(
        default="", description="As `llm.provider`. Empty: `openai_compatible` where a base URL is set, else nobody."
    )
    base_url: str = Field(default="", description="The other server's address.")
    api_key: SecretStr | None = Field(default=None, description="Key for that server. From the environment only.")
    model: str = Field(default="", description="Model to ask that server for; empty takes the first it offers.")


class Llm(_Branch):
    """Who writes the answer."""

    provider: str = Field(
        default="",
        description="`extractive`, `openai_compatible`, `ollama`, `anthropic`, `llama`, `scripted`, or a dotted path. Empty: "
        "`openai_compatible` where a base URL is set, else `extractive`.",
    )
    base_url: str = Field(
        default="",
        description="The model server's address, such as `http://127.0.0.1:8080/v1`; Ollama and Anthropic have their own.",
    )
    api_key: SecretStr | None = Field(default=None, description="Key for that server. From the environment only.")
    model: str = Field(default="", description="Model to ask for; empty takes the first that the server offers.")
    path: str = Field(
        default="", description="The GGUF file that the provider `llama` reads. From the environment or a file only."
    )
    tools: bool | None = Field(
        default=None,
        description="Whether the model calls tools by itself. Empty: by the model table, else the server's word, else it "
        "is tried; one that does not is talked to in plain text.",
    )
    vision: bool | None = Field(
        default=None,
        description="Whether the model sees pictures. Empty: by the model table, else the server's word, else it does not.",
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Sampling temperature. Empty: by the model table, 0.3 for unknown models."
    )
    top_p: Share | None = Field(
        default=None, description="Nucleus sampling. Empty: by the model table, or as the server likes."
    )
    max_tokens: int = Field(default=1000, ge=1, le=100_000, description="Longest answer, in tokens.")
    window: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Tokens the model can see, prompt and answer together; 0: by the model table, else the server's "
        "word, else 8192.",
    )
    timeout_s: float = Field(default=120, gt=0, le=3600, description="Longest time for one answer, in seconds.")
    first_token_timeout_s: float = Field(
        default=60, gt=0, le=3600, description="Longest wait for a model's first word, in seconds."
    )
    question_timeout_s: float = Field(
        default=180, gt=0, le=3600, description="Longest time for a whole question, in seconds."
    )
    fallback: Fallback = Fallback()


class Agent(_Branch):
    """How far an answer is looked up step by step (mode `agent`)."""

    max_iterations: int = Field(
        default=10, ge=1, le=50, description="Turns of the model; after the last it must answer with what it has."
    )
    max_tokens: int = Field(
        default=60_000,
        ge=1000,
        le=10_000_000,
        description="Tokens that all turns may take together, prompts and answers; then it must answer.",
    )
    result_tokens: int = Field(
        default=1500, ge=100, le=50_000, description="Tokens of one tool's result that the model is shown."
    )


class Resilience(_Branch):
    """What is done about outside services that fail: models, embedders and rerankers alike."""

    retries: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Further tries after 429, 5xx and network errors; none after the first byte.",
    )
    backoff_s: float = Field(
        default=1, ge=0, le=60, description="Wait before the second try; doubles each time, plus up to a quarter."
    )
    backoff_cap_s: float = Field(
        default=10, ge=0, le=600, description="Longest wait between two tries, also where a service asks for more."
    )
    breaker_failures: int = Field(
        default=5, ge=1, le=1000, description="Failures in a row after which a service is left alone."
    )
    breaker_s: float = Field(
        default=30, ge=0, le=3600, description="How long it is left alone before one call may try it again."
    )


class Embedding(_Branch):
    """Who turns text into vectors."""

    provider: str = Field(
        default="minilm",
        description="`minilm` (embedded), `openai_compatible`, `ollama`, `scripted`, or a dotted path.",
    )
    path: str = Field(
        default="",
        description="Folder with the weights of the embedded model (`model.safetensors`, `tokenizer.json`). "
        "Empty: those of the installed package.",
    )
    allow_download: bool = Field(default=False, description="Fetch missing weights from the model hub.")
    base_url: str = Field(default="", description="The embedding server's address; Ollama has its own.")
    api_key: SecretStr | None = Field(default=None, description="Key for that server. From the environment only.")
    model: str = Field(default="", description="Model to ask that server for.")
    dimensions: int = Field(default=0, ge=0, le=4000, description="Dimensions of that model's vectors.")
    timeout_s: float = Field(default=30, gt=0, le=3600, description="Longest wait for that server, in seconds.")
    batch: int = Field(default=10, ge=1, le=2048, description="Texts a request to that server holds.")
    threads: int = Field(
        default=0, ge=0, le=256, description="Threads for bulk embedding on this machine; 0 takes all cores."
    )


class Rerank(_Branch):
    """Who orders passages anew where `rag.reranker` is `rerank_api` (a server) or `cross_encoder` (a model in a folder)."""

    base_url: str = Field(
        default="",
        description="The server's address, such as `http://127.0.0.1:8080`; it is asked at `/rerank` below that.",
    )
    shape: Literal["tei", "cohere", "jina"] = Field(
        default="tei",
        description="How the server is spoken to: as text-embeddings-inference, Cohere or Jina; see docs/providers.md.",
    )
    api_key: SecretStr | None = Field(default=None, description="Key for that server. From the environment only.")
    model: str = Field(default="", description="Model to ask that server for; TEI has one only.")
    batch: int = Field(default=32, ge=1, le=1000, description="Passages a request to that server holds.")
    timeout_s: float = Field(
        default=30, gt=0, le=3600, description="Longest time to order the passages of a search, in seconds."
    )
    path: str = Field(
        default="",
        description="Folder with a cross-encoder's `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.",
    )
    window: int = Field(
        default=512,
        ge=64,
        le=1_000_000,
        description="Tokens of question and passage together that this model is shown, never more than it was made for.",
    )
    threads: int = Field(
        default=0, ge=0, le=256, description="Passages this model scores at the same time; 0 takes all cores."
    )


class Chunking(_Branch):
    """How documents are cut into passages. A change applies to documents added or changed after it."""

    strategy: Literal["structure", "window", "semantic"] = Field(
        default="structure",
        description="Where passages end: with paragraphs, items and tables (`structure`), after so many characters "
        "(`window`), or where the subject changes, tables apart (`semantic`: every sentence is embedded to tell).",
    )
    size: int = Field(
        default=500, ge=20, le=8000, description="Tokens a passage holds at most, by structure or by meaning."
    )
    overlap: int = Field(
        default=50, ge=0, le=4000, description="Tokens a passage shares with the one before, by structure."
    )
    tokenizer: Literal["cl100k_base", "o200k_base"] = Field(
        default="cl100k_base", description="Tokenizer that counts them."
    )
    window_chars: int = Field(default=1000, ge=100, le=20_000, description="Characters a window holds at most.")
    window_overlap_chars: int = Field(
        default=200, ge=0, le=10_000, description="Characters a window shares with the one before, at most half of it."
    )
    header_aware: bool = Field(
        default=True, description="Whether a window ends with its section, or goes on over headings."
    )
    breakpoint_percentile: float = Field(
        default=95,
        ge=50,
        le=99.9,
        description="By meaning, the subject changes where two neighbouring sentences are farther apart than in so many "
        "per cent of all cases in the document.",
    )
    lead: Literal["headings", "labels"] = Field(
        default="headings",
        description="What leads a passage when it is embedded: its title and headings, or lines that say its source, "
        "document, version and section, which makes equal texts of different documents different.",
    )


class Enrichment(_Branch):
    """What a model adds to passages so that they are found: for their vectors only, never shown. Applies as for chunking."""

    enabled: bool = Field(
        default=False,
        description="Have the model of `llm` write a summary and possible questions for each passage, a call for each; "
        "see docs/passages.md.",
    )
    # `with` is the name, and to Python a keyword: it cannot be written as the other fields are.
    __annotations__["with"] = tuple[Enrichable, ...]
    vars()["with"] = Field(
        default=get_args(Enrichable),
        description="What is embedded before the passage: any of `summary`, `possible_queries`, `source_uri`, "
        "`heading_path`, `author`, `description`, `tags`, `content_type`.",
    )
    model: str = Field(
        default="", description="Another model to ask the server of `llm` for; empty is the one that answers."
    )

    @property
    def parts(self) -> tuple[Enrichable, ...]:
        """What `with` says."""
        chosen: tuple[Enrichable, ...] = getattr(self, "with")
        return chosen


class Context(_Branch):
    """What a model is shown."""

    max_tokens: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Tokens of passages in a prompt at most, never more than 56 % of the model's window; 0 is just that. "
        "With the template `five-stage` a token is four characters.",
    )
    template: Literal["default", "five-stage", "local"] = Field(
        default="default", description="How passages and question are put to the model; see docs/prompts.md."
    )
    order: Literal["score", "sandwich"] = Field(
        default="score",
        description="How passages stand in a prompt: best first, or the best first and last and the weakest in the middle, "
        "where long prompts are read least.",
    )


class Citations(_Branch):
    """How an answer names its sources."""

    form: Literal["source", "title"] = Field(
        default="source", description="What the model is told to write: `[Source N]`, or the source's title."
    )


class Answers(_Branch):
    """How much is done for an answer; a level sets these and others at once, see docs/levels.md."""

    level: Literal["basic", "standard", "enhanced", "maximum"] = Field(
        default="standard",
        description="The level of questions that name none: `standard` is all settings as they are, the others change "
        "them as docs/levels.md has it.",
    )
    chain_of_thought: Literal["off", "auto", "on"] = Field(
        default="off",
        description="Have the model reason step by step before it answers, which is never shown: never, for comparisons "
        "and questions that ask for reasons, or always.",
    )
    ensemble_voting: bool = Field(
        default=False,
        description="Have the model write several drafts at once, and give the one whose statements the others agree with.",
    )
    drafts: int = Field(default=3, ge=2, le=7, description="How many drafts that are.")
    extended_thinking: bool = Field(
        default=False, description="Let a model that can do so think for long before it answers."
    )
    thinking_tokens: int = Field(
        default=4096,
        ge=1024,
        le=100_000,
        description="Tokens it may think with, where its window has the room; reasoning step by step gets a quarter of it.",
    )
    suggestions: Literal["off", "model", "checked"] = Field(
        default="checked",
        description="Questions to go on with: none; the model's, as it suggests them; or those of the model's that a search "
        "finds passages for, and where no model suggests any, some that what was found answers, made from its headings.",
    )


class Grounding(_Branch):
    """How an answer is checked against its sources."""

    judge: Literal["rules", "model"] = Field(
        default="rules",
        description="Who says whether a passage supports what it is cited for: rules on words, meaning, numbers, names and "
        "negations, or after them the model as well, in one call for the whole answer. What a rule refutes stays so.",
    )


class ConfidenceRule(_Branch):
    """How far an answer can be relied on."""

    rule: Literal["calibrated", "counted"] = Field(
        default="calibrated",
        description="Where the level comes from: an estimate of how likely the answer is right, or the number of passages "
        "found and their mean similarity (high: 3 and .5; medium: 2 and .3).",
    )


class Conversation(_Branch):
    """What is remembered of a conversation."""

    query_rewriting_enabled: bool = Field(
        default=True, description="Turn a follow-up (`And in Germany?`) into a question that can be understood alone."
    )
    db_rehydration_enabled: bool = Field(
        default=True, description="Remember what was said before in a stored session, also after a restart."
    )
    max_history_turns: int = Field(
        default=15, ge=0, le=15, description="Turns remembered at most; small models remember fewer."
    )
    share_days: int = Field(
        default=30, ge=1, le=3650, description="Days that an answer shared by link can be opened, at most."
    )


class Spelling(_Branch):
    """What is done about misspelt words in a question."""

    enabled: bool = Field(
        default=True,
        description="Correct a word that no document you may see holds, nor a dictionary, to one they do; the answer says "
        "so (`corrected_query`). See docs/evaluation.md.",
    )


class Cache(_Branch):
    """Answers that are given again when the same is asked; see docs/caching.md."""

    enabled: bool = Field(
        default=True,
        description="Give an answer again where the same person asks the same, in these words or others, while nothing "
        "they may read has changed.",
    )
    max_entries: int = Field(
        default=1000, ge=1, le=1_000_000, description="Answers kept for a person; the oldest go first."
    )
    default_ttl_seconds: int = Field(default=300, ge=1, le=86_400, description="Seconds an answer is kept.")
    threshold_mode: Literal["precision", "recall", "adaptive"] = Field(
        default="adaptive",
        description="How alike two questions must be. In every mode numbers, names, dates, units and negations agree. "
        "`precision`: the higher threshold, and the same words but for those that say nothing; `adaptive`: the lower "
        "threshold is enough where the words are the same; `recall`: besides, above the higher one two words may have another form.",
    )
    precision_threshold: Share = Field(default=0.95, description="The higher threshold, a cosine of two questions.")
    recall_threshold: Share = Field(default=0.85, description="The lower one.")


class Ingest(_Branch):
    """How files come in."""

    max_markdown_mb: float = Field(default=10, gt=0, le=1024, description="Largest Markdown or text file.")
    max_html_mb: float = Field(default=10, gt=0, le=1024, description="Largest web page.")
    max_csv_mb: float = Field(default=50, gt=0, le=1024, description="Largest file of comma- or tab-separated values.")
    max_office_mb: float = Field(default=50, gt=0, le=1024, description="Largest Word, PowerPoint or Excel file.")
    max_mail_mb: float = Field(default=50, gt=0, le=1024, description="Largest mail, its attachments included.")
    max_image_mb: float = Field(default=50, gt=0, le=1024, description="Largest image.")
    max_pdf_mb: float = Field(default=50, gt=0, le=4096, description="Largest PDF file.")
    dedupe: bool = Field(default=True, description="Embed equal text of one owner once.")
    workers: int = Field(default=2, ge=0, le=64, description="Documents processed at the same time by one process.")
    parse_memory_mb: int = Field(default=1024, ge=128, le=65536, description="Memory a parser may use.")
    parse_timeout_s: float = Field(default=120, gt=0, le=3600, description="Time a parser may take for one file.")
    attempts: int = Field(default=3, ge=1, le=20, description="Tries for a document whose processing was cut off.")
    patience_s: float = Field(
        default=3600,
        ge=0,
        le=30 * 86400,
        description="How long a document waits for an embedder that cannot be reached, or for room on the disk, before "
        "it ends as an error; tries come ever less often, and do not count as such.",
    )
    lease_s: float = Field(
        default=30, ge=2, le=3600, description="A worker that is silent for so long is taken for dead."
    )


class Web(_Branch):
    """Documents added by their address on the web. Off, nothing is ever fetched."""

    enabled: bool = Field(default=False, description="Fetch pages that somebody asks to add by their address.")
    allow_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts of one's own network that may be called, such as `wiki.intranet`, or `wiki.intranet:8080` for "
        "a port of its own. All others must have public addresses and are called on ports 80 and 443.",
    )
    max_mb: float = Field(default=20, gt=0, le=1024, description="Largest page, unpacked.")
    timeout_s: float = Field(default=30, gt=0, le=600, description="Time that fetching one page may take.")
    max_redirects: int = Field(default=5, ge=0, le=20, description="How often an address may lead to another one.")
    max_pages: int = Field(default=500, ge=1, le=100_000, description="Pages of a sitemap that are added at most.")
    delay_s: float = Field(
        default=1,
        ge=0,
        le=600,
        description="Least time between two calls of one host; its robots.txt may ask for more.",
    )


class Versions(_Branch):
    """How long earlier versions of documents can be read, compared and asked."""

    keep: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="Versions of a document that are kept, the newest included; 0 keeps all.",
    )
    keep_days: int = Field(
        default=0, ge=0, le=36_500, description="Days a version is kept after a newer one came; 0 for ever."
    )
    standby_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="Days after a switch that the index before stands by for a return; 0 for ever.",
    )


class Traces(_Branch):
    """What is kept about past requests."""

    content: bool = Field(
        default=False,
        description="Keep words in traces: the question, what it means on its own, the caller's system prompt, the answer and "
        "what the model thought before it, and nothing else. A replay needs them, or is given the question again. Without it a trace holds ids, "
        "counts, scores and times only.",
    )
    retention_days: int = Field(default=30, ge=1, le=3650, description="Days a trace is kept.")
    otlp_endpoint: str = Field(
        default="",
        description="Where to send traces as well: an OpenTelemetry collector's full address, such as "
        "`http://127.0.0.1:4318/v1/traces`. Needs the extra `otlp`; headers for it come from "
        "`OTEL_EXPORTER_OTLP_HEADERS`. Words are never sent.",
    )


class Logs(_Branch):
    """What `pincite serve` tells on stderr."""

    format: Literal["text", "json"] = Field(default="text", description="Readable lines, or a JSON object a line.")
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="The least that is told; `info` has a line for each request, `debug` where errors came from.",
    )


class Settings(_Branch):
    """All settings, frozen: a run sees one snapshot however long it takes."""

    _revision: int = PrivateAttr(default=0)

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
        """The number of the last change in the database that this snapshot knows; 0 before the first."""
        return self._revision

    def at(self, revision: int) -> Self:
        """The same settings, as of a revision."""
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
