"""What each profile sets is what its design says, value by value."""

import pytest

from pincite.config.profiles import profiles
from pincite.config.schema import value_of
from pincite.config.settings import ALIASES
from pincite.config.sources import SettingsLayers, load_settings
from pincite.ingest.embed.embedding_text import MAX_EMBEDDED_CHARS

NAMES = ("default", "zoeflow", "five-stage", "vexora", "local", "adaptive")
ANY = object()
"""A value that a design leaves open, or that measurement decides."""

TABLE: dict[str, tuple[object, ...]] = {
    "rag.top_k": (10, 5, 10, 5, 10, 10),
    "rag.candidates": (ANY, 5, 10, 20, 20, 15),
    "rag.rerank_top": (ANY, ANY, ANY, 20, ANY, ANY),
    "rag.use_hybrid_search": (True, False, False, True, True, True),
    "rag.fusion": ("relative_score", ANY, ANY, "relative_score", "relative_score", "rrf"),
    "rag.alpha": (0.5, ANY, ANY, 0.3, 0.5, ANY),
    "rag.rrf_k": (30, ANY, ANY, ANY, ANY, 30),
    "rag.multi_query_rrf_k": (60, 60, ANY, ANY, ANY, 30),
    "rag.max_queries": (5, 5, 1, 1, 1, 3),
    "rag.similarity_threshold": (ANY, 0.0, 0.15, 0.1, 0.0, 0.4),
    "rag.threshold_on": ("relevance", "similarity", "similarity", "similarity", "similarity", "similarity"),
    "rag.query_expansion_enabled": (False,) * 6,
    "rag.hyde_enabled": (False,) * 6,
    "rag.step_back_enabled": (False,) * 6,
    "rag.knowledge_graph_enabled": (False, False, False, True, False, False),
    "rag.verification_enabled": (True, False, False, True, False, True),
    "rag.reranker": (ANY, "none", "none", "cross_encoder", "cosine", "none"),
    "rag.expansion.enabled": (ANY, False, False, True, False, False),
    "rag.expansion.max_documents": (3, ANY, ANY, 3, ANY, ANY),
    "rag.expansion.max_chunks": (20, ANY, ANY, 20, ANY, ANY),
    "rag.expansion.threshold": (0.3, ANY, ANY, 0.3, ANY, ANY),
    "rag.mode": ("always", "always", "always", "automatic", "always", "always"),
    "cache.enabled": (True, False, False, False, True, True),
    "cache.max_entries": (1000, ANY, ANY, ANY, ANY, 1000),
    "cache.default_ttl_seconds": (300, ANY, ANY, ANY, ANY, 300),
    "cache.threshold_mode": ("adaptive", ANY, ANY, ANY, ANY, "adaptive"),
    "spelling.enabled": (ANY, False, False, False, False, True),
    "conversation.query_rewriting_enabled": (True, False, False, True, True, True),
    "conversation.db_rehydration_enabled": (True, True, ANY, True, ANY, True),
    "conversation.max_history_turns": (15, 15, ANY, 6, ANY, 15),
    "guard.max_query_chars": (4000, 4000, 1000, 1000, 4000, 4000),
    "guard.injection": ("warn", "off", "off", "block", "off", "warn"),
    "llm.model": (ANY, ANY, "llama-3.1-8b-instant", "qwen3:8b", ANY, ANY),
    "llm.base_url": (ANY, "https://openrouter.ai/api/v1", ANY, ANY, ANY, ANY),
    "llm.temperature": (ANY, ANY, 0.3, ANY, ANY, ANY),
    "llm.max_tokens": (ANY, ANY, 500, ANY, ANY, ANY),
    "embedding.model": (
        "pincite_embed",
        "text-embedding-3-small",
        "pincite_embed",
        "nomic-embed-text",
        "nomic-embed-text",
        "pincite_embed",
    ),
    "chunking.strategy": ("structure", "structure", "structure", "semantic", "window", "structure"),
    "chunking.size": (500, 500, ANY, ANY, ANY, ANY),
    "chunking.overlap": (50, 50, ANY, ANY, ANY, ANY),
    "chunking.window_chars": (ANY, ANY, ANY, ANY, 1000, ANY),
    "chunking.window_overlap_chars": (ANY, ANY, ANY, ANY, 200, ANY),
    "chunking.header_aware": (ANY, ANY, ANY, ANY, False, ANY),
    "chunking.lead": (ANY, "labels", ANY, ANY, ANY, ANY),
    "enrichment.enabled": (False, True, False, False, False, False),
    "context.max_tokens": (0, 0, 2000, 0, 0, 0),
    "context.template": ("default", ANY, "five-stage", ANY, "local", ANY),
    "context.order": (ANY, ANY, ANY, ANY, ANY, "sandwich"),
    "rag.penalties.glossary": (0.3, ANY, ANY, ANY, ANY, 0.3),
    "rag.penalties.contents": (0.5, ANY, ANY, ANY, ANY, 0.5),
    "rag.penalties.image_credits": (0.4, ANY, ANY, ANY, ANY, 0.4),
    "confidence.rule": ("calibrated", ANY, "counted", ANY, ANY, "product"),
    "citations.form": ("source", "source", "title", "source", "source", "source"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_sets_what_its_design_says(name: str) -> None:
    profile = profiles()[name]
    wanted = {key: values[NAMES.index(name)] for key, values in TABLE.items()}
    wanted = {key: value for key, value in wanted.items() if value is not ANY}
    assert {key: profile.values[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("chunking.tokenizer", "cl100k_base"),
        ("embedding.batch", 10),
        ("llm.timeout_s", 120),
        ("llm.question_timeout_s", 180),
        ("resilience.retries", 3),
        ("resilience.backoff_s", 1),
        ("resilience.backoff_cap_s", 10),
        ("resilience.breaker_failures", 5),
        ("resilience.breaker_s", 30),
        ("cache.precision_threshold", 0.95),
        ("cache.recall_threshold", 0.85),
    ],
)
def test_what_no_profile_changes_is_as_the_designs_have_it(key: str, value: object) -> None:
    assert not any(key in profile.values for profile in profiles().values())
    assert value_of(load_settings(env={}), key) == value


def test_a_text_to_embed_ends_after_eight_thousand_characters() -> None:
    assert MAX_EMBEDDED_CHARS == 8000


@pytest.mark.parametrize("name", NAMES)
def test_the_designs_that_rank_by_hybrid_score_never_cut_by_it(name: str) -> None:
    settings = SettingsLayers().settings(profiles()[name].values)
    assert settings.rag.threshold_on in ("similarity", "relevance")


@pytest.mark.parametrize(
    ("variable", "key", "given", "means"),
    [
        ("LLM_BASE_URL", "llm.base_url", "https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1"),
        ("LLM_MODEL", "llm.model", "llama-3.1-8b-instant", "llama-3.1-8b-instant"),
        ("LLM_TEMPERATURE", "llm.temperature", "0.3", 0.3),
        ("LLM_MAX_TOKENS", "llm.max_tokens", "500", 500),
        ("RETRIEVAL_TOP_K", "rag.top_k", "7", 7),
        ("RELEVANCE_THRESHOLD", "rag.similarity_threshold", "0.2", 0.2),
        ("MAX_CONTEXT_TOKENS", "context.max_tokens", "1500", 1500),
        ("OPENROUTER_EMBEDDING_MODEL", "embedding.model", "text-embedding-3-large", "text-embedding-3-large"),
        ("OPENROUTER_CHUNK_ENRICHMENT_MODEL", "enrichment.model", "small", "small"),
        ("ZOEFLOW_LLM_AUGMENTED_CHUNKING", "enrichment.enabled", "1", True),
    ],
)
def test_the_designs_own_names_in_the_environment_are_read(variable: str, key: str, given: str, means: object) -> None:
    section, _, name = key.partition(".")
    assert ALIASES[variable] == key
    assert getattr(getattr(load_settings(env={variable: given}), section), name) == means


def test_the_key_of_the_model_is_read_and_never_shown() -> None:
    settings = load_settings(env={"LLM_API_KEY": "gsk_secret"})
    assert settings.llm.api_key is not None
    assert settings.llm.api_key.get_secret_value() == "gsk_secret"
    assert "gsk_secret" not in repr(settings)
