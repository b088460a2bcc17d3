"""Export traces to an OpenTelemetry collector in a background thread; failures never affect requests."""

import asyncio
import logging
import queue
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pincite.core.traces import Span, Trace
from pincite.errors import SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext

log = logging.getLogger(__name__)

MAX_QUEUED_TRACES = 1000
"""Maximum number of queued traces; when the queue is full, new traces are dropped."""

TIMEOUT_S = 5.0
"""Timeout for exporting one trace, and for exporting the queue when closing."""


class OtlpExporter:
    """Exports finished traces from its own thread."""

    def __init__(self, endpoint: str, version: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
        except ImportError as error:
            raise SettingsError(
                "traces.otlp_endpoint needs the extra 'otlp': in the checkout, pip install '.[otlp]'"
            ) from error
        logging.getLogger("opentelemetry").setLevel(
            logging.CRITICAL
        )  # it logs every failure; we log the first one only
        self._resource = Resource.create({"service.name": "pincite", "service.version": version})
        self._exporter = OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT_S)
        self._endpoint = endpoint
        self._queue: queue.Queue[Trace | None] = queue.Queue(MAX_QUEUED_TRACES)
        self._working = True
        self._thread = threading.Thread(target=self._work, name="telemetry", daemon=True)
        self._thread.start()

    def send(self, trace: Trace) -> None:
        """Queue a trace for export; never blocks."""
        try:
            self._queue.put_nowait(trace)
        except queue.Full:
            self._warn_once("it is too slow, so some traces are dropped")

    async def close(self) -> None:
        """Export the queued traces, up to the timeout."""
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        try:
            self._queue.put(None, timeout=TIMEOUT_S)
            self._thread.join(TIMEOUT_S)
        except queue.Full:
            log.debug("the collector does not respond; the queued traces are dropped")
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _work(self) -> None:
        from opentelemetry.sdk.trace.export import SpanExportResult

        while (trace := self._queue.get()) is not None:
            try:
                sent = self._exporter.export(otel_spans(trace, self._resource)) == SpanExportResult.SUCCESS
            except Exception:  # errors of the collector or its library must not affect requests
                log.debug("a trace could not be exported", exc_info=True)
                sent = False
            if sent:
                self._working = True
            else:
                self._warn_once("it cannot be reached or rejects the traces")

    def _warn_once(self, what: str) -> None:
        """Log a failure once, until an export succeeds again."""
        if self._working:
            self._working = False
            log.warning(
                "traces are not exported to %s: %s; they are still stored in the database", self._endpoint, what
            )


def otel_spans(trace: Trace, resource: Any) -> "list[ReadableSpan]":
    """Convert a trace to OpenTelemetry spans; the root span is a child of the client's span, if it sent one."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanKind, Status, StatusCode

    trace_id, _, remote_parent = (trace.remote or trace.id).partition("-")
    root = Span(trace.kind, None, 0.0, trace.duration_ms, trace.error, _root_attributes(trace), id=trace.id[:16])
    scope = InstrumentationScope("pincite")

    def to_otel(span: Span, parent: str, *, root: bool = False) -> ReadableSpan:
        start = trace.started_at + timedelta(milliseconds=span.started_ms)
        return ReadableSpan(
            span.name,
            _context(trace_id, span.id),
            parent=_context(trace_id, parent) if parent else None,
            resource=resource,
            attributes=_flatten(span.attributes),
            instrumentation_scope=scope,
            kind=SpanKind.SERVER if root else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET),
            start_time=_nanoseconds(start),
            end_time=_nanoseconds(start + timedelta(milliseconds=span.duration_ms)),
        )

    below = [to_otel(span, _parent_id(span, trace.spans, root.id)) for span in trace.spans]
    return [to_otel(root, remote_parent, root=True), *below]


def _context(trace_id: str, span_id: str) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))


def _parent_id(span: Span, spans: Sequence[Span], root: str) -> str:
    return root if span.parent is None else spans[span.parent].id


def _nanoseconds(moment: Any) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000


def _root_attributes(trace: Trace) -> dict[str, Any]:
    attributes = {
        "pincite.trace_id": trace.id,
        "pincite.request_id": trace.request_id,
        "pincite.strategy": trace.strategy,
        "pincite.degraded": [note.stage for note in trace.degraded],
        "error.type": trace.code,
        "pincite.confidence": trace.outcome.confidence if trace.outcome else None,
    }
    return {name: value for name, value in attributes.items() if value not in (None, "", [])}


def _flatten(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten attributes to types of OpenTelemetry: tables become dotted names, and lists of passages are left out."""
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{part}": one for part, one in value.items() if isinstance(one, str | int | float)}
        elif isinstance(value, list | tuple):
            if all(isinstance(one, str) for one in value):
                found[name] = list(value)
        elif isinstance(value, str | int | float):
            found[name] = value
    return found
