"""Prometheus metrics of this process, computed from its traces, and gauges of the library.

Where several workers serve, each writes its metrics into the data folder, and each reports those of all.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.parser import text_string_to_metric_families

from pincite.core.traces import Span, Trace

log = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0)
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
LIBRARY_WIDE = frozenset({"pincite_documents", "pincite_library_chunks", "pincite_queue_length"})
"""Gauges that every worker reads from the database: they are reported once, without a worker."""
ENGINES = {
    "vector_search": "vector",
    "lexical_search": "lexical",
    "graph_traversal": "graph",
    "dual_level_search": "dual",
    "tree_search": "tree",
    "late_interaction": "late",
}
"""Span of a search → label of its engine."""

Gauges = Mapping[str, Mapping[str, float]]
"""Gauge values by name and state: documents, chunks, jobs, connections."""


class Metrics:
    """Counters and histograms; label values come from code and settings only, which keeps their number small."""

    def __init__(self) -> None:
        self.shared: SharedMetrics | None = None
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"pincite_{name}", about, labels, registry=registry)

        def histogram(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(f"pincite_{name}", about, labels, registry=registry, buckets=BUCKETS_S)

        ProcessCollector(registry=registry)
        self._requests = counter("requests", "Questions, searches, replays and processed files.", "kind")
        self._errors = counter("errors", "Failed requests by error code.", "kind", "code")
        self._degraded = counter("degraded", "Degraded stages of requests.", "stage")
        self._files = counter("files", "Files processed.", "outcome")
        self._chunks = counter("chunks", "Passages indexed.")
        self._searches = counter("searches", "Searches run.", "engine")
        self._embeddings = counter("embedding_calls", "Calls of the embedder.", "purpose")
        self._texts = counter("embedded_texts", "Texts embedded.", "purpose")
        self._calls = counter("model_calls", "Calls of a language model.", "provider")
        self._tokens = counter("tokens", "Tokens used by language models.", "direction")
        self._retries = counter("retries", "Retried provider calls.")
        self._fallbacks = counter("fallbacks", "Answers written by a fallback.")
        self._lookups = counter("cache_lookups", "Lookups in the answer cache.", "result")
        self._http = counter("http_requests", "HTTP requests.", "method", "status")
        self._request_seconds = histogram("request_seconds", "Duration of requests.", "kind")
        self._stage_seconds = histogram("stage_seconds", "Duration of stages.", "stage")
        self._stages: dict[str, Histogram] = {}
        self._first_token = histogram("first_token_seconds", "Time to the first token of a language model.", "provider")
        self._sizes = {
            "documents": Gauge("pincite_documents", "Documents in the library.", ["status"], registry=registry),
            "chunks": Gauge("pincite_library_chunks", "Passages in the library.", ["state"], registry=registry),
            "jobs": Gauge("pincite_queue_length", "Documents in the queue.", ["state"], registry=registry),
            "queue": Gauge("pincite_queue_age_seconds", "Age of the oldest waiting job.", ["state"], registry=registry),
            "replicas": Gauge("pincite_replicas", "Replicas, their lag, and reads.", ["state"], registry=registry),
            "connections": Gauge("pincite_pool", "Database connections.", ["state"], registry=registry),
        }

    def count(self, trace: Trace) -> None:
        """Add a finished trace."""
        self._requests.labels(trace.kind).inc()
        self._request_seconds.labels(trace.kind).observe(trace.duration_ms / 1000)
        if trace.code:
            self._errors.labels(trace.kind, trace.code).inc()
        for note in trace.degraded:
            self._degraded.labels(note.stage).inc()
        if trace.kind == "ingest":
            self._files.labels(trace.code or "completed").inc()
        for span in trace.spans:
            self._stage(span.name).observe(span.duration_ms / 1000)
            self._count_span(trace.kind, span)

    def _stage(self, name: str) -> Histogram:
        """Return the histogram of a stage; `labels` would look it up anew for every span."""
        if name not in self._stages:
            self._stages[name] = self._stage_seconds.labels(name)
        return self._stages[name]

    def answered(self, method: str, status: int) -> None:
        """Count an HTTP request."""
        self._http.labels(method if method in METHODS else "other", str(status)).inc()

    def text(self, sizes: Gauges) -> bytes:
        """Return all metrics in the Prometheus text format; where several workers serve, those of all."""
        self._set(sizes)
        return generate_latest(self)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of this process, or of all workers, each sample with its worker's number."""
        own = self._registry.collect()
        return own if self.shared is None else self.shared.with_others(own)

    def own_text(self) -> bytes:
        """Return the metrics of this process."""
        return generate_latest(self._registry)

    def numbers(self, sizes: Gauges) -> dict[str, Any]:
        """Return all metrics without histogram buckets: `{name: {labels: number}}`."""
        self._set(sizes)
        found: dict[str, Any] = {}
        for metric in self.collect():
            for sample in metric.samples:
                if not sample.name.endswith("_bucket"):
                    labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
                    found.setdefault(sample.name, {})[labels] = sample.value
        return found

    def _set(self, sizes: Gauges) -> None:
        for thing, gauge in self._sizes.items():
            gauge.clear()
            for state, amount in sizes.get(thing, {}).items():
                gauge.labels(state).set(amount)

    def _count_span(self, kind: str, span: Span) -> None:
        attributes = span.attributes
        if span.name in ENGINES:
            self._searches.labels(ENGINES[span.name]).inc()
        if span.name == "cache_lookup":
            self._lookups.labels("hit" if attributes.get("hit") else "miss").inc()
        for counter, amount in (
            (self._fallbacks, attributes.get("fallbacks", 1 if span.name == "extractive_generation" else 0)),
            (self._retries, attributes.get("retries", 0)),
            (self._chunks, attributes.get("chunks", 0)),
        ):
            if amount:
                counter.inc(amount)
        operation = attributes.get("gen_ai.operation.name")
        if operation == "embeddings":
            purpose = "index" if kind == "ingest" else "query"
            self._embeddings.labels(purpose).inc(attributes.get("calls", 1))
            self._texts.labels(purpose).inc(attributes.get("texts", 0))
        elif operation == "chat":
            self._count_call(span)

    def _count_call(self, span: Span) -> None:
        attributes = span.attributes
        provider = str(attributes.get("gen_ai.provider.name", "unknown"))
        self._calls.labels(provider).inc()
        self._tokens.labels("input").inc(attributes.get("gen_ai.usage.input_tokens", 0))
        self._tokens.labels("output").inc(attributes.get("gen_ai.usage.output_tokens", 0))
        if "first_token_ms" in attributes:
            self._first_token.labels(provider).observe(attributes["first_token_ms"] / 1000)


