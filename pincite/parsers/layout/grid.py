"""Finds grids: crossing ruling lines and the cells between them."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.documents.pages import Box
from pincite.parsers.layout.words import Rule

_SNAP = 3.0
"""Tolerance in points: rules within it are merged, and rules that miss each other by less count as crossing."""
_MAX_CELLS = 5_000
"""Maximum number of cells of a grid."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The positions of a table's rules; `first` gives for each grid place the first row and column of its cell."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    first: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def box(self) -> Box:
        """The box of the whole grid."""
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    @property
    def cells(self) -> int:
        """The number of cells; a spanning cell counts once."""
        return len({cell for row in self.first for cell in row})

    def holds(self, box: Box) -> bool:
        """Whether the centre of a box is in the grid."""
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return self.xs[0] <= x <= self.xs[-1] and self.ys[0] <= y <= self.ys[-1]

    def cell(self, box: Box) -> tuple[int, int]:
        """Row and column of the cell that contains the centre of a box."""
        column = bisect_right(self.xs, (box[0] + box[2]) / 2) - 1
        row = bisect_right(self.ys, (box[1] + box[3]) / 2) - 1
        return self.first[min(max(row, 0), len(self.ys) - 2)][min(max(column, 0), len(self.xs) - 2)]


def grids(across: Sequence[Rule], down: Sequence[Rule]) -> list[Grid]:
    """The grids with at least two rows and two columns, from top to bottom."""
    found: list[Grid] = []
    across, down = _merge_rules(across), _merge_rules(down)
    for flat, steep in _components(across, down):
        xs = _edges([rule.at for rule in steep], [edge for rule in flat for edge in (rule.start, rule.end)])
        ys = _edges([rule.at for rule in flat], [edge for rule in steep for edge in (rule.start, rule.end)])
        if len(xs) > 2 and len(ys) > 2 and len(xs) * len(ys) <= _MAX_CELLS:
            found.append(Grid(tuple(xs), tuple(ys), _cells(xs, ys, flat, steep)))
    return sorted(found, key=lambda grid: grid.box[1])


def _merge_rules(rules: Sequence[Rule]) -> list[Rule]:
    """Merge rules on one line that touch each other."""
    lines: dict[int, list[Rule]] = defaultdict(list)
    last, line = float("-inf"), 0
    for rule in sorted(rules, key=lambda rule: rule.at):
        line += rule.at - last > _SNAP
        last = rule.at if rule.at - last > _SNAP else last
        lines[line].append(rule)
    done: list[Rule] = []
    for group in lines.values():
        at = sum(rule.at for rule in group) / len(group)
        start, end = None, 0.0
        for rule in sorted(group, key=lambda rule: rule.start):
            if start is None:
                start, end = rule.start, rule.end
            elif rule.start <= end + _SNAP:
                end = max(end, rule.end)
            else:
                done.append(Rule(at, start, end))
                start, end = rule.start, rule.end
        if start is not None:
            done.append(Rule(at, start, end))
    return done


def _components(across: Sequence[Rule], down: Sequence[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Groups of rules that cross each other, directly or through others (union-find)."""
    home = list(range(len(across) + len(down)))

    def root(index: int) -> int:
        while home[index] != index:
            home[index] = home[home[index]]
            index = home[index]
        return index

    for number, steep in enumerate(down, len(across)):
        for index, flat in enumerate(across):
            if (
                flat.start - _SNAP <= steep.at <= flat.end + _SNAP
                and steep.start - _SNAP <= flat.at <= steep.end + _SNAP
            ):
                home[root(number)] = root(index)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for index, rule in enumerate([*across, *down]):
        groups[root(index)][index >= len(across)].append(rule)
    return list(groups.values())


def _edges(rules: Sequence[float], ends: Sequence[float]) -> list[float]:
    """The positions of the rules, and the ends of the crossing rules where a table has no outer frame."""
    places: list[float] = []
    for place in sorted(rules):
        if not places or place - places[-1] > _SNAP:
            places.append(place)
    if places and ends:
        places = [min(ends)] * (min(ends) < places[0] - 2 * _SNAP) + places
        places += [max(ends)] * (max(ends) > places[-1] + 2 * _SNAP)
    return places


def _cells(
    xs: Sequence[float], ys: Sequence[float], flat: Sequence[Rule], steep: Sequence[Rule]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """For each grid place the first row and column of its cell, which extends right and down to the next rule."""
    first: list[list[tuple[int, int]]] = [
        [(row, column) for column in range(len(xs) - 1)] for row in range(len(ys) - 1)
    ]
    above = [[rule for rule in flat if abs(rule.at - y) <= _SNAP] for y in ys]
    before = [[rule for rule in steep if abs(rule.at - x) <= _SNAP] for x in xs]
    for row in range(len(ys) - 1):
        middle = (ys[row] + ys[row + 1]) / 2
        for column in range(len(xs) - 1):
            centre = (xs[column] + xs[column + 1]) / 2
            if row and not _is_covered(above[row], centre):
                first[row][column] = first[row - 1][column]
            elif column and not _is_covered(before[column], middle):
                first[row][column] = first[row][column - 1]
    return tuple(map(tuple, first))


def _is_covered(rules: Sequence[Rule], place: float) -> bool:
    return any(rule.start - _SNAP <= place <= rule.end + _SNAP for rule in rules)
