"""The description of where text is sent."""

import pytest

from pincite.config.sources import load_settings
from pincite.engine.data_flow import host_and_port, where_text_goes
from pincite.providers.scripted import Options, ScriptedEmbedder


class Here(ScriptedEmbedder):
    """A local embedder."""

    local = True


SERVER = {"llm.base_url": "https://ann:hush@models.example/v1?key=hush", "llm.model": "big"}
EMBEDDINGS = {
    "embedding.provider": "openai_compatible",
    "embedding.base_url": "http://10.0.0.7/v1",
    "embedding.model": "small",
}


@pytest.mark.parametrize(
    ("settings", "embedder", "told"),
    [
        ({}, Here, "answers: extractive, on this machine; embeddings: pincite_embed, on this machine"),
        (SERVER, Here, "answers: big at https://models.example/v1; embeddings: pincite_embed, on this machine"),
        (
            SERVER | {"llm.provider": "extractive"},
            Here,
            "answers: extractive, on this machine; embeddings: pincite_embed, on this machine",
        ),
        (
            {"llm.provider": "acme.llm"} | EMBEDDINGS,
            ScriptedEmbedder,
            "answers: acme.llm; embeddings: small at http://10.0.0.7/v1",
        ),
        (
            {"llm.provider": "ollama", "llm.model": "llama3.2"},
            Here,
            "answers: llama3.2 at http://127.0.0.1:11434; embeddings: pincite_embed, on this machine",
        ),
        (
            SERVER | {"llm.fallback.provider": "anthropic", "llm.fallback.model": "claude"},
            Here,
            "answers: big at https://models.example/v1, or claude at https://api.anthropic.com/v1 where that fails; "
            "embeddings: pincite_embed, on this machine",
        ),
        (
            {"embedding.provider": "acme.embedder"},
            ScriptedEmbedder,
            "answers: extractive, on this machine; embeddings: acme.embedder",
        ),
        (
            {
                "rag.reranker": "rerank_api",
                "rerank.base_url": "https://ann:hush@rerank.example/v2",
                "rerank.model": "r",
            },
            Here,
            "answers: extractive, on this machine; embeddings: pincite_embed, on this machine; "
            "reranking: r at https://rerank.example/v2",
        ),
        (
            {"rag.reranker": "cross_encoder", "rerank.base_url": "https://rerank.example/v2"},
            Here,
            "answers: extractive, on this machine; embeddings: pincite_embed, on this machine; "
            "reranking: cross_encoder, on this machine",
        ),
    ],
)
def test_one_line_names_the_models_and_addresses(
    settings: dict[str, str], embedder: type[ScriptedEmbedder], told: str
) -> None:
    assert where_text_goes(embedder(Options()), load_settings(settings, env={})) == told


def test_a_url_without_a_port_gets_the_default_port() -> None:
    assert host_and_port("https://models.example/v1") == ("models.example", 443)
    assert host_and_port("http://models.example/v1") == ("models.example", 80)
    assert host_and_port("http://[::1]:11434/v1") == ("::1", 11434)
