"""The results of the comparison: a table, and a plot of quality over time."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

PANEL, HEIGHT, TOP, BOTTOM, SIDE = 330, 300, 60, 44, 46
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 14px }
  .quiet { fill: #656d76 }
  .axis { stroke: #d0d7de }
  .dot { fill: #8c959f }
  .ours { fill: #0b5ed7 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .quiet { fill: #9198a1 }
    .axis { stroke: #3d444d }
    .ours { fill: #79b8ff }
  }
"""


@dataclass(frozen=True, slots=True)
class Line:
    """What one system did with one set."""

    questions: str
    system: str
    durable: str
    ndcg: float
    documents_s: float
    p50_ms: float
    p95_ms: float
    peak_mb: float


def table(lines: Sequence[Line], missing: Mapping[str, str]) -> str:
    """Markdown: the sets one after the other, the best of every column in bold, then who is missing and why."""
    text = "| set | system | nDCG@10 | documents/s added | search p50 ms | p95 ms | peak MB | durable |\n"
    text += "|---|---|---|---|---|---|---|---|\n"
    for name in dict.fromkeys(line.questions for line in lines):
        some = [line for line in lines if line.questions == name]
        for line in some:
            cells = [
                _cell(f"{line.ndcg:.3f}", line.ndcg == max(one.ndcg for one in some)),
                _cell(f"{line.documents_s:.1f}", line.documents_s == max(one.documents_s for one in some)),
                _cell(f"{line.p50_ms:.1f}", line.p50_ms == min(one.p50_ms for one in some)),
                _cell(f"{line.p95_ms:.1f}", line.p95_ms == min(one.p95_ms for one in some)),
                _cell(f"{line.peak_mb:.0f}", line.peak_mb == min(one.peak_mb for one in some)),
            ]
            text += f"| {name} | {line.system} | {' | '.join(cells)} | {line.durable} |\n"
    for system, reason in missing.items():
        text += f"\n{system} is missing, it could not be installed here: {reason}\n"
    return text


def plot(lines: Sequence[Line]) -> str:
    """An SVG with a panel for each set: the further up the better, the further left the faster."""
    names = list(dict.fromkeys(line.questions for line in lines))
    width = PANEL * len(names)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" '
        'role="img" aria-label="nDCG@10 over search time, by system">',
        f"<style>{STYLE}</style>",
    ]
    for number, name in enumerate(names):
        parts += _panel(name, [line for line in lines if line.questions == name], PANEL * number)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(name: str, lines: Sequence[Line], left: int) -> Iterator[str]:
    fast, slow = (math.log10(pick(line.p50_ms for line in lines)) for pick in (min, max))
    low, high = (pick(line.ndcg for line in lines) for pick in (min, max))
    yield _text(left + SIDE, 24, name, "title")
    yield _text(left + SIDE, 42, "nDCG@10 over search p50 in ms (logarithmic)", "quiet")
    base = HEIGHT - BOTTOM
    yield f'<path class="axis" fill="none" d="M{left + SIDE} {TOP}V{base}H{left + PANEL - 16}"/>'
    for value in (low, high):
        yield _text(
            left + SIDE - 6, _between(value, low, high, base - 16, TOP + 16) + 4, f"{value:.3f}", "quiet", "end"
        )
    for line in lines:
        x = _between(math.log10(line.p50_ms), fast, slow, left + SIDE + 24, left + PANEL - 90)
        y = _between(line.ndcg, low, high, base - 16, TOP + 16)
        kind = "ours" if line.system == "pincite" else "dot"
        yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
        yield _text(x + 10, y + 4, line.system)
        yield _text(x, base + 18, f"{line.p50_ms:.0f}", "quiet", "middle")


def _between(value: float, low: float, high: float, begin: float, end: float) -> float:
    """Where a value of this range lies between two points of the picture."""
    return begin + (end - begin) * ((value - low) / (high - low) if high > low else 0.5)


def _cell(text: str, best: bool) -> str:
    return f"**{text}**" if best else text


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{named}>{escape(words)}</text>'
