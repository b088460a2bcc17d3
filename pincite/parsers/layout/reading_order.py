"""Determines the reading order of a page: columns one after the other, with spanning items between them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean, median

from pincite.parsers.layout.lines import LinePiece
from pincite.parsers.layout.tables import Table

Item = LinePiece | Table

_MIN_LINES = 3
"""Minimum number of lines of a column."""
_EDGE_TOLERANCE = 4.0
"""Maximum distance in points of the left edges of a column's lines."""
_MIN_SPAN_SHARE = 0.12
"""Share of a column's width by which a line must extend over the gutter on both sides to span it."""
_MIN_TEXT_CHARS = 18
"""Minimum mean length of the lines of running text, in characters …"""
_MIN_TEXT_WIDTH = 0.6
"""… and minimum share of the column's width that they fill."""
_MAX_ALIGNED_SHARE = 0.5
"""Maximum share of lines level with a line of the other column, for columns of short lines."""
_SAME_LINE = 2.0
"""Maximum distance in points of baselines that are level."""
_MAX_DEPTH = 8
"""Maximum depth of columns within columns."""
_MAX_ITEMS = 3_000
"""Maximum number of pieces on a page for which columns are searched."""
_MAX_GUTTERS = 8
"""Maximum number of gutters that are tried."""


def reading_regions(items: Sequence[Item], depth: int = 0) -> list[list[Item]]:
    """The items in regions in reading order; each region is read line by line before the next."""
    best: tuple[float, list[list[Item]]] | None = None
    if 2 * _MIN_LINES <= len(items) <= _MAX_ITEMS and depth < _MAX_DEPTH:
        ordered = sorted(items, key=lambda item: item.box[1])
        for gutter in _gutters(ordered):
            for score, parts in _splits(ordered, gutter):
                if best is None or score > best[0]:
                    best = score, parts
    if best is None:
        return [list(items)]
    return [region for part in best[1] if part for region in reading_regions(part, depth + 1)]


def _gutters(items: Sequence[Item]) -> list[float]:
    """The positions where a column may start: just left of a left edge that several lines share."""
    left = min(item.box[0] for item in items)
    edges = Counter(round(item.box[0] / _EDGE_TOLERANCE) for item in items)
    near = {edge: edges[edge - 1] + count + edges[edge + 1] for edge, count in edges.items()}
    often = sorted((edge for edge, count in near.items() if count >= _MIN_LINES), key=lambda edge: -near[edge])
    return [
        edge * _EDGE_TOLERANCE - _EDGE_TOLERANCE
        for edge in often
        if edge * _EDGE_TOLERANCE > left + 2 * _EDGE_TOLERANCE
    ][:_MAX_GUTTERS]


def _splits(items: Sequence[Item], gutter: float) -> Iterator[tuple[float, list[list[Item]]]]:
    """The height and the parts of each vertical stretch that has two columns and no spanning item."""
    above: list[Item] = []
    run: list[Item] = []
    left, right = min(item.box[0] for item in items), max(item.box[2] for item in items)
    for number, item in enumerate([*items, None]):
        if item and not _spans(item, gutter, left, right):
            run.append(item)
            continue
        one = [each for each in run if _middle(each) < gutter]
        two = [each for each in run if _middle(each) >= gutter]
        if len(one) >= _MIN_LINES and len(two) >= _MIN_LINES and _are_columns(one, two):
            yield min(_height(one), _height(two)), [above, one, two, list(items[number:])]
        above, run = list(items[: number + 1]), []


def _spans(item: Item, gutter: float, left: float, right: float) -> bool:
    before, after = gutter - item.box[0], item.box[2] - gutter
    return before > _MIN_SPAN_SHARE * (gutter - left) and after > _MIN_SPAN_SHARE * (right - gutter)


def _middle(item: Item) -> float:
    return (item.box[0] + item.box[2]) / 2


def _height(items: Sequence[Item]) -> float:
    return max(item.box[3] for item in items) - min(item.box[1] for item in items)


def _are_columns(one: Sequence[Item], two: Sequence[Item]) -> bool:
    """Whether two sides are columns that are read one after the other, and not cells of table rows."""
    if _overlap(one, two) < 0.5 * min(_height(one), _height(two)):
        return False
    if _is_running_text(one) and _is_running_text(two):
        return True
    few, many = sorted((one, two), key=len)
    bases = sorted(item.base for item in many if isinstance(item, LinePiece))
    level = sum(
        1 for item in few if isinstance(item, LinePiece) and any(abs(item.base - base) < _SAME_LINE for base in bases)
    )
    return level < _MAX_ALIGNED_SHARE * len(few) and (_is_running_text(one) or _is_running_text(two))


def _overlap(one: Sequence[Item], two: Sequence[Item]) -> float:
    top = max(min(item.box[1] for item in side) for side in (one, two))
    bottom = min(max(item.box[3] for item in side) for side in (one, two))
    return bottom - top


def _is_running_text(items: Sequence[Item]) -> bool:
    """Whether the items are running text: long lines that fill the width of their column."""
    lines = [item for item in items if isinstance(item, LinePiece)]
    if not lines:
        return True
    edges = Counter(round(line.box[0] / _EDGE_TOLERANCE) for line in lines)
    edge = edges.most_common(1)[0][0]  # there may be more columns on this side
    own = [line for line in lines if abs(round(line.box[0] / _EDGE_TOLERANCE) - edge) <= 1]
    width = max(line.box[2] - line.box[0] for line in own)
    filled = median(line.box[2] - line.box[0] for line in own) >= _MIN_TEXT_WIDTH * width
    return filled and mean(len(line.text) for line in own) >= _MIN_TEXT_CHARS
