"""Draw a comparison as SVG: a dot with its interval per configuration, for light and dark backgrounds."""

from collections.abc import Iterator
from html import escape
from math import ceil, floor

from pincite.evaluate.compare import Comparison, Trial

WIDTH, ROW_HEIGHT, TOP, LEFT, RIGHT = 760, 34, 62, 250, 150
MAX_NAME_CHARS = 34
"""Maximum displayed characters of a configuration name."""

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px }
  .quiet { fill: #656d76; font-size: 12px }
  .axis { stroke: #d0d7de }
  .dot { fill: #0b5ed7 }
  .first { fill: #656d76 }
  .interval { stroke: #8c959f; stroke-width: 2; fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .quiet { fill: #9198a1 }
    .axis { stroke: #3d444d }
    .dot { fill: #79b8ff }
    .first { fill: #9198a1 }
    .interval { stroke: #6e7681 }
  }
"""


def plot(comparison: Comparison, measure: str | None = None) -> str:
    """Return an SVG of one metric, by default the main one."""
    measure = measure or comparison.measures[0]
    means = [trial.mean(measure) for trial in comparison.trials]
    low, high = _scale(min(mean.low for mean in means), max(mean.high for mean in means))
    height = TOP + ROW_HEIGHT * len(means) + 40
    label = f"{measure} on {comparison.name}, {comparison.questions:,} questions"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{escape(label)}">',
        f"<style>{STYLE}</style>",
        _text(16, 26, label, "title"),
        _text(16, 44, "mean and 95 % interval; on the right the time per question", "quiet"),
        *_axis(low, high, height - 40),
    ]
    for number, trial in enumerate(comparison.trials):
        parts += _row(trial, measure, TOP + ROW_HEIGHT * number, (low, high), first=number == 0)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(trial: Trial, measure: str, top: int, scale: tuple[float, float], *, first: bool) -> Iterator[str]:
    mean, middle = trial.mean(measure), top + ROW_HEIGHT // 2
    at, begin, end = (_x(value, scale) for value in (mean.value, mean.low, mean.high))
    name = trial.name if len(trial.name) <= MAX_NAME_CHARS else trial.name[: MAX_NAME_CHARS - 1] + "…"
    yield _text(LEFT - 10, middle + 4, name, anchor="end")
    yield (
        f'<path class="interval" d="M{begin:.1f} {middle}H{end:.1f}M{begin:.1f} {middle - 5}v10'
        f'M{end:.1f} {middle - 5}v10"/>'
    )
    yield f'<circle class="{"first" if first else "dot"}" cx="{at:.1f}" cy="{middle}" r="6"/>'
    yield _text(WIDTH - RIGHT + 14, middle + 4, f"{mean.value:.3f}")
    yield _text(WIDTH - 16, middle + 4, f"{trial.p50_ms:.1f} ms", "quiet", anchor="end")


def _axis(low: float, high: float, bottom: int) -> Iterator[str]:
    steps = round((high - low) / 0.05)
    every = max(1, ceil(steps / 8))
    for step in range(0, steps + 1, every):
        value = low + step * 0.05
        x = _x(value, (low, high))
        yield f'<line class="axis" x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}"/>'
        yield _text(x, bottom + 18, f"{value:.2f}", "quiet", anchor="middle")


def _scale(low: float, high: float) -> tuple[float, float]:
    """Return the ends of the axis, rounded to multiples of 0.05."""
    begin = max(0.0, floor(low * 20) / 20)
    return begin, max(begin + 0.1, ceil(high * 20) / 20)


def _x(value: float, scale: tuple[float, float]) -> float:
    low, high = scale
    return LEFT + (WIDTH - LEFT - RIGHT) * min(1.0, max(0.0, (value - low) / (high - low)))


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{named}>{escape(words)}</text>'
