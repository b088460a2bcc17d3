"""Traces in a terminal: a line for each, and one as a waterfall."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from pincite.cli.safe import one_line
from pincite.cli.view.answer import print_degraded
from pincite.cli.view.library import moment
from pincite.cli.view.screen import WIDEST, Screen, grid, joined, shorten, styled
from pincite.core.run import Span
from pincite.store.traces import Trace

LEAST_BAR = 10
"""Columns a bar gets even where the screen is narrow."""


def print_traces(screen: Screen, traces: Sequence[Trace]) -> None:
    """Print a line for each request."""
    if not traces:
        screen.say("There are no traces yet; ask something first.")
        return
    table = grid("id", "when", "kind", ">took", "")
    room = max(8, screen.width - 16 - 23 - 6 - 9 - 4 * 2)
    for trace in traces:
        when, kind = moment(trace.started_at), styled(trace.kind)
        table.add_row(trace.id, when, kind, took(trace.duration_ms), _remark(trace, room))
    screen.print(table)


def _remark(trace: Trace, room: int) -> Text:
    if trace.error:
        return Text(shorten(one_line(trace.error), room), style="red")
    if trace.degraded:
        return Text(shorten(f"without {', '.join(note.stage for note in trace.degraded)}", room), style="yellow")
    return Text(shorten(one_line(trace.question or ""), room), style="dim")


def print_trace(screen: Screen, trace: Trace) -> None:
    """Print one request: each stage with its place in time, how long it took and what it counted."""
    screen.say(
        (trace.id, "bold"), f"  {trace.kind}", f"  {trace.strategy}" if trace.strategy else "",
        (f"  {moment(trace.started_at)}", "dim"), f"  {took(trace.duration_ms)}",
    )  # fmt: skip
    if trace.question:
        screen.flowing(styled(trace.question), indent=2)
    screen.say()
    depths = _depths(trace.spans)
    names = ["  " * depth + one_line(span.stage) for span, depth in zip(trace.spans, depths, strict=True)]
    widest = max(map(len, names), default=0)
    room = max(LEAST_BAR, min(screen.width, WIDEST) - widest - len("  10,000.0 ms") - 2)
    for name, span in zip(names, trace.spans, strict=True):
        screen.say(f"{name:<{widest}}  ", (bar(span, trace.duration_ms, room), "cyan"), f"{took(span.duration_ms):>13}")
        _print_details(screen, span, widest + 2)
    if trace.error:
        screen.flowing(styled(trace.error, "red"), indent=widest + 2)
    print_degraded(screen, trace.degraded)


def bar(span: Span, total_ms: float, width: int) -> str:
    """A bar where the stage lies in the whole request; one column at least, in exactly `width` columns."""
    scale = width / total_ms if total_ms > 0 else 0.0
    start = min(width - 1, int(span.started_ms * scale))
    length = max(1, min(width - start, round(span.duration_ms * scale)))
    return (" " * start + "━" * length).ljust(width)


def took(milliseconds: float) -> str:
    """`12.3 ms`, or seconds where it was long."""
    return f"{milliseconds:,.1f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"


def _depths(spans: Sequence[Span]) -> list[int]:
    depths: list[int] = []
    for span in spans:
        depths.append(0 if span.parent is None else depths[span.parent] + 1)
    return depths


def _print_details(screen: Screen, span: Span, indent: int) -> None:
    if span.error:
        screen.flowing(styled(span.error, "red"), indent=indent)
    counted = ", ".join(f"{key} {value}" for key, value in _plain(span.attributes))
    if counted:
        screen.flowing(joined((counted, "dim")), indent=indent)


def _plain(attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Counts and words; lists are for --json."""
    found = []
    for key, value in attributes.items():
        if isinstance(value, Mapping):
            found.append((key, " ".join(f"{name}={count}" for name, count in value.items())))
        elif isinstance(value, float):
            found.append((key, f"{value:.4g}"))
        elif not isinstance(value, list):
            found.append((key, str(value)))
    return found