class SharedMetrics:
    """Adds the metrics of the other workers; every sample gets the label `worker`."""

    def __init__(self, data: Path, worker: int) -> None:
        self._file = data / f"serve-{worker}.metrics"
        self._worker = worker

    def publish(self, metrics: "Metrics") -> None:
        """Write the metrics of this worker for the others."""
        new = self._file.with_suffix(".new")
        try:
            new.write_bytes(metrics.own_text())
            os.replace(new, self._file)
        except OSError as error:
            log.warning("the metrics of worker %d cannot be written: %s", self._worker, error.strerror)

    def remove(self) -> None:
        """Remove the metrics of this worker when it stops."""
        with suppress(OSError):
            self._file.unlink()

    def with_others(self, own: Iterable[Metric]) -> list[Metric]:
        """Return the metrics of this worker and the latest of the others."""
        merged: dict[str, Metric] = {}
        for worker, metrics in (("", own), *self._others()):
            for metric in metrics:
                is_shared = metric.name in LIBRARY_WIDE
                if worker and is_shared:
                    continue
                into = merged.setdefault(metric.name, Metric(metric.name, metric.documentation, metric.type))
                label = {} if is_shared else {"worker": worker or str(self._worker)}
                for one in metric.samples:
                    into.add_sample(one.name, {**one.labels, **label}, one.value)
        return list(merged.values())

    def _others(self) -> Iterator[tuple[str, Iterable[Metric]]]:
        for path in sorted(self._file.parent.glob("serve-*.metrics")):
            if path != self._file:
                with suppress(OSError):
                    yield path.stem.removeprefix("serve-"), list(text_string_to_metric_families(path.read_text()))
