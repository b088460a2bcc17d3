"""Settings of retrieval: strategy, fusion, thresholds, embedding, reranking, spelling and the answer cache."""

from typing import Literal

from pydantic import Field, SecretStr

from pincite.config.branches.base import Branch, Share


class Penalties(Branch):
    """Score penalties for passages that match many words but rarely answer; detected when a document is indexed."""

    glossary: Share = Field(default=0.3, description="Share of its score that a glossary passage loses; 0 disables it.")
    contents: Share = Field(default=0.5, description="Share of its score that a table of contents loses.")
    image_credits: Share = Field(default=0.4, description="Share of its score that a list of image credits loses.")


class Expansion(Branch):
    """Further passages of the best documents, added to the context of an answer."""

    enabled: bool = Field(default=False, description="Whether such passages are added.")
    max_documents: int = Field(default=3, ge=1, le=50, description="Number of documents to expand, best first.")
    max_chunks: int = Field(default=20, ge=1, le=200, description="Maximum number of passages per document.")
    threshold: Share = Field(
        default=0.3,
        description="Minimum score of a document that is expanded: that of its best passage found, measured on "
        "`rag.threshold_on`.",
    )


class Rag(Branch):
    """Search and ranking of passages."""

    top_k: int = Field(
        default=10, ge=1, le=1000, description="Number of passages a search returns and an answer may use."
    )
    top_k_by_intent: bool = Field(
        default=True,
        description="Retrieve 1.5 times `rag.top_k` for a list and twice as many for a summary, unless the request says how "
        "many. Off: `rag.top_k` for every question.",
    )
    max_per_owner: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="Maximum number of results from the documents of any one other user; the caller's own documents "
        "are not limited. 0: no limit.",
    )
    candidates: int = Field(
        default=100, ge=1, le=10_000, description="Number of candidates each engine returns before fusion."
    )
    use_hybrid_search: bool = Field(
        default=True, description="Combine lexical search (BM25) with dense search (embeddings)."
    )
    strategy: Literal[
        "auto", "by_type", "hybrid", "dense_only", "lexical_only", "fusion", "two_stage", "hierarchical"
    ] = Field(
        default="hybrid",
        description="Default search strategy. `auto` chooses one by the kind of question; `by_type` chooses among those "
        "that use both engines, and the levels that fit the type of question. See docs/strategies.md.",
    )
    mode: Literal["always", "automatic", "manual"] = Field(
        default="always",
        description="When documents are searched: for every question (`always`); except for greetings, thanks and "
        "talk about the conversation (`automatic`); or only if a request asks for it with `rag.enabled` (`manual`).",
    )
    fusion: Literal["relative_score", "rrf"] = Field(
        default="relative_score", description="How the rankings of the engines are fused."
    )
    alpha: Share = Field(
        default=0.5, description="Weight of dense against lexical search in relative-score fusion; 0 is lexical only."
    )
    relative_to: Literal["possible", "found"] = Field(
        default="possible",
        description="Scale of relative scores: the best possible score (a cosine of 1, and the maximum BM25 score of "
        "the query), or the range between the worst and the best score found.",
    )
    across_languages: bool = Field(
        default=True,
        description="A passage in another language than the question shares no words with it: in relative-score fusion it "
        "has at least most of the mean share of lexical search that the passages in the question's language have, and the "
        "passages nearest in meaning are always compared.",
    )
    follow_titles: Share = Field(
        default=0.2,
        description="If one of the three best passages mentions the title of another document, the best passage of "
        "that document gains this share of its score; half of it if the question mentions the title. 0 disables it.",
    )
    knowledge_graph_enabled: bool = Field(
        default=False,
        description="Search the knowledge graph for every question. Where a graph is built (`graph.build`), it is also "
        "used without this for questions of several steps, comparisons, analytical questions and the strategy `fusion`.",
    )
    dual_level: bool = Field(
        default=False,
        description="Search the facts and entities of the graph at two levels: by the names of the question and by its "
        "themes. Needs `graph.vectors`.",
    )
    tree: bool = Field(default=False, description="Search the tree of summaries (`tree.build`).")
    late_interaction: bool = Field(
        default=False, description="Rank by late interaction of the tokens of question and passage (`late.build`)."
    )
    rrf_k: int = Field(default=30, ge=1, le=1000, description="Constant of reciprocal rank fusion between engines.")
    multi_query_rrf_k: int = Field(
        default=60, ge=1, le=1000, description="Constant of reciprocal rank fusion between queries."
    )
    max_queries: int = Field(
        default=5,
        ge=1,
        le=5,
        description="Maximum number of queries in one query-many request, and of the parts that a question is split "
        "into with itself. With 1, the model is asked for no further queries.",
    )
    query_expansion_enabled: bool = Field(
        default=False, description="Let the model rephrase the question, and search for these variants too."
    )
    hyde_enabled: bool = Field(
        default=False,
        description="Let the model write a hypothetical passage that answers the question, and search for similar "
        "passages too. Used for questions of fewer than five words without names.",
    )
    step_back_enabled: bool = Field(
        default=False, description="Let the model write a more general question, and search for it too."
    )
    similarity_threshold: Share = Field(
        default=0.02, description="Minimum score of a passage used in an answer; 0 uses all."
    )
    threshold_on: Literal["relevance", "similarity"] = Field(
        default="relevance",
        description="The score that the thresholds apply to: calibrated relevance, or the cosine of question and "
        "passage on the scale of all-MiniLM-L6-v2 (about 0.1 for unrelated texts, 0.7 for related ones).",
    )
    reranker: str = Field(
        default="none",
        description="Reranker of the best passages: `none`, `cosine`, `cross_encoder`, `rerank_api`, `scripted`, or a "
        "dotted path.",
    )
    rerank_top: int = Field(default=20, ge=1, le=200, description="Number of passages that are reranked.")
    drop_duplicates: bool = Field(
        default=True,
        description="Remove near-duplicates: passages that differ in less than a twentieth of their words, and in no "
        "number or name. The best one is kept and lists the others.",
    )
    mmr: Literal["off", "auto", "on"] = Field(
        default="auto",
        description="Diversify the results by maximal marginal relevance; `auto` does so for comparisons only.",
    )
    mmr_lambda: Share = Field(
        default=0.8,
        description="Weight of the score against diversity in maximal marginal relevance; 1 is score only.",
    )
    verification_enabled: bool = Field(
        default=True,
        description="Verify each passage before it is used in an answer; passages far less relevant than the best one "
        "are removed.",
    )
    verification_by: Literal["rules", "model"] = Field(
        default="rules",
        description="How passages are verified: by rules on the calibrated relevance, or by these rules and then the "
        "model, in one call for all passages.",
    )
    second_look: bool = Field(
        default=False,
        description="Run a second search pass for the parts of the question that no passage covers.",
    )
    exact_rows: int = Field(
        default=4000,
        ge=0,
        le=10_000_000,
        description="Up to this many permitted vectors, dense search is exact (five times as many if a filter leaves "
        "less than an eighth of the library); above, it uses the HNSW index.",
    )
    ef_search: int = Field(default=120, ge=10, le=1000, description="Size of the candidate list of the HNSW search.")
    bm25_k1: float = Field(default=1.2, ge=0, le=10, description="BM25: term frequency saturation.")
    bm25_b: Share = Field(default=0.75, description="BM25: length normalization.")
    penalties: Penalties = Penalties()
    expansion: Expansion = Expansion()


