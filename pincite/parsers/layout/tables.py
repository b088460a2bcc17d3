"""Finds tables: words in cells between ruling lines, or in columns that are clear without lines."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median

from pincite.core.documents.pages import Box
from pincite.parsers.layout.grid import Grid, grids
from pincite.parsers.layout.lines import LinePiece, pieces, rows
from pincite.parsers.layout.words import Rule, Sheet, Word, bounding_box

Cell = tuple[Word, ...]
"""The words of a cell, in reading order."""

_MIN_FILLED_SHARE = 0.3
"""Minimum share of cells with words; a drawing has fewer."""
_MIN_REGULAR_SHARE = 0.45
"""Minimum ratio of cells to grid places; the touching boxes of a drawing have a lower one."""
_MAX_CELL_WORDS = 120
"""Maximum number of words of a cell with most of the grid's words; with more, the grid is a frame around text."""
_MIN_COLUMN_GAP = 0.8
"""Minimum gap between two columns, relative to the font size."""
_SAME_EXTENT = 6.0
"""Maximum difference in points of the ends of two rules of the same length."""
_MARKER = re.compile(r"\w{1,3}[.):]|\(\w{1,3}\)|[^\w\s]|\d{1,2}(?:\.\d{1,2})*\.?")
"""Markers of list items and numbers of headings."""
_LEADER = re.compile(r"(?:\. ?){4}|…{2}|_{4}")
_MAX_CELL_CHARS = 60
"""Maximum length of a cell in a table without rules."""
_MAX_MEAN_WORDS = 5
"""Mean words per cell above which a column is running text."""
_MIN_ROWS = 3
"""Minimum number of rows of a table without rules."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the text of a spanning cell is in its first place, and the other places are empty."""

    rows: tuple[tuple[Cell, ...], ...]
    box: Box

    @property
    def text(self) -> str:
        """All words of the table."""
        return " ".join(word.text for row in self.rows for cell in row for word in cell)


def ruled_tables(sheet: Sheet) -> tuple[list[Table], list[Word]]:
    """The tables with ruling lines, and the words outside of them."""
    left = list(sheet.words)
    found: list[Table] = []
    for grid in grids(sheet.across, sheet.down):
        inside = [word for word in left if grid.holds(word.box)]
        if inside and (table := _in_grid(grid, inside)):
            found.append(table)
            taken = set(map(id, inside))
            left = [word for word in left if id(word) not in taken]
    for box in _between_rules(sheet.across):
        inside = [word for word in left if _contains(box, word.box)]
        if inside and (table := _in_columns(rows(pieces(inside)))) and not _is_prose(table):
            found.append(table)
            taken = set(map(id, inside))
            left = [word for word in left if id(word) not in taken]
    return found, left


def aligned_tables(lines: Sequence[list[LinePiece]]) -> list[tuple[int, int, Table]]:
    """The tables without rules, each with its first and end line: columns of short pieces, clear in every row."""
    found: list[tuple[int, int, Table]] = []
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and len(lines[end]) > 1 and not _LEADER.search(" ".join(p.text for p in lines[end])):
            end += 1
        if end - start >= _MIN_ROWS and (table := _aligned_table(lines[start:end])):
            found.append((start, end, table))
        start = max(end, start + 1)
    return found


def _aligned_table(lines: Sequence[list[LinePiece]]) -> Table | None:
    """The table of these rows where all columns have short cells with a common left or right edge; else None."""
    cells = [item for line in lines for item in line]
    if (
        median(len(item.text) for item in cells) > _MAX_CELL_CHARS / 2
        or max(len(item.text) for item in cells) > _MAX_CELL_CHARS
    ):
        return None
    if _are_items(lines):
        return None
    if len(lines[0]) > 2 and (table := _by_count(lines)):
        return table
    columns = _columns([word for item in cells for word in item.words])
    if len(columns) < 2 or (len(columns) == 2 and len(lines) < _MIN_ROWS + 1):
        return None
    in_columns = [[_column_of(columns, item.box) for item in line] for line in lines]
    if any(len(set(places)) < len(places) for places in in_columns):
        return None
    for column in range(len(columns)):
        own = [
            item
            for line, at in zip(lines, in_columns, strict=True)
            for item, place in zip(line, at, strict=True)
            if place == column
        ]
        if len(own) * 2 < len(lines) or not (_is_aligned(own, 0) or _is_aligned(own, 2)):
            return None
    return _in_columns(lines)


def _are_items(lines: Sequence[list[LinePiece]]) -> bool:
    """Whether these lines are list items or numbered headings."""
    return all(_MARKER.fullmatch(line[0].text) for line in lines)


def _is_aligned(found: Sequence[LinePiece], edge: int) -> bool:
    """Whether most pieces share their left (0) or right (2) edge."""
    usual = median(item.box[edge] for item in found)
    return sum(abs(item.box[edge] - usual) < 3.0 for item in found) >= 0.7 * len(found)


def _in_grid(grid: Grid, words: Sequence[Word]) -> Table | None:
    cells: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        cells.setdefault(grid.cell(word.box), []).append(word)
    height, width = sorted({row for row, _ in cells}), sorted({column for _, column in cells})
    most = max(map(len, cells.values()))
    if len(height) < 2 or len(width) < 2 or len(cells) < _MIN_FILLED_SHARE * grid.cells or not _has_words(words):
        return None
    if grid.cells < _MIN_REGULAR_SHARE * (len(grid.xs) - 1) * (len(grid.ys) - 1):
        return None
    if most > _MAX_CELL_WORDS and most * 2 > len(words):
        return None
    if _has_missing_rules(grid, cells) and (table := _in_columns(rows(pieces(words)), grid.xs)):
        return table
    return Table(tuple(tuple(_cell(cells.get((row, column), ())) for column in width) for row in height), grid.box)


