"""Traces in a terminal: a line for each, and one as a waterfall."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.answer import print_degraded
from pincite.cli.view.library import moment
from pincite.cli.view.screen import UNLIMITED, WIDEST, Screen, grid, joined, shorten, styled
from pincite.core.traces import Span, Trace

LEAST_BAR = 10
"""Columns a bar gets even where the screen is narrow."""
ID = 12
"""Characters of an id that lists show: enough to name it."""
ROOMY, NARROW = 100, 80
"""Columns from which on lists say when it was in full, and below which only the time."""
CANCELLED = "cancelled"
"""Code and reason of a request that was ended on purpose."""
SHORT_NAMES = {
    "gen_ai.provider.name": "by",
    "gen_ai.request.model": "asked",
    "gen_ai.response.model": "model",
    "gen_ai.usage.input_tokens": "tokens in",
    "gen_ai.usage.output_tokens": "out",
    "gen_ai.response.finish_reasons": "finished",
    "gen_ai.request.temperature": "temperature",
    "gen_ai.request.max_tokens": "most",
}
"""OpenTelemetry's names, as a line in a terminal has room for them; its other names are for --json."""


def print_traces(screen: Screen, traces: Sequence[Trace]) -> None:
    """Print a line for each request."""
    if not traces:
        screen.say("There are no such traces; ask something first, or look for others.")
        return
    table = grid("id", "when", "kind", ">took", "~")
    shown = moment if screen.columns >= ROOMY else _day_and_time if screen.columns >= NARROW else _time
    length = ID if screen.is_terminal else UNLIMITED
    room = max(8, screen.columns - ID - len(shown(traces[0].started_at)) - 6 - 9 - 4 * 2)
    for trace in traces:
        when, kind = shown(trace.started_at), styled(trace.kind)
        table.add_row(trace.id[:length], when, kind, took(trace.duration_ms), _remark(trace, room))
    screen.table(table, give_way=("when", "kind"))


def _day_and_time(started_at: datetime) -> str:
    return moment(started_at)[len("2026-") : -len(" UTC")]


def _time(started_at: datetime) -> str:
    return moment(started_at).split()[1]


def _remark(trace: Trace, room: int) -> Text:
    """What is to be said of a request: why it failed in full, other things in one line."""
    if trace.code == CANCELLED:
        return styled("cancelled", "yellow")
    if trace.error:
        return Text(one_line(f"✗ {trace.error}"), style="red")
    if trace.degraded:
        return Text(
            shorten(f"! without {', '.join(dict.fromkeys(note.stage for note in trace.degraded))}", room),
            style="yellow",
        )
    return Text(shorten(one_line(trace.content.question if trace.content else ""), room), style="dim")


def print_trace(screen: Screen, trace: Trace) -> None:
    """Print one request: each span with its place in time, how long it took and what it counted."""
    screen.say((trace.id, "bold"))
    facts = [trace.kind, trace.strategy or "", moment(trace.started_at), took(trace.duration_ms)]
    screen.flowing(joined("  ".join(filter(None, facts))))
    if trace.content:
        screen.flowing(styled(trace.content.question), indent=2)
    if trace.settings:
        screen.flowing(styled("set: " + ", ".join(f"{k}={v}" for k, v in trace.settings.items()), "dim"))
    screen.say()
    _print_spans(screen, trace)
    if trace.error:
        screen.flowing(_error(trace.error))
    print_degraded(screen, trace.degraded)


def _print_spans(screen: Screen, trace: Trace) -> None:
    names = ["  " * depth + one_line(span.name) for span, depth in zip(trace.spans, depths(trace.spans), strict=True)]
    widest = min(max(map(len, names), default=0), max(LEAST_BAR, screen.width // 2))
    room = max(LEAST_BAR, min(screen.width, WIDEST) - widest - len("  10,000.0 ms") - 2)
    for name, span in zip(names, trace.spans, strict=True):
        screen.say(
            f"{shorten(name, widest):<{widest}}  ",
            (bar(span, trace.duration_ms, room), "red" if span.error else "cyan"),
            f"{took(span.duration_ms):>13}",
        )
        _print_details(screen, span, min(widest + 2, screen.width // 3))


def bar(span: Span, total_ms: float, width: int) -> str:
    """A bar where the span lies in the whole request; one column at least, in exactly `width` columns."""
    scale = width / total_ms if total_ms > 0 else 0.0
    start = min(width - 1, int(span.started_ms * scale))
    length = max(1, min(width - start, round(span.duration_ms * scale)))
    return (" " * start + "━" * length).ljust(width)


def took(milliseconds: float) -> str:
    """`12.3 ms`, or seconds where it was long."""
    return f"{milliseconds:,.1f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"


def depths(spans: Sequence[Span]) -> list[int]:
    """How deep each span lies under others."""
    found: list[int] = []
    for span in spans:
        found.append(0 if span.parent is None else found[span.parent] + 1)
    return found


def _error(error: str) -> Text:
    """What was cancelled did not fail."""
    return styled(error, "yellow") if error == CANCELLED else styled(f"✗ {error}", "red")


def _print_details(screen: Screen, span: Span, indent: int) -> None:
    if span.error:
        screen.flowing(_error(span.error), indent=indent)
    counted = ", ".join(f"{key} {value}" for key, value in _plain(span.attributes))
    if counted:
        screen.flowing(joined((counted, "dim")), indent=indent)


def _plain(attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Counts and words; lists of passages and OpenTelemetry's longer names are for --json."""
    found = []
    for name, value in attributes.items():
        if name == "hits" or (name.startswith("gen_ai.") and name not in SHORT_NAMES):
            continue
        key = SHORT_NAMES.get(name, name)
        if isinstance(value, Mapping):
            found.append((key, " ".join(f"{part}={count}" for part, count in value.items())))
        elif isinstance(value, list | tuple):
            found.append((key, " ".join(map(str, value))))
        elif isinstance(value, float):
            found.append((key, f"{value:.4g}"))
        else:
            found.append((key, str(value)))
    return found
