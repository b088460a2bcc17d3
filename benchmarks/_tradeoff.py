"""Plot the cost of refusing as SVG: wrong refusals against right ones, for light and dark backgrounds."""

from collections.abc import Iterator, Mapping
from html import escape

import numpy as np

from pincite.evaluate.measure.plot import STYLE

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BELOW = 420, 300, 60, 76, 120, 60
MOST = 0.2
"""The axis of wrong refusals ends there."""
CURVES = {"near": "interval", "far": "curve"}
TITLE = "Refused questions: rightly, and of those that could be answered"


def plot(shares: Mapping[str, np.ndarray], threshold: float) -> str:
    """An SVG: for each kind of question without an answer how many are refused, by how many are wrongly refused."""
    width, height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BELOW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(TITLE)}">',
        f"<style>{STYLE}  .curve {{ stroke: #0b5ed7; stroke-width: 2; fill: none }}\n</style>",
        _text(16, 26, TITLE, "title"),
        _text(16, 46, f"held-out questions; the dots are the threshold in use, {threshold:g}", "quiet"),
        *_axes(),
    ]
    for kind, style in CURVES.items():
        if kind in shares:
            parts += _curve(kind, style, shares["covered"], shares[kind], threshold)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _curve(kind: str, style: str, covered: np.ndarray, others: np.ndarray, threshold: float) -> Iterator[str]:
    points = [(float((covered < at).mean()), float((others < at).mean())) for at in np.linspace(0, 1, 401)]
    shown = [(_x(wrong), _y(right)) for wrong, right in points if wrong <= MOST]
    yield f'<path class="{style}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in shown)}"/>'
    x, y = _x(float((covered < threshold).mean())), _y(float((others < threshold).mean()))
    yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    yield _text(round(x, 1) + 8, round(y, 1) + 20, kind)  # their ends lie on each other


def _axes() -> Iterator[str]:
    for step in range(5):
        wrong, right = MOST * step / 4, step / 4
        yield f'<path class="axis" d="M{_x(wrong):.1f} {_y(0):g}V{_y(1):g}M{_x(0):g} {_y(right):.1f}H{_x(MOST):g}"/>'
        yield _text(_x(wrong), _y(0) + 18, f"{wrong:.2f}", "quiet", "middle")
        yield _text(_x(0) - 8, _y(right) + 4, f"{right:.2f}", "quiet", "end")
    yield _text(_x(MOST / 2), _y(0) + 40, "refused though there is an answer", "quiet", "middle")


def _x(value: float) -> float:
    return LEFT + WIDTH * value / MOST


def _y(value: float) -> float:
    return TOP + HEIGHT * (1 - value)


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{named}>{escape(words)}</text>'