def _has_words(words: Sequence[Word]) -> bool:
    return sum(any(map(str.isalnum, word.text)) for word in words) * 2 > len(words)


def _has_missing_rules(grid: Grid, cells: Mapping[tuple[int, int], Sequence[Word]]) -> bool:
    """Whether rules are missing: a cell has several columns, or the cells of a row have the same lines."""
    for row in {row for row, _ in cells}:
        cells_of_row = [(column, rows(pieces(words))) for (at, column), words in cells.items() if at == row]
        if any(len(lines) > 1 and all(len(line) > 1 for line in lines) for _, lines in cells_of_row):
            return True
        counts = {len(lines) for _, lines in cells_of_row}
        if len(cells_of_row) < 2 or len(counts) > 1 or counts == {1}:
            continue
        bases = [[round(line[0].base) for line in lines] for _, lines in cells_of_row]
        level = all(abs(one - other) <= 2 for own in bases for one, other in zip(own, bases[0], strict=True))
        if level and not all(_wrapped(lines, grid.xs[column + 1]) for column, lines in cells_of_row):
            return True
    return False


def _wrapped(lines: Sequence[list[LinePiece]], right: float) -> bool:
    """Whether the first line of a cell was wrapped because the next word did not fit."""
    following = lines[1][0].words[0].box
    return lines[0][-1].box[2] + following[2] - following[0] > right - 2 * lines[0][0].size


def _cell(words: Iterable[Word]) -> Cell:
    return tuple(word for row in rows(pieces(words)) for item in row for word in item.words)


def _between_rules(across: Sequence[Rule]) -> list[Box]:
    """The boxes between stacks of at least three horizontal rules of the same length, without vertical rules."""
    stacks: list[list[Rule]] = []
    for rule in sorted(across, key=lambda rule: rule.at):
        for stack in stacks:
            if abs(stack[0].start - rule.start) + abs(stack[0].end - rule.end) < _SAME_EXTENT:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    high = [stack for stack in stacks if len(stack) >= 3]
    # Rules of one length may belong to several tables with text between them: three rules for each table.
    threes = [
        stack[at : at + 3] for stack in high if len(stack) > 3 and len(stack) % 3 == 0 for at in range(0, len(stack), 3)
    ]
    return [(stack[0].start - 2, stack[0].at, stack[0].end + 2, stack[-1].at) for stack in (*high, *threes)]


def _is_prose(table: Table) -> bool:
    """Whether all columns are running text, as on a page with rules above and below its columns."""
    columns = [[len(cell) for cell in column if cell] for column in zip(*table.rows, strict=True)]
    return all(mean(words) > _MAX_MEAN_WORDS for words in columns if words)


def _in_columns(lines: Sequence[list[LinePiece]], known: Sequence[float] = ()) -> Table | None:
    """The rows as a table with columns at gaps and at the known vertical rules; a header may span several columns."""
    if table := _by_count(lines):
        return table
    body = lines[1:] if len(lines) > 2 else lines
    columns = _columns([word for line in body for item in line for word in item.words], known)
    if len(columns) < 2 or len(lines) < 2 or (len(columns) == 2 and _are_items(lines)):
        return None
    cells: list[list[list[Word]]] = []
    for line in lines:
        row: list[list[Word]] = [[] for _ in columns]
        for item in line:
            for word in item.words:
                row[_column_of(columns, word.box)].append(word)
        filled = sum(map(bool, row))
        if len(cells) > 1 and not row[0] and filled < sum(map(bool, cells[-1])):
            cells[-1] = [[*above, *below] for above, below in zip(cells[-1], row, strict=True)]
        else:
            cells.append(row)
    if sum(1 for row in cells if sum(map(bool, row)) > 1) * 2 < len(cells):
        return None
    if not any(char.isalnum() for row in cells for word in row[0] for char in word.text):
        return None  # bullets
    boxes = [word.box for row in cells for cell in row for word in cell]
    return Table(tuple(tuple(map(tuple, row)) for row in cells), bounding_box(boxes))


def _by_count(lines: Sequence[list[LinePiece]]) -> Table | None:
    """Rows with the same number of pieces as a table, where no column overlaps the next; else None."""
    width = len(lines[0])
    if len(lines) < 2 or width < 2 or any(len(line) != width for line in lines):
        return None
    columns = [bounding_box([line[place].box for line in lines]) for place in range(width)]
    if any(left[2] > right[0] for left, right in pairwise(columns)):
        return None
    if width == 2 and _are_items(lines):
        return None
    return Table(tuple(tuple(item.words for item in line) for line in lines), bounding_box(columns))


def _columns(words: Sequence[Word], known: Sequence[float] = ()) -> list[float]:
    """The left edge of each column: at a rule, or after a gap without words."""
    if not words:
        return []
    gap = _MIN_COLUMN_GAP * median(word.size for word in words)
    spans = sorted((word.box[0], word.box[2]) for word in words)
    starts, end = [spans[0][0]], spans[0][1]
    for left, right in spans[1:]:
        if left - end > gap or any(starts[-1] < rule <= left + 1 and end - 1 <= rule for rule in known):
            starts.append(left)
        end = max(end, right)
    return starts


def _column_of(columns: Sequence[float], box: Box) -> int:
    return max(bisect_right(columns, (box[0] + box[2]) / 2) - 1, 0)


def _contains(box: Box, other: Box) -> bool:
    x, y = (other[0] + other[2]) / 2, (other[1] + other[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
