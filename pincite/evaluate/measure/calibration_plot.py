"""Draw a calibration plot as SVG: predicted against observed, for light and dark backgrounds."""

from collections.abc import Iterator, Sequence
from html import escape

from pincite.evaluate.measure.calibration import BINS, Bin
from pincite.evaluate.measure.plot import STYLE

SIZE, LEFT, TOP, RIGHT, BELOW = 360, 60, 76, 60, 60
MIN_RADIUS, MAX_RADIUS = 3.0, 10.0
"""Range of the radius of a dot, which grows with its number of questions."""


def plot(bins: Sequence[Bin], title: str) -> str:
    """Return an SVG with a dot, its 95 % interval and its number of questions for each bin."""
    width, height = LEFT + SIZE + RIGHT, TOP + SIZE + BELOW
    most = max((one.questions for one in bins), default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>",
        _text(16, 26, title, "title"),
        _text(16, 46, "observed share with 95 % interval; the numbers are counts", "quiet"),
        *_axes(),
        f'<path class="interval" stroke-dasharray="4 4" d="M{_x(0):g} {_y(0):g}L{_x(1):g} {_y(1):g}"/>',
    ]
    for one in bins:
        parts += _dot(one, most)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _dot(one: Bin, most: int) -> Iterator[str]:
    x, radius = _x(one.predicted), max(MIN_RADIUS, MAX_RADIUS * (one.questions / most) ** 0.5)
    yield f'<path class="interval" d="M{x:.1f} {_y(one.observed.low):.1f}V{_y(one.observed.high):.1f}"/>'
    yield f'<circle class="dot" cx="{x:.1f}" cy="{_y(one.observed.value):.1f}" r="{radius:.1f}"/>'
    yield _text(x + radius + 4, _y(one.observed.value) + 4, str(one.questions), "quiet")


def _axes() -> Iterator[str]:
    for step in range(0, BINS + 1, 2):
        value = step / BINS
        yield f'<path class="axis" d="M{_x(value):.1f} {_y(0):g}V{_y(1):g}M{_x(0):g} {_y(value):.1f}H{_x(1):g}"/>'
        yield _text(_x(value), _y(0) + 18, f"{value:.1f}", "quiet", "middle")
        yield _text(_x(0) - 8, _y(value) + 4, f"{value:.1f}", "quiet", "end")
    yield _text(_x(0.5), _y(0) + 40, "predicted", "quiet", "middle")


def _x(value: float) -> float:
    return LEFT + SIZE * value


def _y(value: float) -> float:
    return TOP + SIZE * (1 - value)


def _text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'
