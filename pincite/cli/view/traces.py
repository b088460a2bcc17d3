"""Traces in a terminal: the list, and one trace as a waterfall."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.answer import print_degraded
from pincite.cli.view.library import format_time
from pincite.cli.view.screen import MAX_TEXT_COLUMNS, UNLIMITED_COLUMNS, Screen, join_text, make_table, shorten, styled
from pincite.core.query.answer import PROFILE_STAGE
from pincite.core.traces import Span, Trace

MIN_BAR_COLUMNS = 10
"""Minimum columns of a bar on a narrow screen."""
SHORT_ID_CHARS = 12
"""Characters of an id in the list, enough to identify it."""
FULL_TIME_COLUMNS, DATE_COLUMNS = 100, 80
"""Screen widths from which the list shows the full time, and date and time; below, only the time."""
CANCELLED = "cancelled"
"""Error code and message of a cancelled request."""
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
"""Short names of OpenTelemetry attributes; the others appear only with --json."""


def print_traces(screen: Screen, traces: Sequence[Trace]) -> None:
    """Print a line for each request."""
    if not traces:
        screen.print_line("There are no matching traces; ask a question first, or change the filters.")
        return
    table = make_table("id", "when", "kind", ">took", "~")
    format_start = (
        format_time
        if screen.columns >= FULL_TIME_COLUMNS
        else _day_and_time
        if screen.columns >= DATE_COLUMNS
        else _time
    )
    length = SHORT_ID_CHARS if screen.is_terminal else UNLIMITED_COLUMNS
    room = max(8, screen.columns - SHORT_ID_CHARS - len(format_start(traces[0].started_at)) - 6 - 9 - 4 * 2)
    for trace in traces:
        when, kind = format_start(trace.started_at), styled(trace.kind)
        table.add_row(trace.id[:length], when, kind, format_ms(trace.duration_ms), _format_note(trace, room))
    screen.print_table(table, drop_first=("when", "kind"))


def _day_and_time(started_at: datetime) -> str:
    return format_time(started_at)[len("2026-") : -len(" UTC")]


def _time(started_at: datetime) -> str:
    return format_time(started_at).split()[1]


def _format_note(trace: Trace, room: int) -> Text:
    """The note of a request: its error in full, else its degraded stages or its question, shortened."""
    if trace.code == CANCELLED:
        return styled("cancelled", "yellow")
    if trace.error:
        return Text(one_line(f"✗ {trace.error}"), style="red")
    if trace.degraded:
        without = ", ".join(dict.fromkeys(note.stage for note in trace.degraded if note.stage != PROFILE_STAGE))
        note = f"! without {without}" if without else "! profile incomplete"
        return Text(shorten(note, room), style="yellow")
    return Text(shorten(one_line(trace.content.question if trace.content else ""), room), style="dim")


def print_trace(screen: Screen, trace: Trace) -> None:
    """Print one trace: each span with its position in time, duration and attributes."""
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
    """A bar of exactly `width` columns that shows the position of a span in its request."""
    scale = width / total_ms if total_ms > 0 else 0.0
    start = min(width - 1, int(span.started_ms * scale))
    length = max(1, min(width - start, round(span.duration_ms * scale)))
    return (" " * start + "━" * length).ljust(width)


def format_ms(milliseconds: float) -> str:
    """Format a duration: `12.3 ms`, or seconds from 10 s on."""
    return f"{milliseconds:,.1f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"


def span_depths(spans: Sequence[Span]) -> list[int]:
    """The nesting depth of each span."""
    found: list[int] = []
    for span in spans:
        found.append(0 if span.parent is None else found[span.parent] + 1)
    return found


def _format_error(error: str) -> Text:
    """Format an error; a cancellation is not a failure."""
    return styled(error, "yellow") if error == CANCELLED else styled(f"✗ {error}", "red")


def _print_details(screen: Screen, span: Span, indent: int) -> None:
    if span.error:
        screen.print_wrapped(_format_error(span.error), indent=indent)
    counted = ", ".join(f"{key} {value}" for key, value in _readable_attributes(span.attributes))
    if counted:
        screen.print_wrapped(join_text((counted, "dim")), indent=indent)


def _readable_attributes(attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The attributes to print; lists of hits and other OpenTelemetry names appear only with --json."""
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
