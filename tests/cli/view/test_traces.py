"""Traces in a terminal."""

import pytest

from pincite.cli.view.traces import bar, print_trace, print_traces, took
from pincite.core.answers import Degraded
from pincite.core.run import Span
from pincite.store.traces import Trace

from .makers import DAY, seen

SPANS = (
    Span("retrieve", None, 0.0, 60.0, None, {"found": {"dense:0": 100}, "hits": [["id", 1.0]], "ratio": 0.123456}),
    Span("embed", 0, 10.0, 20.0),
    Span("generate", None, 60.0, 40.0, "ProviderError: down"),
)


def trace(**more: object) -> Trace:
    values: dict[str, object] = {
        "id": "0123456789abcdef", "kind": "query", "question": None, "strategy": None, "started_at": DAY,
        "duration_ms": 100.0, "error": None, "degraded": (), "spans": SPANS,
    }  # fmt: skip
    return Trace(**{**values, **more})  # type: ignore[arg-type]


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
def test_a_bar_lies_where_its_stage_was(start: float, length: float, drawn: str) -> None:
    assert bar(Span("s", None, start, length), 100.0, 10) == drawn


def test_a_trace_is_a_waterfall() -> None:
    lines = seen(lambda screen: print_trace(screen, trace()), width=60).splitlines()
    assert lines[0] == "0123456789abcdef  query  2024-01-31 12:00:00 UTC  100.0 ms"
    assert lines[2].startswith("retrieve  ━━━━")
    assert lines[2].endswith(" 60.0 ms")
    assert lines[3].strip() == "found dense:0=100, ratio 0.1235"
    assert lines[4].startswith("  embed      ")
    assert lines[6].strip() == "ProviderError: down"
    assert max(map(len, lines)) <= 60


def test_a_list_has_a_line_for_each() -> None:
    traces = [
        trace(question="Why?"), trace(error="Invalid: no"), trace(degraded=(Degraded("embedding", "down"),)),
    ]  # fmt: skip
    lines = seen(lambda screen: print_traces(screen, traces)).splitlines()
    assert [line.split("ms")[1].strip() for line in lines[1:]] == ["Why?", "Invalid: no", "without embedding"]
    assert max(map(len, lines)) <= 80
    assert "no traces yet" in seen(lambda screen: print_traces(screen, []))


def test_long_times_are_seconds() -> None:
    assert [took(ms) for ms in (0.04, 1234.5, 61_000)] == ["0.0 ms", "1,234.5 ms", "61.0 s"]
