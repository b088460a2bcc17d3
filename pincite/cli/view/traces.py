"""Traces in a terminal: a line for each, and one as a waterfall."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.answer import print_degraded
from pincite.cli.view.library import format_time
from pincite.cli.view.screen import MAX_TEXT_COLUMNS, UNLIMITED_COLUMNS, Screen, join_text, make_table, shorten, styled
from pincite.core.traces import Span, Trace

MIN_BAR_COLUMNS = 10
"""Columns a bar gets even where the screen is narrow."""
SHORT_ID_CHARS = 12
"""Characters of an id that lists show: enough to name it."""
FULL_TIME_COLUMNS, DATE_COLUMNS = 100, 80
"""Columns from which on lists say when it was in full, and below which only the time."""
CANCELLED = "cancelled"
"""Code and reason of a request that was ended on purpose."""
ATTRIBUTE_NAMES = {
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
        screen.print_line("There are no such traces; ask something first, or look for others.")
        return
    table = make_table("id", "when", "kind", ">took", "~")
    shown = (
        format_time
        if screen.columns >= FULL_TIME_COLUMNS
        else _day_and_time
        if screen.columns >= DATE_COLUMNS
        else _time
    )
    length = SHORT_ID_CHARS if screen.is_terminal else UNLIMITED_COLUMNS
    room = max(8, screen.columns - SHORT_ID_CHARS - len(shown(traces[0].started_at)) - 6 - 9 - 4 * 2)
    for trace in traces:
        when, kind = shown(trace.started_at), styled(trace.kind)
        table.add_row(trace.id[:length], when, kind, format_ms(trace.duration_ms), _format_note(trace, room))
    screen.print_table(table, drop_first=("when", "kind"))


def _day_and_time(started_at: datetime) -> str:
    return format_time(started_at)[len("2026-") : -len(" UTC")]


def _time(started_at: datetime) -> str:
    return format_time(started_at).split()[1]


def _format_note(trace: Trace, room: int) -> Text:
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
    screen.print_line((trace.id, "bold"))
    facts = [trace.kind, trace.strategy or "", format_time(trace.started_at), format_ms(trace.duration_ms)]
    screen.print_wrapped(join_text("  ".join(filter(None, facts))))
    if trace.content:
        screen.print_wrapped(styled(trace.content.question), indent=2)
    if trace.settings:
        screen.print_wrapped(styled("set: " + ", ".join(f"{k}={v}" for k, v in trace.settings.items()), "dim"))
    screen.print_line()
    _print_spans(screen, trace)
    if trace.error:
        screen.print_wrapped(_format_error(trace.error))
    print_degraded(screen, trace.degraded)


def _print_spans(screen: Screen, trace: Trace) -> None:
    names = [
        "  " * depth + one_line(span.name) for span, depth in zip(trace.spans, span_depths(trace.spans), strict=True)
    ]
    widest = min(max(map(len, names), default=0), max(MIN_BAR_COLUMNS, screen.width // 2))
    room = max(MIN_BAR_COLUMNS, min(screen.width, MAX_TEXT_COLUMNS) - widest - len("  10,000.0 ms") - 2)
    for name, span in zip(names, trace.spans, strict=True):
        screen.print_line(
            f"{shorten(name, widest):<{widest}}  ",
            (span_bar(span, trace.duration_ms, room), "red" if span.error else "cyan"),
            f"{format_ms(span.duration_ms):>13}",
        )
        _print_details(screen, span, min(widest + 2, screen.width // 3))


def span_bar(span: Span, total_ms: float, width: int) -> str:
    """A bar where the span lies in the whole request; one column at least, in exactly `width` columns."""
    scale = width / total_ms if total_ms > 0 else 0.0
    start = min(width - 1, int(span.started_ms * scale))
    length = max(1, min(width - start, round(span.duration_ms * scale)))
    return (" " * start + "━" * length).ljust(width)


def format_ms(milliseconds: float) -> str:
    """`12.3 ms`, or seconds where it was long."""
    return f"{milliseconds:,.1f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"


def span_depths(spans: Sequence[Span]) -> list[int]:
    """How deep each span lies under others."""
    found: list[int] = []
    for span in spans:
        found.append(0 if span.parent is None else found[span.parent] + 1)
    return found


def _format_error(error: str) -> Text:
    """What was cancelled did not fail."""
    return styled(error, "yellow") if error == CANCELLED else styled(f"✗ {error}", "red")


def _print_details(screen: Screen, span: Span, indent: int) -> None:
    if span.error:
        screen.print_wrapped(_format_error(span.error), indent=indent)
    counted = ", ".join(f"{key} {value}" for key, value in _readable_attributes(span.attributes))
    if counted:
        screen.print_wrapped(join_text((counted, "dim")), indent=indent)


def _readable_attributes(attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Counts and words; lists of passages and OpenTelemetry's longer names are for --json."""
    found = []
    for name, value in attributes.items():
        if name == "hits" or (name.startswith("gen_ai.") and name not in ATTRIBUTE_NAMES):
            continue
        key = ATTRIBUTE_NAMES.get(name, name)
        if isinstance(value, Mapping):
            found.append((key, " ".join(f"{part}={count}" for part, count in value.items())))
        elif isinstance(value, list | tuple):
            found.append((key, " ".join(map(str, value))))
        elif isinstance(value, float):
            found.append((key, f"{value:.4g}"))
        else:
            found.append((key, str(value)))
    return found
