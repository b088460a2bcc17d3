"""Search: strategies, fusion, thresholds, embedding, reranking, spelling, the answer cache."""

from typing import Literal

from pydantic import Field, SecretStr

from pincite.config.branches.base import Branch, Share


class Penalties(Branch):
    """What passages lose of their score that hold many words and seldom an answer; told by heading and shape when indexed."""

    glossary: Share = Field(default=0.3, description="Share of its score that a glossary's passage loses; 0 is none.")
    contents: Share = Field(default=0.5, description="The same for a table of contents.")
    image_credits: Share = Field(default=0.4, description="The same for a list of image credits.")


class Expansion(Branch):
    """Further passages of the best documents that join what an answer stands on."""

    enabled: bool = Field(default=False, description="Whether they do.")
    max_documents: int = Field(default=3, ge=1, le=50, description="Documents that are looked into, best first.")
    max_chunks: int = Field(default=20, ge=1, le=200, description="Passages of each at most.")
    threshold: Share = Field(
        default=0.3, description="Passages below this are left out; it reads what `rag.threshold_on` says."
    )


class Rag(Branch):
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


class Embedding(Branch):
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


class Rerank(Branch):
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


class Spelling(Branch):
    """What is done about misspelt words in a question."""

    enabled: bool = Field(
        default=True,
        description="Correct a word that no document you may see holds, nor a dictionary, to one they do; the answer says "
        "so (`corrected_query`). See docs/evaluation.md.",
    )


class Cache(Branch):
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
