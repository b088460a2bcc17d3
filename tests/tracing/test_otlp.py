"""Traces reach an OpenTelemetry collector, and one that is down changes nothing."""

import asyncio
import gzip
import logging
import queue
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from pincite.core.traces import Content, Span, Trace
from pincite.tracing.otlp import OtlpExporter, otel_spans
from tests.steady_clock import now
from tests.tracing.test_metrics import ANSWERED, NOW

Received = tuple[str, ExportTraceServiceRequest]


@pytest.fixture
def collector() -> "Iterator[tuple[str, queue.Queue[Received]]]":
    """A server that takes what an exporter sends."""
    received: queue.Queue[Received] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            body = gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body
            received.put((self.path, ExportTraceServiceRequest.FromString(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", received
        server.shutdown()


def test_a_question_reaches_the_collector(
    open_pincite: Callable[..., Any], collector: "tuple[str, queue.Queue[Received]]"
) -> None:
    endpoint, received = collector

    async def go() -> str:
        async with open_pincite(traces__otlp_endpoint=endpoint, traces__content=True) as pincite:
            return str((await pincite.search("canary")).trace_id)

    trace_id = asyncio.run(go())
    path, request = received.get(timeout=10)
    [resource] = request.resource_spans
    spans = list(resource.scope_spans[0].spans)
    assert path == "/v1/traces"
    assert {a.key: a.value.string_value for a in resource.resource.attributes}["service.name"] == "pincite"
    assert {span.trace_id.hex() for span in spans} == {trace_id}
    root, *below = spans
    assert (root.name, root.parent_span_id) == ("search", b"")
    assert {"query_analysis", "vector_search", "ranking"} <= {span.name for span in below}
    assert {span.parent_span_id for span in below} <= {span.span_id for span in spans}
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in spans)
    assert b"canary" not in request.SerializeToString()


def test_a_trace_joins_the_clients_own() -> None:
    trace = Trace(
        "c" * 32,
        "query",
        NOW,
        9.0,
        remote=f"{'a' * 32}-{'b' * 16}",
        error="Invalid: no",
        code="invalid",
        spans=(
            Span("retrieval", None, 1, 2, None, {"found": 3, "hits": [["x", 1.0]], "by": {"a": 1}, "names": ["n"]}),
        ),
        content=Content("words"),
    )
    root, below = otel_spans(trace, None)
    assert root.context is not None
    assert root.parent is not None
    assert (root.context.trace_id, root.parent.span_id) == (int("a" * 32, 16), int("b" * 16, 16))
    assert below.parent == root.context
    assert dict(below.attributes or {}) == {"found": 3, "by.a": 1, "names": ("n",)} or dict(below.attributes or {}) == {
        "found": 3,
        "by.a": 1,
        "names": ["n"],
    }
    assert (root.attributes or {})["error.type"] == "invalid"
    assert not root.status.is_ok
    assert "words" not in str(root.to_json())


def test_an_unreachable_collector_is_logged_once_and_never_blocks(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    telemetry = OtlpExporter("http://127.0.0.1:9/v1/traces", "0")
    began = now()
    for _ in range(1200):
        telemetry.send(ANSWERED)
    assert now() - began < 5
    asyncio.run(telemetry.close())
    [record] = [one for one in caplog.records if one.name == "pincite.tracing.otlp"]
    assert "traces are not exported to http://127.0.0.1:9/v1/traces" in record.getMessage()


@pytest.mark.slow
def test_without_the_extra_it_fails_at_the_start_and_names_it() -> None:
    code = (
        "import sys; sys.modules['opentelemetry.exporter'] = None\n"
        "from pincite.tracing.otlp import OtlpExporter\n"
        "try: OtlpExporter('http://x', '0')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout
        == "SettingsError traces.otlp_endpoint needs the extra 'otlp': in the checkout, pip install '.[otlp]'\n"
    )
