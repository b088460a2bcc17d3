"""The difference between two versions of a document: hunks of lines, and changed metadata."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, Literal

from pincite.core.documents.document import VersionText

CONTEXT_LINES = 3
"""Default number of context lines around a change."""
MAX_LINE_PAIRS = 250_000
"""Maximum line pairs to compare with `SequenceMatcher`; a larger block without anchors is shown as replaced."""
MAX_DEPTH = 50
"""Maximum recursion depth of the search for anchors."""

Kind = Literal["same", "removed", "added"]
Block = tuple[int, int, int]
"""A block of equal lines: (start in before, start in after, number of lines)."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a hunk with its number in each version, counted from 1; None where the version lacks the line."""

    kind: Kind
    before: int | None
    after: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """A change with its context lines, as in a unified diff."""

    lines: tuple[Line, ...]
    before: tuple[int, int]
    after: tuple[int, int]

    @property
    def header(self) -> str:
        """The hunk header of a unified diff: first line and number of lines in each version."""
        return "@@ -{},{} +{},{} @@".format(*self.before, *self.after)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two versions; `about` maps changed metadata to (before, after)."""

    document_id: str
    before: str
    after: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    about: Mapping[str, tuple[Any, Any]]


def difference(before: VersionText, after: VersionText, *, context: int = CONTEXT_LINES) -> Difference:
    """Compare two versions line by line, in roughly linear time."""
    lines = _split(before.text), _split(after.text)
    blocks = list(_blocks(*lines, 0, 0))
    kept = sum(size for _, _, size in blocks)
    keys = [key for key in {**before.about, **after.about} if before.about.get(key) != after.about.get(key)]
    return Difference(
        document_id=before.document_id,
        before=before.version,
        after=after.version,
        hunks=tuple(_hunks(_lines(*lines, blocks), context)),
        added=len(lines[1]) - kept,
        removed=len(lines[0]) - kept,
        about={key: (before.about.get(key), after.about.get(key)) for key in keys},
    )


def _split(text: str) -> list[str]:
    """Split a text into lines; a newline at the end does not start a further line."""
    return text.removesuffix("\n").split("\n") if text else []


def _blocks(a: Sequence[str], b: Sequence[str], at_a: int, at_b: int, depth: int = 0) -> Iterator[Block]:
    """Yield the equal blocks of two lists of lines, in order; `at_a` and `at_b` are the offsets of the lists."""
    head = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    rest = min(len(a), len(b)) - head
    tail = next((n for n in range(rest) if a[-1 - n] != b[-1 - n]), rest)
    if head:
        yield at_a, at_b, head
    inner_a, inner_b = a[head : len(a) - tail], b[head : len(b) - tail]
    if inner_a and inner_b:
        yield from _anchored_blocks(inner_a, inner_b, at_a + head, at_b + head, depth)
    if tail:
        yield at_a + len(a) - tail, at_b + len(b) - tail, tail


def _anchored_blocks(a: Sequence[str], b: Sequence[str], at_a: int, at_b: int, depth: int) -> Iterator[Block]:
    """Yield the equal blocks of lists whose first and last lines differ, split at anchors."""
    anchors = _anchors(a, b) if depth < MAX_DEPTH else []
    if not anchors:
        if len(a) * len(b) <= MAX_LINE_PAIRS:
            for match in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()[:-1]:
                yield at_a + match.a, at_b + match.b, match.size
        return
    for (from_a, from_b), (to_a, to_b) in pairwise([(-1, -1), *anchors, (len(a), len(b))]):
        yield from _blocks(a[from_a + 1 : to_a], b[from_b + 1 : to_b], at_a + from_a + 1, at_b + from_b + 1, depth + 1)
        if to_a < len(a):
            yield at_a + to_a, at_b + to_b, 1


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Return lines that occur once on each side: the longest sequence in the same order on both (patience diff)."""
    counts = Counter(a), Counter(b)
    places = {line: n for n, line in enumerate(b) if counts[1][line] == 1}
    pairs = [(n, places[line]) for n, line in enumerate(a) if counts[0][line] == 1 and line in places]
    tops: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        tops[pile : pile + 1] = [place]
        ends[pile : pile + 1] = [number]
        before.append(ends[pile - 1] if pile else None)
    run: list[tuple[int, int]] = []
    last = ends[-1] if ends else None
    while last is not None:
        run.append(pairs[last])
        last = before[last]
    return run[::-1]


def _hunks(lines: Sequence[Line], context: int) -> Iterator[Hunk]:
    """Yield the changes with their context lines; hunks that touch are merged."""
    changed = [n for n, line in enumerate(lines) if line.kind != "same"]
    ranges: list[tuple[int, int]] = []
    for place in changed:
        start, end = max(0, place - context), min(len(lines), place + context + 1)
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], end
        else:
            ranges.append((start, end))
    passed, at = [0, 0], 0
    for start, end in ranges:
        for line in lines[at:start]:
            passed = [passed[0] + (line.before is not None), passed[1] + (line.after is not None)]
        yield (hunk := _hunk(lines[start:end], passed))
        passed, at = [passed[0] + hunk.before[1], passed[1] + hunk.after[1]], end


def _hunk(lines: Sequence[Line], passed: Sequence[int]) -> Hunk:
    """Return a hunk; a side without lines gets the number of the line before, as in `diff`."""
    counts = [
        sum(side is not None for side in sides) for sides in zip(*((x.before, x.after) for x in lines), strict=True)
    ]
    first, second = ((start + (count > 0), count) for start, count in zip(passed, counts, strict=True))
    return Hunk(tuple(lines), first, second)


def _lines(a: Sequence[str], b: Sequence[str], blocks: Sequence[Block]) -> list[Line]:
    """Return the lines of both sides in order; removed lines come before added ones."""
    lines: list[Line] = []
    at_a = at_b = 0
    for from_a, from_b, size in [*blocks, (len(a), len(b), 0)]:
        lines += [Line("removed", n + 1, None, a[n]) for n in range(at_a, from_a)]
        lines += [Line("added", None, n + 1, b[n]) for n in range(at_b, from_b)]
        lines += [Line("same", from_a + n + 1, from_b + n + 1, a[from_a + n]) for n in range(size)]
        at_a, at_b = from_a + size, from_b + size
    return lines
