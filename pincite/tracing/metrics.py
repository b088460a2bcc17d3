"""Metrics of this process: a fold over its traces, and the library's sizes when somebody asks."""

from collections.abc import Mapping
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from pincite.core.traces import Span, Trace

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0)
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
ENGINES = {"vector_search": "vector", "lexical_search": "lexical"}

Sizes = Mapping[str, Mapping[str, float]]
"""What there is, of a thing by its state: documents, chunks, jobs, connections."""


class Metrics:
    """Counters and histograms; labels come from code and settings only, so that they stay few."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"pincite_{name}", about, labels, registry=registry)

        def histogram(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(f"pincite_{name}", about, labels, registry=registry, buckets=SECONDS)

        ProcessCollector(registry=registry)
        self._requests = counter("requests", "Questions, searches, replays and files taken up.", "kind")
        self._errors = counter("errors", "Those that failed, by the code of the error.", "kind", "code")
        self._degraded = counter("degraded", "Parts that were missing, by stage.", "stage")
        self._files = counter("files", "Files processed.", "outcome")
        self._chunks = counter("chunks", "Passages indexed.")
        self._searches = counter("searches", "Searches run.", "engine")
        self._embeddings = counter("embedding_calls", "Calls of the embedder.", "purpose")
        self._texts = counter("embedded_texts", "Texts embedded.", "purpose")
        self._calls = counter("model_calls", "Answers asked of a model.", "provider")
        self._tokens = counter("tokens", "Tokens a model counted.", "direction")
        self._retries = counter("retries", "Calls of a provider that were tried again.")
        self._fallbacks = counter("fallbacks", "Answers written by somebody else than the configured model.")
        self._lookups = counter("cache_lookups", "Questions looked up among those answered before.", "result")
        self._http = counter("http_requests", "Requests answered.", "method", "status")
        self._request_seconds = histogram("request_seconds", "How long requests take.", "kind")
        self._stage_seconds = histogram("stage_seconds", "How long each part takes.", "stage")
        self._first_token = histogram("first_token_seconds", "How long a model takes to begin.", "provider")
        self._sizes = {
            "documents": Gauge("pincite_documents", "Documents there are.", ["status"], registry=registry),
            "chunks": Gauge("pincite_library_chunks", "Passages there are.", ["state"], registry=registry),
            "jobs": Gauge(
                "pincite_queue_length", "Documents that wait or are worked on.", ["state"], registry=registry
            ),
            "connections": Gauge("pincite_pool", "Database connections.", ["state"], registry=registry),
        }

    def count(self, trace: Trace) -> None:
        """Take a finished trace into account."""
        self._requests.labels(trace.kind).inc()
        self._request_seconds.labels(trace.kind).observe(trace.duration_ms / 1000)
        if trace.code:
            self._errors.labels(trace.kind, trace.code).inc()
        for note in trace.degraded:
            self._degraded.labels(note.stage).inc()
        if trace.kind == "ingest":
            self._files.labels(trace.code or "completed").inc()
        for span in trace.spans:
            self._stage_seconds.labels(span.name).observe(span.duration_ms / 1000)
            self._count_span(trace.kind, span)

    def answered(self, method: str, status: int) -> None:
        """Count a request that was answered over HTTP."""
        self._http.labels(method if method in METHODS else "other", str(status)).inc()

    def text(self, sizes: Sizes) -> bytes:
        """All of it as Prometheus reads it."""
        self._set(sizes)
        return generate_latest(self._registry)

    def numbers(self, sizes: Sizes) -> dict[str, Any]:
        """The same without histograms' buckets, for people: `{name: {labels: number}}`."""
        self._set(sizes)
        found: dict[str, Any] = {}
        for metric in self._registry.collect():
            for sample in metric.samples:
                if not sample.name.endswith("_bucket"):
                    labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
                    found.setdefault(sample.name, {})[labels] = sample.value
        return found

    def _set(self, sizes: Sizes) -> None:
        for thing, gauge in self._sizes.items():
            gauge.clear()
            for state, amount in sizes.get(thing, {}).items():
                gauge.labels(state).set(amount)

    def _count_span(self, kind: str, span: Span) -> None:
        told = span.attributes
        if span.name in ENGINES:
            self._searches.labels(ENGINES[span.name]).inc()
        if span.name == "cache_lookup":
            self._lookups.labels("hit" if told.get("hit") else "miss").inc()
        for counter, amount in (
            (self._fallbacks, told.get("fallbacks", 1 if span.name == "extractive_generation" else 0)),
            (self._retries, told.get("retries", 0)),
            (self._chunks, told.get("chunks", 0)),
        ):
            if amount:
                counter.inc(amount)
        operation = told.get("gen_ai.operation.name")
        if operation == "embeddings":
            purpose = "index" if kind == "ingest" else "query"
            self._embeddings.labels(purpose).inc(told.get("calls", 1))
            self._texts.labels(purpose).inc(told.get("texts", 0))
        elif operation == "chat":
            self._count_call(span)

    def _count_call(self, span: Span) -> None:
        told = span.attributes
        provider = str(told.get("gen_ai.provider.name", "unknown"))
        self._calls.labels(provider).inc()
        self._tokens.labels("input").inc(told.get("gen_ai.usage.input_tokens", 0))
        self._tokens.labels("output").inc(told.get("gen_ai.usage.output_tokens", 0))
        if "first_token_ms" in told:
            self._first_token.labels(provider).observe(told["first_token_ms"] / 1000)
