"""Traces in a terminal."""

from dataclasses import replace
from typing import Any

import pytest

from pincite.cli.view.traces import format_ms, print_trace, print_traces, span_bar
from pincite.core.query.answer import Degraded
from pincite.core.traces import Content, Span, Trace

from .makers import DAY, seen

WRITING = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.response.finish_reasons": ["stop"],
}
SPANS = (
    Span("retrieval", None, 0.0, 60.0, None, {"found": {"dense:0": 100}, "hits": [["id", 1.0]], "ratio": 0.123456}),
    Span("query_embedding", 0, 10.0, 20.0),
    Span("llm_generation", None, 60.0, 40.0, "ProviderError: down", WRITING),
)


def trace(**more: Any) -> Trace:
    return replace(Trace("0123456789abcdef" * 2, "query", DAY, 100.0, spans=SPANS), **more)


@pytest.mark.parametrize(
    ("start", "length", "drawn"),
    [
        (0, 100, "━" * 10),
        (50, 50, "     ━━━━━"),
        (0, 0.01, "━" + " " * 9),
        (99.9, 0.1, " " * 9 + "━"),
        (95, 90, " " * 9 + "━"),
    ],
)
def test_a_bar_lies_where_its_span_was(start: float, length: float, drawn: str) -> None:
    assert span_bar(Span("s", None, start, length), 100.0, 10) == drawn


def test_a_trace_is_a_waterfall() -> None:
    lines = seen(lambda screen: print_trace(screen, trace(strategy="hybrid")), width=60).splitlines()
    assert lines[:2] == ["0123456789abcdef" * 2, "query  hybrid  2024-01-31 12:00:00 UTC  100.0 ms"]
    assert lines[3].startswith("retrieval          ━━━━")
    assert lines[3].endswith(" 60.0 ms")
    assert lines[4].strip() == "found dense:0=100, ratio 0.1235"
    assert lines[5].startswith("  query_embedding  ")
    assert lines[7].strip() == "✗ ProviderError: down"
    assert lines[8].strip() == "asked m, tokens in 12, finished stop"
    assert max(map(len, lines)) <= 60


def test_settings_question_and_degraded_stages_are_printed() -> None:
    full = trace(
        content=Content("Why \x1b[31m?"),
        settings={"rag.fusion": "rrf"},
        error="Invalid: no",
        degraded=(Degraded("query_embedding", "it is down"),),
    )
    shown = seen(lambda screen: print_trace(screen, full))
    assert "  Why \\x1b[31m?\n" in shown
    assert "set: rag.fusion=rrf\n" in shown
    assert "✗ Invalid: no\n" in shown
    assert "embedding" in shown.splitlines()[-1]


@pytest.mark.parametrize("width", [40, 50, 80, 200])
def test_narrow_screens_are_respected(width: int) -> None:
    deep = (*SPANS, Span("x" * 70, 1, 5.0, 5.0))
    lines = seen(lambda screen: print_trace(screen, trace(spans=deep)), width=width).splitlines()
    assert max(map(len, lines)) <= max(width, 48)


def test_a_list_has_a_line_for_each() -> None:
    traces = [
        trace(content=Content("Why?")),
        trace(error="Invalid: no"),
        trace(degraded=(Degraded("query_embedding", "down"), Degraded("profile", "made for another model"))),
        trace(degraded=(Degraded("profile", "made for another model"),)),
    ]
    lines = seen(lambda screen: print_traces(screen, traces)).splitlines()
    assert [line.split("ms")[1].strip() for line in lines[1:]] == [
        "Why?",
        "✗ Invalid: no",
        "! without query_embedding",
        "! profile incomplete",
    ]
    assert max(map(len, lines)) <= 80
    narrow = seen(lambda screen: print_traces(screen, traces), width=60).splitlines()
    assert narrow[1].split() == ["0123456789ab", "12:00:00", "query", "100.0", "ms", "Why?"]
    assert "no matching traces" in seen(lambda screen: print_traces(screen, []))


def test_why_a_request_failed_can_be_read_whole() -> None:
    reason = "ProviderRefused: https://models.example/v1 refused the key (HTTP 401); set PINCITE_LLM__API_KEY anew"
    failed = [trace(error=reason)]
    for width in (60, 80, 120):
        lines = seen(lambda screen: print_traces(screen, failed), width=width).splitlines()
        assert max(map(len, lines)) <= width
        assert set(reason.split()) <= set(" ".join(lines).split())
    [_, piped] = seen(lambda screen: print_traces(screen, failed), piped=True).splitlines()
    assert piped.endswith(f"✗ {reason}")
    assert piped.startswith(failed[0].id)


def test_what_was_cancelled_did_not_fail() -> None:
    cut = (Span("llm_generation", None, 0.0, 40.0, "cancelled"),)
    stopped = trace(error="cancelled", code="cancelled", spans=cut)
    for told in (
        seen(lambda screen: print_traces(screen, [stopped])),
        seen(lambda screen: print_trace(screen, stopped)),
    ):
        assert "cancelled" in told
        assert "✗" not in told


def test_long_times_are_seconds() -> None:
    assert [format_ms(ms) for ms in (0.04, 1234.5, 61_000)] == ["0.0 ms", "1,234.5 ms", "61.0 s"]