class Embedding(Branch):
    """The embedding model."""

    provider: str = Field(
        default="pincite_embed",
        description="`pincite_embed` (built in, English and German), `minilm` (English, for older libraries), "
        "`openai_compatible`, `ollama`, `scripted`, or a dotted path.",
    )
    path: str = Field(
        default="",
        description="Folder with the weights of `minilm` (`model.safetensors`, `tokenizer.json`). Empty: the weights of "
        "the installed package.",
    )
    allow_download: bool = Field(default=False, description="Download missing weights of `minilm` from the model hub.")
    base_url: str = Field(default="", description="Base URL of the embedding server; Ollama has its own default.")
    api_key: SecretStr | None = Field(
        default=None, description="API key of the embedding server. From the environment only."
    )
    model: str = Field(default="", description="Model name on the embedding server.")
    dimensions: int = Field(default=0, ge=0, le=4000, description="Dimensions of the embeddings of that model.")
    timeout_s: float = Field(
        default=30, gt=0, le=3600, description="Timeout of a request to the embedding server, in seconds."
    )
    batch: int = Field(default=10, ge=1, le=2048, description="Texts per request to the embedding server.")
    threads: int = Field(
        default=0, ge=0, le=256, description="Threads for bulk embedding on this machine; 0 uses all cores."
    )


class Rerank(Branch):
    """The reranker, if `rag.reranker` is `rerank_api` (a server) or `cross_encoder` (a model in a folder)."""

    base_url: str = Field(
        default="",
        description="Base URL of the rerank server, such as `http://127.0.0.1:8080`; requests go to `/rerank` below "
        "it.",
    )
    shape: Literal["tei", "cohere", "jina"] = Field(
        default="tei",
        description="API of the rerank server: text-embeddings-inference (TEI), Cohere or Jina; see docs/providers.md.",
    )
    api_key: SecretStr | None = Field(
        default=None, description="API key of the rerank server. From the environment only."
    )
    model: str = Field(default="", description="Model name on the rerank server; not used by TEI.")
    batch: int = Field(default=32, ge=1, le=1000, description="Passages per request to the rerank server.")
    timeout_s: float = Field(
        default=30, gt=0, le=3600, description="Timeout for reranking the passages of one search, in seconds."
    )
    path: str = Field(
        default="",
        description="Folder of the cross-encoder, with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.",
    )
    window: int = Field(
        default=512,
        ge=64,
        le=1_000_000,
        description="Maximum input of the cross-encoder in tokens, question and passage together; never more than the "
        "model supports.",
    )
    threads: int = Field(
        default=0, ge=0, le=256, description="Passages the cross-encoder scores in parallel; 0 uses all cores."
    )


class Spelling(Branch):
    """Spelling correction of questions."""

    enabled: bool = Field(
        default=True,
        description="Correct a word that occurs neither in the caller's readable documents nor in a dictionary to one "
        "that does; the answer reports it (`corrected_query`). See docs/evaluation.md.",
    )


class Cache(Branch):
    """The answer cache; see docs/caching.md."""

    enabled: bool = Field(
        default=True,
        description="Return a cached answer when the same user asks the same question, in the same or similar words, "
        "and nothing they may read has changed.",
    )
    max_entries: int = Field(
        default=1000, ge=1, le=1_000_000, description="Maximum cached answers per user; the oldest are evicted first."
    )
    default_ttl_seconds: int = Field(default=300, ge=1, le=86_400, description="Seconds an answer stays in the cache.")
    threshold_mode: Literal["precision", "recall", "adaptive"] = Field(
        default="adaptive",
        description="How similar two questions must be. In every mode, numbers, names, dates, units and negations "
        "must agree. `precision`: the higher threshold, and the same words except stop words. `adaptive`: also the "
        "lower threshold if the words are the same. `recall`: also, above the higher threshold, up to two inflected "
        "words.",
    )
    precision_threshold: Share = Field(
        default=0.95, description="The higher threshold: cosine similarity of two questions."
    )
    recall_threshold: Share = Field(default=0.85, description="The lower threshold.")
