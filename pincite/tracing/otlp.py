"""Traces to an OpenTelemetry collector, off the path of requests: one that is down changes nothing for anybody."""

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

WAITING = 1000
"""Traces that wait to be sent at most; where a collector is slower than that, the newest are left out."""
TIMEOUT_S = 5.0
"""Longest time for one trace; also how long closing waits for the last of them."""


class Telemetry:
    """Sends finished traces from a thread of its own."""

    def __init__(self, endpoint: str, version: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
        except ImportError as error:
            raise SettingsError("traces.otlp_endpoint needs the extra 'otlp': pip install 'pincite[otlp]'") from error
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # it would tell every failure; we tell the first
        self._resource = Resource.create({"service.name": "pincite", "service.version": version})
        self._exporter = OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT_S)
        self._endpoint = endpoint
        self._queue: queue.Queue[Trace | None] = queue.Queue(WAITING)
        self._well = True
        self._thread = threading.Thread(target=self._work, name="telemetry", daemon=True)
        self._thread.start()

    def send(self, trace: Trace) -> None:
        """Take a trace to be sent later; never waits."""
        try:
            self._queue.put_nowait(trace)
        except queue.Full:
            self._tell("more traces come than it takes; some are left out")

    async def close(self) -> None:
        """Send what waits, for a moment."""
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        try:
            self._queue.put(None, timeout=TIMEOUT_S)
            self._thread.join(TIMEOUT_S)
        except queue.Full:
            log.debug("the collector takes nothing; what waits for it is dropped")
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _work(self) -> None:
        from opentelemetry.sdk.trace.export import SpanExportResult

        while (trace := self._queue.get()) is not None:
            try:
                sent = self._exporter.export(otel_spans(trace, self._resource)) == SpanExportResult.SUCCESS
            except Exception:  # whatever a collector or its library does, requests go on
                log.debug("a trace could not be sent", exc_info=True)
                sent = False
            if sent:
                self._well = True
            else:
                self._tell("it cannot be reached or does not take what is sent")

    def _tell(self, what: str) -> None:
        """Once, until something got through again."""
        if self._well:
            self._well = False
            log.warning("traces are not sent to %s: %s; they are kept here as ever", self._endpoint, what)


def otel_spans(trace: Trace, resource: Any) -> "list[ReadableSpan]":
    """A trace as OpenTelemetry has it: a span for the whole request, below the client's own where it told one."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanKind, Status, StatusCode

    trace_id, _, remote_parent = (trace.remote or trace.id).partition("-")
    root = Span(trace.kind, None, 0.0, trace.duration_ms, trace.error, _root_attributes(trace), id=trace.id[:16])
    scope = InstrumentationScope("pincite")

    def made(span: Span, parent: str, *, root: bool = False) -> ReadableSpan:
        start = trace.started_at + timedelta(milliseconds=span.started_ms)
        return ReadableSpan(
            span.name, _context(trace_id, span.id), parent=_context(trace_id, parent) if parent else None,
            resource=resource, attributes=_flat(span.attributes), instrumentation_scope=scope,
            kind=SpanKind.SERVER if root else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET),
            start_time=_nanoseconds(start), end_time=_nanoseconds(start + timedelta(milliseconds=span.duration_ms)),
        )  # fmt: skip

    below = [made(span, _parent_id(span, trace.spans, root.id)) for span in trace.spans]
    return [made(root, remote_parent, root=True), *below]


def _context(trace_id: str, span_id: str) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))


def _parent_id(span: Span, spans: Sequence[Span], root: str) -> str:
    return root if span.parent is None else spans[span.parent].id


def _nanoseconds(moment: Any) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000


def _root_attributes(trace: Trace) -> dict[str, Any]:
    told = {
        "pincite.trace_id": trace.id,
        "pincite.request_id": trace.request_id,
        "pincite.strategy": trace.strategy,
        "pincite.degraded": [note.stage for note in trace.degraded],
        "error.type": trace.code,
        "pincite.confidence": trace.outcome.confidence if trace.outcome else None,
    }
    return {name: value for name, value in told.items() if value not in (None, "", [])}


def _flat(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Values OpenTelemetry knows; passages found are many and for our own table, of tables each entry is one."""
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
