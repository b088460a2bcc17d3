"""Predicted and observed side by side: by tenths, and as a picture that can be read on light and on dark."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from pincite.evaluate.plot import STYLE

SIZE, LEFT, TOP, BELOW = 360, 60, 60, 60
LARGEST = 11.0
"""Radius of the dot of the fullest tenth."""
BINS = 10


@dataclass(frozen=True, slots=True)
class Tenth:
    """The predictions between two tenths: their mean, how many came true, and how many there are."""

    predicted: float
    observed: float
    count: int


def tenths(predicted: Sequence[float], observed: Sequence[bool]) -> list[Tenth]:
    """Predictions by tenths, those without any left out."""
    found: list[list[int]] = [[] for _ in range(BINS)]
    for number, value in enumerate(predicted):
        found[min(BINS - 1, int(value * BINS))].append(number)
    return [
        Tenth(
            sum(predicted[n] for n in inside) / len(inside), sum(observed[n] for n in inside) / len(inside), len(inside)
        )
        for inside in found
        if inside
    ]


def plot(found: Sequence[Tenth], title: str) -> str:
    """A dot for each tenth, the larger the more there are; on the line all is as predicted."""
    width, height = LEFT + SIZE + 40, TOP + SIZE + BELOW
    most = max((one.count for one in found), default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>",
        _text(16, 26, title, "title"),
        *_axes(),
        f'<line class="interval" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke-dasharray="4 4"/>',
    ]
    for one in found:
        radius = max(3.0, LARGEST * (one.count / most) ** 0.5)
        parts.append(f'<circle class="dot" cx="{_x(one.predicted):.1f}" cy="{_y(one.observed):.1f}" r="{radius:.1f}"/>')
        parts.append(_text(_x(one.predicted) + radius + 4, _y(one.observed) + 4, str(one.count), "quiet"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axes() -> Iterator[str]:
    for step in range(0, BINS + 1, 2):
        value = step / BINS
        yield f'<line class="axis" x1="{_x(value):.1f}" y1="{_y(0)}" x2="{_x(value):.1f}" y2="{_y(1)}"/>'
        yield f'<line class="axis" x1="{_x(0)}" y1="{_y(value):.1f}" x2="{_x(1)}" y2="{_y(value):.1f}"/>'
        yield _text(_x(value), _y(0) + 18, f"{value:.1f}", "quiet", "middle")
        yield _text(_x(0) - 8, _y(value) + 4, f"{value:.1f}", "quiet", "end")
    yield _text(_x(0.5), _y(0) + 40, "predicted", "quiet", "middle")
    yield _text(_x(0), _y(1) - 10, "came true; the figures count answers", "quiet")


def _x(value: float) -> float:
    return LEFT + SIZE * value


def _y(value: float) -> float:
    return TOP + SIZE * (1 - value)


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'
