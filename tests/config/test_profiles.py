"""Profiles: complete, valid, and without providers, addresses or keys."""

import pytest

from pincite.config.profiles import find_profile, for_library, for_request, managed_keys, profiles
from pincite.config.schema import catalogue
from pincite.config.sources import SettingsLayers, load_settings
from pincite.errors import Invalid

NAMES = ["default", "zoeflow", "five-stage", "vexora", "local", "adaptive"]


def test_there_are_six_profiles() -> None:
    assert list(profiles()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_values_exist_as_settings(name: str) -> None:
    assert [key for key in profiles()[name].values if key not in catalogue()] == []


@pytest.mark.parametrize("name", NAMES)
def test_profile_values_are_valid(name: str) -> None:
    SettingsLayers().settings(profiles()[name].values)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("zoeflow", {"rag.top_k": 5, "rag.use_hybrid_search": False, "rag.similarity_threshold": 0.0}),
        (
            "five-stage",
            {
                "rag.similarity_threshold": 0.15,
                "context.max_tokens": 2000,
                "llm.max_tokens": 500,
                "llm.temperature": 0.3,
                "guard.max_query_chars": 1000,
                "rag.max_queries": 1,
            },
        ),
        ("vexora", {"rag.top_k": 5, "rag.candidates": 20, "rag.alpha": 0.3, "rag.similarity_threshold": 0.1}),
        ("local", {"rag.candidates": 20, "rag.reranker": "cosine", "rag.alpha": 0.5}),
        ("adaptive", {"rag.fusion": "rrf", "rag.rrf_k": 30, "rag.candidates": 15, "rag.similarity_threshold": 0.4}),
        ("default", {"rag.top_k": 10, "rag.fusion": "relative_score", "rag.alpha": 0.5}),
    ],
)
def test_a_profile_has_the_values_of_its_seed(name: str, expected: dict[str, object]) -> None:
    values = for_request(profiles()[name], load_settings(env={})).values
    assert {key: values[key] for key in expected} == expected


def test_the_default_profile_equals_the_default_settings() -> None:
    settings = load_settings(env={})
    fitted = for_library(profiles()["default"], settings)
    assert SettingsLayers().settings(fitted.values) == settings
    assert fitted.missing == ()


@pytest.mark.parametrize("name", NAMES)
def test_no_profile_changes_providers_addresses_or_keys(name: str) -> None:
    settings = load_settings(env={"LLM_BASE_URL": "http://127.0.0.1:1/v1", "LLM_MODEL": "ours"})
    for fitted in (for_request(profiles()[name], settings), for_library(profiles()[name], settings)):
        assert not {key for key in fitted.values if key.endswith(("provider", "base_url", "api_key", "model", "path"))}
    assert all(catalogue()[key].acts == "query" for key in for_request(profiles()[name], settings).values)


def test_a_model_that_is_not_configured_is_reported() -> None:
    messages = for_library(profiles()["vexora"], load_settings(env={})).missing
    kinds = ("reranker", "language model", "embedding model")
    assert len(messages) == len(kinds)
    assert all(f"made for the {kind} " in message for kind, message in zip(kinds, messages, strict=True))
    assert "the language model qwen3:8b, which is not configured; extractive is used" in messages[1]
    first, second, third = for_request(profiles()["vexora"], load_settings(env={"LLM_MODEL": "other"})).missing
    assert "the reranker cross_encoder" in first
    assert "other is used" in second
    assert "the embedding model nomic-embed-text, which is not configured; pincite_embed is used" in third
    assert for_request(profiles()["five-stage"], load_settings(env={"LLM_MODEL": "llama-3.1-8b-instant"})).missing == ()


def test_a_profile_reports_that_its_model_server_is_not_configured() -> None:
    elsewhere = for_request(profiles()["zoeflow"], load_settings(env={})).missing
    assert elsewhere == (
        "the profile zoeflow is made for a language model of openrouter.ai; extractive is used",
        "the profile zoeflow is made for the embedding model text-embedding-3-small, which is not configured; pincite_embed is used",
    )
    there = load_settings(env={"LLM_BASE_URL": "https://openrouter.ai/api/v1", "LLM_MODEL": "any"})
    [note] = for_request(profiles()["zoeflow"], there).missing
    assert "embedding model" in note


def test_a_reranker_that_is_not_configured_is_left_out() -> None:
    assert "rag.reranker" not in for_request(profiles()["vexora"], load_settings(env={})).values
    configured = for_request(profiles()["vexora"], load_settings(env={"PINCITE_RERANK__PATH": "/models/bge"}))
    assert configured.values["rag.reranker"] == "cross_encoder"
    assert not [note for note in configured.missing if "to rerank" in note]
    assert "rag.reranker" in managed_keys()


def test_an_unknown_profile_is_an_error_that_lists_all_profiles() -> None:
    with pytest.raises(Invalid, match=r"did you mean 'five-stage'\?; there are: default, zoeflow, five-stage"):
        find_profile("five_stages")
