"""Metrics add up what traces tell, with labels that stay few."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from pincite.core.query.answer import Degraded
from pincite.core.traces import Span, Trace
from pincite.tracing.metrics import Metrics
from tests.stages import stages

NOW = datetime.now(UTC)
WRITING = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai_compatible",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
    "retries": 2,
    "first_token_ms": 40.0,
}
ANSWERED = Trace(
    "t1",
    "query",
    NOW,
    120.0,
    degraded=(Degraded("ranking", "x"),),
    spans=(
        Span("query_embedding", 0, 0, 5.0, None, {"gen_ai.operation.name": "embeddings", "texts": 2}),
        Span("vector_search", 0, 5, 3.0),
        Span("lexical_search", 0, 5, 3.0),
        Span("lexical_search", 0, 8, 3.0),
        Span("llm_generation", None, 10, 90.0, None, WRITING),
    ),
)
DEGRADED = Trace(
    "t2",
    "query",
    NOW,
    1.0,
    spans=(
        Span("llm_generation", None, 0, 1.0, "ProviderError: x", {"gen_ai.operation.name": "chat", "fallbacks": 1}),
        Span("extractive_generation", None, 1, 1.0),
    ),
)
FILE = Trace(
    "t3",
    "ingest",
    NOW,
    50.0,
    spans=(
        Span(
            "indexing",
            None,
            0,
            9.0,
            None,
            {"gen_ai.operation.name": "embeddings", "calls": 3, "texts": 70, "chunks": 90},
        ),
    ),
)
FAILED = Trace("t4", "ingest", NOW, 50.0, error="Unreadable", code="unreadable")


def samples(text: bytes) -> dict[tuple[str, tuple[str, ...]], float]:
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def counted(*traces: Trace, **sizes: Any) -> dict[tuple[str, tuple[str, ...]], float]:
    metrics = Metrics()
    for trace in traces:
        metrics.count(trace)
    return samples(metrics.text(sizes))


def test_traces_add_up() -> None:
    found = counted(ANSWERED, DEGRADED, FILE, FAILED)
    expected = {
        ("requests_total", ("query",)): 2,
        ("requests_total", ("ingest",)): 2,
        ("errors_total", ("unreadable", "ingest")): 1,
        ("degraded_total", ("ranking",)): 1,
        ("files_total", ("completed",)): 1,
        ("files_total", ("unreadable",)): 1,
        ("chunks_total", ()): 90,
        ("embedding_calls_total", ("query",)): 1,
        ("embedding_calls_total", ("index",)): 3,
        ("embedded_texts_total", ("query",)): 2,
        ("embedded_texts_total", ("index",)): 70,
        ("searches_total", ("vector",)): 1,
        ("searches_total", ("lexical",)): 2,
        ("model_calls_total", ("openai_compatible",)): 1,
        ("model_calls_total", ("unknown",)): 1,
        ("tokens_total", ("input",)): 100,
        ("tokens_total", ("output",)): 20,
        ("retries_total", ()): 2,
        ("fallbacks_total", ()): 2,
        ("stage_seconds_count", ("lexical_search",)): 2,
        ("request_seconds_count", ("query",)): 2,
        ("first_token_seconds_sum", ("openai_compatible",)): 0.04,
    }
    assert {key: found[f"pincite_{key[0]}", key[1]] for key in expected} == expected


def test_gauges_have_the_current_values() -> None:
    metrics = Metrics()
    metrics.text({"documents": {"pending": 3, "completed": 1}, "jobs": {"ready": 3}})
    found = samples(metrics.text({"documents": {"completed": 4}, "connections": {"open": 2}}))
    assert found["pincite_documents", ("completed",)] == 4
    assert ("pincite_documents", ("pending",)) not in found
    assert not [key for key in found if key[0] == "pincite_queue_length"]
    assert found["pincite_pool", ("open",)] == 2


def test_an_unknown_http_method_adds_no_label() -> None:
    metrics = Metrics()
    for method in ("GET", "GET", "BREW", "X-" + "y" * 100):
        metrics.answered(method, 404)
    found = samples(metrics.text({}))
    assert found["pincite_http_requests_total", ("GET", "404")] == 2
    assert found["pincite_http_requests_total", ("other", "404")] == 2


def test_every_metric_and_every_span_of_a_stage_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "traces.md").read_text(encoding="utf-8")
    families = {family.name for family in text_string_to_metric_families(Metrics().text({}).decode())}
    ours = {name for name in families if name.startswith("pincite_")}
    documented = {name.removesuffix("_total") for name in re.findall(r"`(pincite_\w+)`", page)}
    assert documented == ours
    assert set(stages()) <= set(re.findall(r"`(\w+)`", page))


def test_numbers_are_the_metrics_without_buckets() -> None:
    metrics = Metrics()
    metrics.count(ANSWERED)
    told = metrics.numbers({"documents": {"completed": 4}})
    assert told["pincite_documents"] == {"status=completed": 4}
    assert told["pincite_tokens_total"] == {"direction=input": 100, "direction=output": 20}
    assert told["pincite_request_seconds_sum"] == {"kind=query": 0.12}
    assert not [name for name in told if "bucket" in name]


def test_cache_lookups_are_counted() -> None:
    looked = Trace("t5", "query", NOW, 1.0, spans=(Span("cache_lookup", None, 0, 1.0, None, {"hit": True}),))
    missed = Trace("t6", "query", NOW, 1.0, spans=(Span("cache_lookup", None, 0, 1.0, None, {"hit": False}),))
    found = counted(looked, missed, missed)
    assert (found["pincite_cache_lookups_total", ("hit",)], found["pincite_cache_lookups_total", ("miss",)]) == (1, 2)
